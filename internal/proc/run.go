package proc

import (
	"context"
	"io"
	"os"
	"syscall"
	"time"
)

// Command is a command line to run in a directory. It has no terminal.
type Command struct {
	Args []string
	Dir  string
	Env  []string // NAME=value, in place of or in addition to pawl's own
	Bare bool     // Env is all that the command gets to know, the marks apart

	Files []*os.File // file 3, 4 and so on of the command

	// Stdin is what the command reads: nil means that it is at its end. A file
	// is handed on as it is. Whoever gives a reader that can block closes it
	// when the command has ended.
	Stdin io.Reader

	// Output gets what the command prints as it comes: both its outputs, or the
	// standard output alone if there is a Stderr.
	Output io.Writer
	Stderr io.Writer

	Scope string // a random text, or "": what KillAll ends together
}

// Exit says how a command ended.
type Exit struct {
	Code     int    // -1 if a signal ended it
	Signal   string // e.g. "killed"; "" if it exited
	Duration time.Duration
}

// Run runs the command and returns when it has ended. It does not wait for
// background processes that hold its output open. When ctx ends, all that the
// command has started is ended, and ctx's cause is returned with the Exit.
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
