// Package clipboard reads the desktop's clipboard with the programs that the platform
// has for it.
package clipboard

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// maxBytes bounds what is read.
const maxBytes = 10 << 20 // the most that can be attached

// timeout bounds how long reading may take.
const timeout = 5 * time.Second

// reader is the commands of a program that reads a desktop's clipboard.
type reader struct {
	needs string   // environment variable that must be set, or ""
	kinds []string // lists the content types; nil means that it cannot
	image []string // prints a PNG image
	text  []string // prints the text
}

// readers are tried in this order.
var readers = []reader{
	{"WAYLAND_DISPLAY", []string{"wl-paste", "--list-types"}, []string{"wl-paste", "--type", "image/png"}, []string{"wl-paste", "--no-newline"}},
	{"DISPLAY", []string{"xclip", "-selection", "clipboard", "-target", "TARGETS", "-out"}, []string{"xclip", "-selection", "clipboard", "-target", "image/png", "-out"}, []string{"xclip", "-selection", "clipboard", "-out"}},
	{"", nil, []string{"pngpaste", "-"}, []string{"pbpaste"}},
}

// Content is what the clipboard holds: a PNG image or a text.
type Content struct {
	PNG  []byte
	Text string
}

// Read returns the content of the clipboard. env looks up environment variables.
func Read(ctx context.Context, env func(string) string) (Content, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, r := range readers {
		if r.needs != "" && env(r.needs) == "" {
			continue
		}
		if c, ok := r.read(ctx); ok {
			return c, nil
		}
	}
	return Content{}, fault.New(pawl.ErrUnavailable, "cannot read the clipboard").Hint("Install wl-paste (Wayland), xclip (X11) or pngpaste (macOS), or paste the path of an image.")
}

func (r reader) read(ctx context.Context) (Content, bool) {
	picture := true
	if r.kinds != nil {
		kinds, err := output(ctx, r.kinds)
		if err != nil {
			return Content{}, false
		}
		picture = strings.Contains(string(kinds), "image/png")
	}
	if picture {
		if data, err := output(ctx, r.image); err == nil && bytes.HasPrefix(data, []byte("\x89PNG")) {
			return Content{PNG: data}, true
		}
	}
	data, err := output(ctx, r.text)
	return Content{Text: string(data)}, err == nil && len(data) > 0
}

// errTooLong means that the clipboard holds more than maxBytes.
var errTooLong = errors.New("too long")

// output runs a program and returns its output.
func output(ctx context.Context, args []string) ([]byte, error) {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return nil, err
	}
	var out bounded
	cmd := exec.CommandContext(ctx, path, args[1:]...)
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	return out.Bytes(), err
}

// bounded is a buffer of at most maxBytes.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxBytes {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}
