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
	pipeGrace  = 200 * time.Millisecond // for output that is still in the pipe when the command has ended
	writeGrace = 100 * time.Millisecond // for a write that is under way then
)

// Process is a command that was started. It is waited for by itself: nobody
// has to ask for its end.
type Process struct {
	cmd   *exec.Cmd
	job   string // the mark of this command alone
	began time.Time
	done  chan struct{}
	exit  Exit  // once done is closed
	err   error // likewise

	killing sync.Mutex
}

// Start starts the command in a process group of its own, without a terminal.
func Start(c Command) (*Process, error) {
	if err := keeper(); err != nil {
		return nil, err
	}
	p := &Process{job: rand.Text(), done: make(chan struct{})}
	p.cmd = exec.Command(c.Args[0], c.Args[1:]...) //nolint:gosec // running the given command is the job
	p.cmd.Dir = c.Dir
	p.cmd.Env = environ(c, p.job)
	p.cmd.ExtraFiles = c.Files
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: terminal(), Setpgid: !terminal()}

	pipes, err := p.connect(c)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	p.began = time.Now()
	err = p.cmd.Start()
	for _, pipe := range pipes {
		_ = pipe.theirs.Close() // the command has its own handle by now
	}
	if err != nil {
		for _, pipe := range pipes {
			_ = pipe.ours.Close()
		}
		if _, dirErr := os.Stat(c.Dir); c.Dir != "" && dirErr != nil {
			err = dirErr // Start would say that the program is missing
		}
		return nil, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	for _, pipe := range pipes {
		go pipe.carry()
	}
	go p.wait(pipes)
	return p, nil
}

// terminal reports whether pawl has a terminal. A command gets a session of its
// own then, and so has none: one that would ask there for a password fails
// instead of waiting. It is not the rule because a session takes the kernel a
// millisecond.
var terminal = sync.OnceValue(func() bool {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err == nil {
		_ = f.Close()
	}
	return err == nil
})

// connect gives the command its input and outputs.
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

// wait sees the command to its end.
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
			_ = pipe.ours.Close() // nobody reads it any more
			continue
		}
		select {
		case copyErr := <-pipe.copied:
			err = errors.Join(err, copyErr)
		case <-blocked.C:
			p.err = fmt.Errorf("run %s: its output is not taken", p.cmd.Args[0])
			return
		}
	}
	if err != nil {
		p.err = fmt.Errorf("run %s: %w", p.cmd.Args[0], err)
	}
}

// PID is the number of the command's process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the command has ended and its output has come. Nothing
// is written to it after that, unless a write has been blocking since before.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the end. An error means that the command could not be
// followed, not that it failed.
func (p *Process) Wait() (Exit, error) {
	<-p.done
	return p.exit, p.err
}
