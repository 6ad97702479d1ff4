package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/security/redact"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Screen is how text gets to standard output or error, all of it: much of it is
// what a model, a tool or a provider said. Nothing in it steers the terminal, and
// no key that pawl holds is in it, though its characters came one by one.
type Screen struct {
	File   *os.File
	masked *redact.Writer
	text   *sanitize.Writer
}

// NewScreen returns a Screen that writes to f. Call Flush at the end.
func NewScreen(f *os.File) *Screen {
	masked := app.Secrets.KnownWriter(f)
	return &Screen{File: f, masked: masked, text: sanitize.NewWriter(masked)}
}

// Write writes p without control sequences and known secrets.
func (s *Screen) Write(p []byte) (int, error) {
	return s.text.Write(p)
}

// Flush writes what was held back, at the end of the program.
func (s *Screen) Flush() error { return errors.Join(s.text.Flush(), s.masked.Flush()) }

// Fd is what tells whether it is a terminal.
func (s *Screen) Fd() uintptr { return s.File.Fd() }

var _ interface {
	io.Writer
	Fd() uintptr
} = (*Screen)(nil)

// EraseLines takes the last lines off the screen. They are pawl's own doing, so it is
// not in the way of what others must not do.
func (s *Screen) EraseLines(lines int) error {
	if err := s.Flush(); err != nil || lines == 0 {
		return err
	}
	_, err := fmt.Fprintf(s.File, "\x1b[%dA\r\x1b[J", lines)
	return err
}
