package proc

import (
	"context"
	"io"
	"os"
	"syscall"
	"time"
)

// Command is a command to run in a directory, without a terminal.
type Command struct {
	Args []string
	Dir  string
	Env  []string // NAME=value, in addition to pawl's own environment, which it overrides
	Bare bool     // Env is the whole environment, apart from the marks

	Files []*os.File // become file descriptors 3, 4 and so on of the command

	Attr *syscall.SysProcAttr // the namespaces to start it in; nil means those of pawl

	// Stdin is the standard input; nil means empty. A file is passed to the command
	// as it is. If another reader can block, the caller must close it when the
	// command has ended.
	Stdin io.Reader

	// Output receives the output as it is printed: standard output and standard
	// error, or only standard output if Stderr is set.
	Output io.Writer
	Stderr io.Writer

	Scope string // a random text for KillAll, which ends all commands of a scope together; may be ""
}

// Exit describes how a command ended.
type Exit struct {
	Code     int    // -1 if a signal ended it
	Signal   string // e.g. "killed"; "" if it exited
	Duration time.Duration
}

// Run runs the command and returns when it has ended. It does not wait for
// background processes that keep the output open. When ctx ends, Run kills the
// command and all processes that it started, and returns the Exit together with the
// cause of ctx.
func Run(ctx context.Context, c Command) (Exit, error) {
	if ctx.Err() != nil {
		return Exit{Code: -1}, context.Cause(ctx)
	}
	p, err := Start(c)
	if err != nil {
		return Exit{}, err
	}
	select {
	case <-p.Done():
		return p.Wait()
	case <-ctx.Done():
		p.Kill()
		exit, _ := p.Wait()
		return exit, context.Cause(ctx)
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
