package proc

import (
	"errors"
	"io"
	"os"
	"time"
)

// pipe carries what a command prints to a writer, or what it reads from a reader.
type pipe struct {
	to           io.Writer
	from         io.Reader // nil if it is an output
	ours, theirs *os.File  // its ends
	copied       chan error
}

// carry copies until the one side or the other has ended.
func (p *pipe) carry() {
	defer p.ours.Close()
	if p.from != nil {
		_, _ = io.Copy(p.ours, p.from) // a command need not read all, or anything
		return
	}
	// The wrappers keep io from a way of its own: the buffer is the size of a pipe.
	_, err := io.CopyBuffer(struct{ io.Writer }{p.to}, struct{ io.Reader }{p.ours}, make([]byte, 64<<10))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		p.copied <- err
		return
	}
	// Who prints now was left behind by the command. It is read from, and not
	// heard, as it would die of a pipe that nobody reads.
	p.copied <- nil
	_ = p.ours.SetReadDeadline(time.Time{})
	_, _ = io.Copy(io.Discard, p.ours)
}
