package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pawl-dev/pawl/internal/security/redact"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// screen is how text gets to standard output or error, all of it: much of it is
// what a model, a tool or a provider said. Nothing in it steers the terminal, and
// no key that pawl holds is in it, though its characters came one by one.
type screen struct {
	file   *os.File
	masked *redact.Writer
	text   *sanitize.Writer
}

func newScreen(f *os.File) *screen {
	masked := secrets.KnownWriter(f)
	return &screen{file: f, masked: masked, text: sanitize.NewWriter(masked)}
}

func (s *screen) Write(p []byte) (int, error) {
	return s.text.Write(p)
}

// Flush writes what was held back, at the end of the program.
func (s *screen) Flush() error { return errors.Join(s.text.Flush(), s.masked.Flush()) }

// Fd is what tells whether it is a terminal.
func (s *screen) Fd() uintptr { return s.file.Fd() }

var _ interface {
	io.Writer
	Fd() uintptr
} = (*screen)(nil)

// erase takes the last lines off the screen. They are pawl's own doing, so it is
// not in the way of what others must not do.
func (s *screen) erase(lines int) error {
	if err := s.Flush(); err != nil || lines == 0 {
		return err
	}
	_, err := fmt.Fprintf(s.file, "\x1b[%dA\r\x1b[J", lines)
	return err
}
