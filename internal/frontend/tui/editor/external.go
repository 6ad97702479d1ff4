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
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/editor/history"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// externalMsg is a prompt file for the user's own editor.
type externalMsg struct {
	folder string
	pieces []textinput.Piece
	args   []string
}

// externalDoneMsg is the result of the user's editor.
type externalDoneMsg struct {
	pieces []textinput.Piece // the text before
	text   string
	err    error
}

// openExternal writes the prompt to a file for the user's editor, in a directory that
// others cannot read.
func (e *Editor) openExternal() tea.Cmd {
	name := e.env("VISUAL")
	if name == "" {
		name = e.env("EDITOR")
	}
	args, ok := shellWords(name)
	if !ok || len(args) == 0 {
		return ui.Send(ui.Failed{Err: fault.New(pawl.ErrUnavailable, "no editor configured").Hint("Set VISUAL or EDITOR, for example `export EDITOR=vim`.")})
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

// runExternal hands the terminal to the user's editor until it exits.
func (e *Editor) runExternal(m externalMsg) tea.Cmd {
	//nolint:gosec,noctx // the person's own editor, which ends when they end it
	cmd := exec.Command(m.args[0], append(m.args[1:], promptFile(m.folder))...)
	return tea.ExecProcess(cmd, func(err error) tea.Msg { return m.read(err) })
}

// read reads the file and deletes it.
func (m externalMsg) read(err error) tea.Msg {
	data, readErr := readFile(promptFile(m.folder))
	err = errors.Join(err, readErr, os.RemoveAll(m.folder))
	if err != nil {
		err = fmt.Errorf("the editor failed, and the prompt is unchanged: %w", err)
	}
	text := string(data)
	if !strings.HasSuffix(history.Entry(m.pieces).Text(), "\n") {
		text = strings.TrimSuffix(text, "\n") // editors add it
	}
	return externalDoneMsg{m.pieces, text, err}
}

// externalDone takes over the edited text.
func (e *Editor) externalDone(m externalDoneMsg) tea.Cmd {
	if m.err != nil {
		return ui.Send(ui.Failed{Err: m.err})
	}
	pieces, ok := restorePastes(m.pieces, m.text)
	e.draft.text.Set(pieces)
	if !ok && mentions(m.text) {
		return ui.Send(ui.Notice{Text: "You edited pasted text: press tab after an @name to attach it"})
	}
	return nil
}

// restorePastes finds the pastes of the old text in the new one. If one was changed,
// it cannot tell what was typed: then all of it counts as pasted, and it returns
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
