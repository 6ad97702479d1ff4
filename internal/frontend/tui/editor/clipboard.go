package editor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// imageMsg is a picture from the clipboard.
type imageMsg struct{ attachment *Attachment }

// maxClipboard is how long the clipboard may take.
const maxClipboard = 5 * time.Second

// reader is a program that reads the clipboard of a desktop.
type reader struct {
	needs string   // the variable of the environment that must be set, or ""
	kinds []string // its arguments to list what there is; nil means that it has pictures only
	image []string // to read a picture
	text  []string // to read a text; nil means that it cannot
}

// readers are tried in their order.
var readers = []reader{
	{"WAYLAND_DISPLAY", []string{"wl-paste", "--list-types"}, []string{"wl-paste", "--type", "image/png"}, []string{"wl-paste", "--no-newline"}},
	{"DISPLAY", []string{"xclip", "-selection", "clipboard", "-target", "TARGETS", "-out"}, []string{"xclip", "-selection", "clipboard", "-target", "image/png", "-out"}, []string{"xclip", "-selection", "clipboard", "-out"}},
	{"", nil, []string{"pngpaste", "-"}, []string{"pbpaste"}},
}

// clipboard reads what is there: a picture is attached, a text pasted.
func (e *Editor) clipboard() tea.Cmd {
	parent, env := e.shared.Context, e.env
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, maxClipboard)
		defer cancel()
		for _, r := range readers {
			if r.needs != "" && env(r.needs) == "" {
				continue
			}
			if msg := r.read(ctx); msg != nil {
				return msg
			}
		}
		return ui.Failed{Err: fmt.Errorf(
			"the clipboard cannot be read here: install wl-paste (Wayland), xclip (X11) or pngpaste (macOS), use your terminal's paste for text, or paste the path of a picture: %w", pawl.ErrUnavailable)}
	}
}

// read returns a message with what there is, or nil.
func (r reader) read(ctx context.Context) tea.Msg {
	picture := true
	if r.kinds != nil {
		kinds, err := output(ctx, r.kinds)
		if err != nil {
			return nil
		}
		picture = strings.Contains(string(kinds), "image/png")
	}
	if picture {
		if data, err := output(ctx, r.image); err == nil && bytes.HasPrefix(data, []byte("\x89PNG")) {
			return imageMsg{&Attachment{Name: "clipboard.png", Kind: "image/png", Size: int64(len(data)), data: data}}
		}
	}
	data, err := output(ctx, r.text)
	if err != nil || len(data) == 0 {
		return nil
	}
	return tea.PasteMsg{Content: string(data)}
}

// errTooLong: the clipboard holds more than can be attached.
var errTooLong = errors.New("too long")

// output runs a program and returns what it prints, up to a bound.
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

// bounded keeps no more than can be attached.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxBytes {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}
