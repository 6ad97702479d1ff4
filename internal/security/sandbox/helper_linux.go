package sandbox

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// helperVar is the environment variable that makes this program a helper in a sandbox,
// which then runs its arguments as a command. The other constants are its values.
const (
	helperVar      = "PAWL_BOX"
	helperForward  = "forward"
	helperLandlock = "landlock"
)

// The exit codes of a helper that could not run its command, as in a shell.
const (
	exitCannot   = 126
	exitNotFound = 127
)

// A helper is the same binary as pawl. It runs in init, before main and before the
// initialization of other packages.
func init() {
	kind, ok := os.LookupEnv(helperVar)
	if !ok {
		return
	}
	_ = os.Unsetenv(helperVar) // its children are no helpers
	switch kind {
	case helperForward:
		os.Exit(forward(os.Args[1:]))
	case helperLandlock:
		os.Exit(confine(os.Args[1:]))
	}
	os.Exit(fail(exitCannot, fmt.Errorf("unknown helper %q", kind)))
}

// sealFiles keeps commands from inheriting the file descriptors that this process
// inherited. Its own are never inherited.
func sealFiles() error {
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close open files: %w", err)
	}
	return nil
}

func fail(code int, err error) int {
	fmt.Fprintf(os.Stderr, "pawl: sandbox: %v\n", err)
	return code
}

// closeFile closes a file that nothing was written to.
func closeFile(fd int) { _ = unix.Close(fd) }
