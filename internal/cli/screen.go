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

// Screen writes to standard output or standard error. Much of the output comes from models, tools
// and providers, so a Screen removes control sequences and masks known secrets, even if they are
// split across writes.
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

// Flush writes the buffered output. Call it at the end of the program.
func (s *Screen) Flush() error { return errors.Join(s.text.Flush(), s.masked.Flush()) }

// Fd returns the file descriptor, for IsTerminal.
func (s *Screen) Fd() uintptr { return s.File.Fd() }

var _ interface {
	io.Writer
	Fd() uintptr
} = (*Screen)(nil)

// EraseLines erases the last lines of the terminal. It bypasses the filter for control sequences.
func (s *Screen) EraseLines(lines int) error {
	if err := s.Flush(); err != nil || lines == 0 {
		return err
	}
	_, err := fmt.Fprintf(s.File, "\x1b[%dA\r\x1b[J", lines)
	return err
}
