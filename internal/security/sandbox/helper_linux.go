package sandbox

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/security/sandbox/supervise"
)

// The kinds of helpers, which supervise.Var names. They can be combined, separated by
// commas. Helpers for renames alone and for views are in package supervise, which starts
// faster.
const (
	helperForward  = "forward"
	helperLandlock = "landlock"
	helperRename   = supervise.Renames
)

// helperPath is where a helper is in the sandbox of bubblewrap.
const helperPath = "/run/pawl/helper"

// A helper is the same binary as pawl. It runs in init, before main and before the
// initialization of other packages.
func init() {
	kinds, ok := os.LookupEnv(supervise.Var)
	if !ok {
		return
	}
	_ = os.Unsetenv(supervise.Var) // its children are no helpers
	os.Exit(runHelper(strings.Split(kinds, ","), os.Args[1:]))
}

// runHelper starts the services that the kinds name, runs the command, and returns its
// exit code.
func runHelper(kinds, args []string) int {
	// Rights and filters of a command are those of the thread that starts it.
	runtime.LockOSThread()
	if len(kinds) == 1 && kinds[0] == helperLandlock {
		return confine(args)
	}
	c, err := supervise.ParseCommand(args)
	if err != nil {
		return supervise.Fail(supervise.ExitCannot, err)
	}
	for _, kind := range kinds {
		switch kind {
		case helperForward:
			err = serveNetwork()
		case helperRename:
			err = c.ServeRenames()
		default:
			err = fmt.Errorf("unknown helper %q", kind)
		}
		if err != nil {
			return supervise.Fail(supervise.ExitCannot, err)
		}
	}
	return c.Run()
}

// sealFiles keeps commands from inheriting the file descriptors that this process
// inherited. Its own are never inherited.
func sealFiles() error {
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close open files: %w", err)
	}
	return nil
}

// closeFile closes a file that nothing was written to.
func closeFile(fd int) { _ = unix.Close(fd) }
