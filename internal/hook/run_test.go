package hook_test

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/proc"
)

// plainRunner runs commands without a sandbox, as pawl does for the user's own.
type plainRunner struct {
	heard func() // called when a command prints something; may be nil

	mu   sync.Mutex
	runs []hook.Command
}

var _ hook.Runner = (*plainRunner)(nil)

func (r *plainRunner) Run(ctx context.Context, c hook.Command) (int, error) {
	r.mu.Lock()
	r.runs = append(r.runs, c)
	r.mu.Unlock()
	if r.heard != nil {
		c.Stdout = io.MultiWriter(c.Stdout, hears(r.heard))
	}
	p, err := proc.Start(proc.Command{Args: c.Args, Dir: c.Dir, Env: c.Env, Bare: true, Stdin: bytes.NewReader(c.Stdin), Output: c.Stdout, Stderr: c.Stderr})
	if err != nil {
		return -1, err
	}
	select {
	case <-p.Done():
		p.Kill() // what it has left behind
		exit, err := p.Wait()
		return exit.Code, err
	case <-ctx.Done():
		p.Kill()
		return -1, context.Cause(ctx)
	}
}

// hears calls itself for each write.
type hears func()

func (h hears) Write(p []byte) (int, error) {
	h()
	return len(p), nil
}
