package supervise

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// Var is the environment variable that makes this program a helper in a sandbox, which
// runs its arguments as a command. Renames is its value if renames are all that is to be
// answered.
const (
	Var     = "PAWL_BOX"
	Renames = "rename"
)

// The exit codes of a helper that could not run its command, as in a shell.
const (
	ExitCannot   = 126
	ExitNotFound = 127
)

func init() {
	kind := os.Getenv(Var)
	if kind != Renames && kind != View && kind != Isolate {
		return
	}
	_ = os.Unsetenv(Var) // its children are no helpers
	runtime.LockOSThread()
	if kind == View {
		os.Exit(mountViews(os.Args[1:]))
	}
	if kind == Isolate {
		os.Exit(isolate(os.Args[1:]))
	}
	c, err := ParseCommand(os.Args[1:])
	if err == nil {
		err = c.ServeRenames()
	}
	if err != nil {
		os.Exit(Fail(ExitCannot, err))
	}
	os.Exit(c.Run())
}

// Fail prints an error and returns the exit code.
func Fail(code int, err error) int {
	_, _ = os.Stderr.WriteString("pawl: sandbox: " + err.Error() + "\n")
	return code
}

// Run runs the command as a child of this thread and returns its exit code, or 128 and
// the signal that ended it. It also waits for orphans that the kernel made children of
// this process.
func (c Command) Run() int {
	path, err := find(c.Argv[0])
	if err != nil {
		return FailStart(c.Argv[0], err)
	}
	if err := c.confine(); err != nil {
		return Fail(ExitCannot, err)
	}
	pid, err := syscall.ForkExec(path, c.Argv, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		return FailStart(path, err)
	}
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR) || err == nil && ended != pid:
		case err != nil:
			return Fail(ExitCannot, errors.New("wait for the command: "+err.Error()))
		case status.Signaled():
			return 128 + int(status.Signal())
		default:
			return status.ExitStatus()
		}
	}
}

// FailStart prints why a program could not be started, and returns the exit code.
func FailStart(program string, err error) int {
	code := ExitCannot
	if errors.Is(err, os.ErrNotExist) {
		code = ExitNotFound
	}
	return Fail(code, errors.New(program+": "+err.Error()))
}

// find returns the path of a program. It does not search relative directories.
func find(name string) (string, error) {
	if lastIndex(name, '/') >= 0 {
		return name, nil
	}
	var err error = syscall.ENOENT
	for dir := range split(os.Getenv("PATH"), ':') {
		path := dir + "/" + name
		if !hasPrefix(dir, "/") {
			continue
		}
		if info, missing := os.Stat(path); missing != nil || info.IsDir() {
			continue
		}
		const executable = 1
		if err = syscall.Access(path, executable); err == nil {
			return path, nil
		}
	}
	return "", err
}
