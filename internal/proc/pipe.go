package proc

import (
	"errors"
	"io"
	"os"
	"time"
)

// pipe copies a command's output to a writer, or a reader to the command's input.
type pipe struct {
	to           io.Writer
	from         io.Reader // nil for an output
	ours, theirs *os.File  // ends of the pipe for pawl and for the command
	copied       chan error
}

// carry copies until either side ends.
func (p *pipe) carry() {
	defer p.ours.Close()
	if p.from != nil {
		_, _ = io.Copy(p.ours, p.from) // a command need not read all of it
		return
	}
	// The wrappers hide ReadFrom and WriteTo, so that this buffer is used: it has the size of a pipe.
	_, err := io.CopyBuffer(struct{ io.Writer }{p.to}, struct{ io.Reader }{p.ours}, make([]byte, 64<<10))
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		p.copied <- err
		return
	}
	// What still prints was left behind by the command. Read and discard its output:
	// with a closed pipe SIGPIPE would kill it.
	p.copied <- nil
	_ = p.ours.SetReadDeadline(time.Time{})
	_, _ = io.Copy(io.Discard, p.ours)
}
