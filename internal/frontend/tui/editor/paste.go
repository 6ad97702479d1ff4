package editor

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Longer pastes are folded.
const (
	foldLines = 10
	foldChars = 1000
)

// pathsMsg are the files that a paste names.
type pathsMsg struct {
	paste int
	text  string
	files []*Attachment
}

// paste inserts a text literally. If it consists only of names of existing files, they
// are attached instead.
func (e *Editor) paste(s string) tea.Cmd {
	if s == "" {
		return nil
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	fold := strings.Count(strings.TrimRight(s, "\n"), "\n") >= foldLines || utf8.RuneCountInString(s) > foldChars
	e.lists.focus = false
	e.complete.Close()
	n := e.draft.text.Paste(s, fold)
	if paths := pathsIn(s, e.env("HOME")); paths != nil {
		return func() tea.Msg { return statPaths(n, s, paths) }
	}
	if !fold && mentions(s) {
		return ui.Send(ui.Notice{Text: "Pasted as text: press tab after an @name to attach it"})
	}
	return nil
}

// mentions reports whether a text contains a word that would be a mention if it were
// typed.
func mentions(s string) bool {
	for word := range strings.FieldsSeq(s) {
		if len(word) > 1 && word[0] == '@' {
			return true
		}
	}
	return false
}

// statPaths checks whether all paths are files.
func statPaths(paste int, s string, paths []string) tea.Msg {
	m := pathsMsg{paste: paste, text: s}
	for _, p := range paths {
		a, err := statFile(p)
		if err != nil {
			return nil // keep it as text
		}
		m.files = append(m.files, a)
	}
	return m
}

// attachPaths replaces a paste by the files that it names, if it is unchanged.
func (e *Editor) attachPaths(m pathsMsg) tea.Cmd {
	if !e.draft.text.TakePaste(m.paste, m.text) {
		return nil
	}
	var cmds []tea.Cmd
	for _, f := range m.files {
		cmds = append(cmds, e.attach(f))
	}
	return tea.Batch(cmds...)
}
