package isolate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/internal/security/namespace"
	"github.com/pawl-dev/pawl/internal/security/sandbox/supervise"
)

// lockFile is the descriptor through which an isolated process keeps its view locked.
const lockFile = 3

const (
	lockTimeout = 10 * time.Second
	lockPoll    = 10 * time.Millisecond
)

// Inside returns the name of the view that this process sees, or "".
func Inside() string {
	name := os.Getenv(namespace.IsolatedVar)
	if name != "" {
		syscall.CloseOnExec(lockFile)
	}
	return name
}

// Run runs Pawl with arguments in a mount namespace in which the view is mounted at the
// project's path, and returns its exit code. The process ends with this one.
func (v View) Run(dir string, args []string, foreground bool) (code int, err error) {
	held, err := v.lock()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, held.Close(), v.awaitLock()) }()
	if err := v.notApplied(); err != nil {
		return 0, err
	}
	now := time.Now()
	if err := os.Chtimes(v.path(infoName), now, now); err != nil {
		return 0, err
	}
	cmd, err := v.command(held, dir, args)
	if err != nil {
		return 0, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	runtime.LockOSThread() // the child dies with the thread that started it
	defer runtime.UnlockOSThread()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case s := <-signals:
				if s != syscall.SIGINT || !foreground { // the terminal sends it to both
					_ = cmd.Process.Signal(s) // it may have ended
				}
			case <-done:
				return
			}
		}
	}()
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
		return exit.ExitCode(), nil
	}
	return 0, err
}

// awaitLock waits until the view can be locked. A process that Pawl was starting when it ended
// keeps the view locked until it executes its program.
func (v View) awaitLock() error {
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(lockPoll) {
		err := v.locked(func(*os.File) error { return nil })
		if !errors.Is(err, ErrInUse) || time.Now().After(deadline) {
			return err
		}
	}
}

// command returns a call of Pawl on the view, which the file keeps locked.
func (v View) command(held *os.File, dir string, args []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	parent, err := supervise.Parent()
	if err != nil {
		return nil, err
	}
	line := append([]string{parent, v.Root, v.path(maskName), v.path(upperName), v.path(workName), v.Root, dir, self}, args...)
	cmd := exec.Command(self, line...)
	cmd.Env = append(os.Environ(), supervise.Var+"="+supervise.Isolate, namespace.IsolatedVar+"="+v.Name)
	cmd.ExtraFiles = []*os.File{held} // so that it stays locked as long as one of both lives
	cmd.SysProcAttr = namespace.ForMounts()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return cmd, nil
}

// recover completes or discards the changes of commands that a crash has interrupted in
// the view. Every start of Pawl does so with those that it sees.
func (v View) recover(held *os.File) error {
	left, err := os.ReadDir(v.path("transactions"))
	if errors.Is(err, os.ErrNotExist) || err == nil && len(left) == 0 {
		return nil // no command has run
	}
	if err != nil {
		return err
	}
	cmd, err := v.command(held, v.Root, []string{"session", "list", "--json"})
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the child dies with the thread that started it
	defer runtime.UnlockOSThread()
	var faults bytes.Buffer
	cmd.Stderr = &faults
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("complete what a crash has interrupted in the view: %w: %s", err, strings.TrimSpace(faults.String()))
	}
	return nil
}
