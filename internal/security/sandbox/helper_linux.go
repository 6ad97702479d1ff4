package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// helperVar is the environment variable that makes this program a helper in a sandbox,
// which then runs its arguments as a command. The other constants are its values; forward
// and rename can be combined, separated by commas.
const (
	helperVar      = "PAWL_BOX"
	helperForward  = "forward"
	helperLandlock = "landlock"
	helperRename   = "rename"
)

// helperPath is where a helper is in the sandbox of bubblewrap.
const helperPath = "/run/pawl/helper"

// The exit codes of a helper that could not run its command, as in a shell.
const (
	exitCannot   = 126
	exitNotFound = 127
)

// A helper is the same binary as pawl. It runs in init, before main and before the
// initialization of other packages.
func init() {
	kinds, ok := os.LookupEnv(helperVar)
	if !ok {
		return
	}
	_ = os.Unsetenv(helperVar) // its children are no helpers
	os.Exit(runHelper(strings.Split(kinds, ","), os.Args[1:]))
}

// runHelper starts the services that the kinds name, runs the command, and returns its
// exit code.
func runHelper(kinds, argv []string) int {
	// Rights and filters of a command are those of the thread that starts it.
	runtime.LockOSThread()
	if len(argv) == 0 {
		return fail(exitCannot, errors.New("no command"))
	}
	for _, kind := range kinds {
		var err error
		switch kind {
		case helperLandlock:
			return confine(argv)
		case helperForward:
			err = serveNetwork()
		case helperRename:
			err = serveRenames()
		default:
			err = fmt.Errorf("unknown helper %q", kind)
		}
		if err != nil {
			return fail(exitCannot, err)
		}
	}
	return runCommand(argv)
}

// runCommand runs a command as a child of this thread and returns its exit code, or 128
// and the signal that ended it. It also waits for orphans that the kernel made children
// of this process.
func runCommand(argv []string) int {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return failStart(err)
	}
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		return failStart(fmt.Errorf("%s: %w", path, err))
	}
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR) || err == nil && ended != pid:
		case err != nil:
			return fail(exitCannot, fmt.Errorf("wait for the command: %w", err))
		case status.Signaled():
			return 128 + int(status.Signal())
		default:
			return status.ExitStatus()
		}
	}
}

// failStart reports a command that could not be started.
func failStart(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return fail(exitNotFound, err)
	}
	return fail(exitCannot, err)
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
