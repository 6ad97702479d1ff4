package sandbox

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// helperVar makes this program a helper in a sandbox, which goes on to run the
// command it is given.
const (
	helperVar      = "PAWL_BOX"
	helperForward  = "forward"
	helperLandlock = "landlock"
)

// The exit codes of a helper that could not run its command are a shell's.
const (
	exitCannot   = 126
	exitNotFound = 127
)

// A helper is this same binary, so init is where it branches off: before main,
// and before other packages have set themselves up.
func init() {
	kind, ok := os.LookupEnv(helperVar)
	if !ok {
		return
	}
	_ = os.Unsetenv(helperVar) // its children are themselves
	switch kind {
	case helperForward:
		os.Exit(forward(os.Args[1:]))
	case helperLandlock:
		os.Exit(confine(os.Args[1:]))
	}
	os.Exit(fail(exitCannot, fmt.Errorf("unknown helper %q", kind)))
}

// sealFiles keeps files that this process was given from going on to commands.
// Its own never do.
func sealFiles() error {
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("keep open files from commands: %w", err)
	}
	return nil
}

func fail(code int, err error) int {
	fmt.Fprintf(os.Stderr, "pawl: sandbox: %v\n", err)
	return code
}

// closeFile closes a file that nothing was written to.
func closeFile(fd int) { _ = unix.Close(fd) }
