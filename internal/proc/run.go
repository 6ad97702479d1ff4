package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// The bounds of a command's end.
const (
	termGrace = 400 * time.Millisecond // from SIGTERM to SIGKILL when it is canceled
	pipeGrace = 200 * time.Millisecond // for output still in the pipe when the command has ended
)

// Command is a command line to run in a folder. It reads end of file from its
// standard input; both its outputs go to Output as they come.
type Command struct {
	Args   []string
	Dir    string
	Output io.Writer
}

// Exit says how a command ended.
type Exit struct {
	Code     int    // -1 if a signal ended it
	Signal   string // e.g. "killed"; "" if it exited
	Duration time.Duration
}

// Run runs the command and returns when it has ended. It does not wait for
// background processes that hold its output open. When ctx ends, the command's
// whole process group is ended, and ctx's cause is returned with the Exit.
func Run(ctx context.Context, c Command) (Exit, error) {
	if ctx.Err() != nil {
		return Exit{Code: -1}, context.Cause(ctx)
	}
	if err := keeper(); err != nil {
		return Exit{}, err
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...) //nolint:gosec // running the given command is the job
	cmd.Dir = c.Dir
	cmd.Env = environ()
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	cmd.WaitDelay = pipeGrace
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}

	began := time.Now()
	if err := cmd.Start(); err != nil {
		if _, dirErr := os.Stat(c.Dir); c.Dir != "" && dirErr != nil {
			err = dirErr // Start would say that the program is missing
		}
		return Exit{}, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	var waitErr, cause error
	select {
	case waitErr = <-ended:
	case <-ctx.Done():
		cause = context.Cause(ctx)
		waitErr = endGroup(cmd.Process.Pid, ended)
	}
	exit := exitOf(cmd.ProcessState)
	exit.Duration = time.Since(began)
	if cause != nil {
		return exit, cause
	}
	var status *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &status) && !errors.Is(waitErr, exec.ErrWaitDelay) {
		return exit, fmt.Errorf("run %s: %w", c.Args[0], waitErr)
	}
	return exit, nil
}

// endGroup asks the process group to end, then makes it.
func endGroup(pgid int, ended <-chan error) error {
	_ = syscall.Kill(-pgid, syscall.SIGTERM)
	timer := time.NewTimer(termGrace)
	defer timer.Stop()
	select {
	case err := <-ended:
		_ = syscall.Kill(-pgid, syscall.SIGKILL) // those of the group that did not listen
		return err
	case <-timer.C:
		_ = syscall.Kill(-pgid, syscall.SIGKILL)
		return <-ended
	}
}

func exitOf(state *os.ProcessState) Exit {
	if state == nil {
		return Exit{Code: -1}
	}
	exit := Exit{Code: state.ExitCode()}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		exit.Signal = ws.Signal().String()
	}
	return exit
}

// environ is pawl's own environment with this run's mark, which counts even if
// pawl was itself started by a pawl: of two values the last one does.
func environ() []string { return append(os.Environ(), markVar+"="+Self().Mark) }
