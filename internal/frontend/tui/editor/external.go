package editor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/editor/history"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// outsideMsg is a file that is ready for the person's own editor.
type externalMsg struct {
	folder string
	pieces []textinput.Piece
	args   []string
}

// writtenMsg is what was written there.
type externalDoneMsg struct {
	pieces []textinput.Piece // as it was
	text   string
	err    error
}

// outside has the prompt written in the person's own editor: in a directory that
// nobody else can read.
func (e *Editor) openExternal() tea.Cmd {
	name := e.env("VISUAL")
	if name == "" {
		name = e.env("EDITOR")
	}
	args, ok := shellWords(name)
	if !ok || len(args) == 0 {
		return ui.Send(ui.Failed{Err: fmt.Errorf("there is no editor: set VISUAL or EDITOR, e.g. 'export EDITOR=vim': %w", pawl.ErrUnavailable)})
	}
	pieces, text := e.draft.text.Pieces(), e.draft.text.String()
	e.complete.Close()
	return func() tea.Msg {
		folder, err := os.MkdirTemp("", "pawl-prompt-") // mode 0700
		if err == nil {
			err = os.WriteFile(promptFile(folder), []byte(text), 0o600)
		}
		if err != nil {
			return ui.Failed{Err: fmt.Errorf("write the prompt for the editor: %w", err)}
		}
		return externalMsg{folder, pieces, args}
	}
}

func promptFile(folder string) string { return filepath.Join(folder, "prompt.md") }

// goOutside gives the terminal to the editor until it ends.
func (e *Editor) runExternal(m externalMsg) tea.Cmd {
	//nolint:gosec,noctx // the person's own editor, which ends when they end it
	cmd := exec.Command(m.args[0], append(m.args[1:], promptFile(m.folder))...)
	return tea.ExecProcess(cmd, func(err error) tea.Msg { return m.read(err) })
}

// read takes the text back, and leaves nothing behind.
func (m externalMsg) read(err error) tea.Msg {
	data, readErr := readFile(promptFile(m.folder))
	err = errors.Join(err, readErr, os.RemoveAll(m.folder))
	if err != nil {
		err = fmt.Errorf("your editor failed, and the prompt stays as it was: %w", err)
	}
	text := string(data)
	if !strings.HasSuffix(history.Entry(m.pieces).Text(), "\n") {
		text = strings.TrimSuffix(text, "\n") // which editors add
	}
	return externalDoneMsg{m.pieces, text, err}
}

// written takes what was written.
func (e *Editor) externalDone(m externalDoneMsg) tea.Cmd {
	if m.err != nil {
		return ui.Send(ui.Failed{Err: m.err})
	}
	pieces, ok := restorePastes(m.pieces, m.text)
	e.draft.text.Set(pieces)
	if !ok && mentions(m.text) {
		return ui.Send(ui.Notice{Text: "a paste was changed, so all of it is text: an @name attaches nothing, unless you press tab behind it"})
	}
	return nil
}

// again finds the pastes of a text in what has become of it. If one was changed
// nobody can tell any more what was pasted: then all of it is, and it returns
// false.
func restorePastes(before []textinput.Piece, now string) ([]textinput.Piece, bool) {
	var pieces []textinput.Piece
	typed := func(s string) {
		if s != "" {
			pieces = append(pieces, textinput.Piece{Text: s})
		}
	}
	rest := now
	for _, p := range before {
		if !p.Pasted && !p.Folded {
			continue
		}
		i := strings.Index(rest, p.Text)
		if i < 0 {
			return []textinput.Piece{{Text: now, Pasted: true}}, false
		}
		typed(rest[:i])
		pieces = append(pieces, p)
		rest = rest[i+len(p.Text):]
	}
	typed(rest)
	return pieces, true
}
