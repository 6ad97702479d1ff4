package proc

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	pipeGrace  = 200 * time.Millisecond // time to read output that is in the pipe when the command ends
	writeGrace = 100 * time.Millisecond // additional time for a write of that output
)

// Process is a running or finished command. A goroutine waits for its end, so the
// caller does not have to call Wait.
type Process struct {
	cmd   *exec.Cmd
	job   string // the value of jobVar for this command
	began time.Time
	done  chan struct{}
	exit  Exit  // valid once done is closed
	err   error // valid once done is closed

	killing sync.Mutex
}

// Start starts the command in its own process group, without a terminal.
func Start(c Command) (*Process, error) {
	if err := keeper(); err != nil {
		return nil, err
	}
	p := &Process{job: rand.Text(), done: make(chan struct{})}
	p.cmd = exec.Command(c.Args[0], c.Args[1:]...) //nolint:gosec // its purpose is to run the given command
	p.cmd.Dir = c.Dir
	p.cmd.Env = environ(c, p.job)
	p.cmd.ExtraFiles = c.Files
	var attr syscall.SysProcAttr
	if c.Attr != nil {
		attr = *c.Attr
	}
	attr.Setsid, attr.Setpgid = terminal(), !terminal()
	p.cmd.SysProcAttr = &attr

	pipes, err := p.connect(c)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	p.began = time.Now()
	err = p.cmd.Start()
	for _, pipe := range pipes {
		_ = pipe.theirs.Close() // the command has inherited it
	}
	if err != nil {
		for _, pipe := range pipes {
			_ = pipe.ours.Close()
		}
		if _, dirErr := os.Stat(c.Dir); c.Dir != "" && dirErr != nil {
			err = dirErr // the error of Start says that the program is missing
		}
		return nil, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	for _, pipe := range pipes {
		go pipe.carry()
	}
	go p.wait(pipes)
	return p, nil
}

// terminal reports whether pawl has a controlling terminal. Commands then get a
// session of their own, and so no terminal: a command that would ask for a password
// fails instead of waiting. Without a terminal a process group is enough; a session
// costs the kernel a millisecond.
var terminal = sync.OnceValue(func() bool {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err == nil {
		_ = f.Close()
	}
	return err == nil
})

// connect sets the input and outputs of the command, and creates the pipes for
// those that are not files.
func (p *Process) connect(c Command) (pipes []*pipe, err error) {
	connect := func(end pipe) *os.File {
		if err != nil {
			return nil
		}
		var read, write *os.File
		if read, write, err = os.Pipe(); err != nil {
			return nil
		}
		if end.ours, end.theirs = read, write; end.from != nil {
			end.ours, end.theirs = write, read
		}
		end.copied = make(chan error, 1)
		pipes = append(pipes, &end)
		return end.theirs
	}
	output := func(w io.Writer) io.Writer {
		if _, file := w.(*os.File); file || w == nil {
			return w
		}
		return connect(pipe{to: w})
	}
	p.cmd.Stdout = output(c.Output)
	if p.cmd.Stderr = p.cmd.Stdout; c.Stderr != nil {
		p.cmd.Stderr = output(c.Stderr)
	}
	if p.cmd.Stdin = c.Stdin; c.Stdin != nil {
		if _, file := c.Stdin.(*os.File); !file {
			p.cmd.Stdin = connect(pipe{from: c.Stdin})
		}
	}
	if err != nil {
		for _, pipe := range pipes {
			_ = errors.Join(pipe.ours.Close(), pipe.theirs.Close())
		}
	}
	return pipes, err
}

// wait waits for the command and its output, sets exit and err and closes done.
func (p *Process) wait(pipes []*pipe) {
	defer close(p.done)
	err := p.cmd.Wait()
	var status *exec.ExitError
	if errors.As(err, &status) {
		err = nil
	}
	p.exit = exitOf(p.cmd.ProcessState)
	p.exit.Duration = time.Since(p.began)

	grace := time.AfterFunc(pipeGrace, func() {
		for _, pipe := range pipes {
			_ = pipe.ours.SetReadDeadline(time.Now())
		}
	})
	defer grace.Stop()
	blocked := time.NewTimer(pipeGrace + writeGrace)
	defer blocked.Stop()
	for _, pipe := range pipes {
		if pipe.from != nil {
			_ = pipe.ours.Close() // the command no longer reads it
			continue
		}
		select {
		case copyErr := <-pipe.copied:
			err = errors.Join(err, copyErr)
		case <-blocked.C:
			p.err = fmt.Errorf("run %s: its output was not consumed", p.cmd.Args[0])
			return
		}
	}
	if err != nil {
		p.err = fmt.Errorf("run %s: %w", p.cmd.Args[0], err)
	}
}

// PID returns the process id of the command.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed when the command has ended and its output
// has been written. Nothing is written after that, except by a write that has been
// blocking since before.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the end of the command. An error means that running it or copying
// its output failed; it says nothing about the exit code.
func (p *Process) Wait() (Exit, error) {
	<-p.done
	return p.exit, p.err
}
