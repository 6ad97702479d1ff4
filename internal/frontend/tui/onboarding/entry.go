package onboarding

import (
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui/clipboard"
	"github.com/pawl-dev/pawl/internal/frontend/tui/dialog"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// entry is a line of input, with the progress and the result of its test.
type entry struct {
	title, text string
	label       string // of the input
	value       string
	hidden      bool  // the value is a key
	fixed       bool  // there is nothing to enter
	busy        bool  // the test runs
	retry       bool  // a test has failed: the next input replaces the value
	err         error // of the last test
}

// entryEnd says how the input ended.
type entryEnd int

const (
	entryOpen     entryEnd = iota
	entryDone              // test it
	entryUntested          // store it without a test
	entryLeft              // go back
)

// untestedKey stores a key whose test has failed.
const untestedKey = "ctrl+s"

// update handles a key or a paste.
func (e *entry) update(s *ui.Shared, msg tea.Msg) (entryEnd, tea.Cmd) {
	switch m := msg.(type) {
	case tea.KeyPressMsg:
		return e.key(s, m)
	case tea.PasteMsg:
		e.paste(m.Content)
	case tea.ClipboardMsg:
		e.paste(m.Content)
	}
	return entryOpen, nil
}

func (e *entry) key(s *ui.Shared, k tea.KeyPressMsg) (entryEnd, tea.Cmd) {
	name := k.String()
	switch {
	case s.Keys.Action(keys.Dialog, name) == keys.Close || name == "ctrl+c":
		return entryLeft, nil
	case e.busy:
	case s.Keys.Action(keys.Dialog, name) == keys.Choose:
		if e.fixed || strings.TrimSpace(e.value) != "" {
			return entryDone, nil
		}
	case name == untestedKey && e.untested():
		return entryUntested, nil
	case s.Keys.Action(keys.Editor, name) == keys.Paste:
		return entryOpen, e.clipboard(s)
	case !e.fixed:
		e.set(textinput.LineKey(e.base(k), k))
	}
	return entryOpen, nil
}

// untested reports whether the value can be stored although its test has failed.
func (e *entry) untested() bool { return e.err != nil && (e.hidden || e.fixed) }

// base returns the value that a key changes: a key that was rejected is replaced by the first character of
// another one.
func (e *entry) base(k tea.KeyPressMsg) string {
	if e.retry && k.Text != "" {
		return ""
	}
	return e.value
}

func (e *entry) set(value string) {
	if value != e.value {
		e.value, e.retry = value, false
	}
}

func (e *entry) paste(text string) {
	if e.busy || e.fixed {
		return
	}
	if e.retry {
		e.value = ""
	}
	e.set(textinput.LinePaste(e.value, strings.TrimSpace(text)))
}

// clipboard pastes the text of the clipboard.
func (e *entry) clipboard(s *ui.Shared) tea.Cmd {
	ctx := s.Context
	return func() tea.Msg {
		c, err := clipboard.Read(ctx, os.Getenv)
		if err != nil {
			return ui.Failed{Err: err}
		}
		return tea.PasteMsg{Content: c.Text}
	}
}

// maxDots bounds the dots that stand for a key, so that they do not reveal its length.
const maxDots = 12

// view draws the entry.
func (e *entry) view(s *ui.Shared, width, height int, active bool) string {
	f := dialog.Frame{Styles: s.Styles, Tone: s.Styles.Accent, Title: sanitize.Line(e.title), Width: width}
	inner := f.Inner()
	lines := slices.Concat(e.explanation(inner), e.input(s, inner), e.progress(s, inner))
	hints := dialog.Hints(s.Styles, inner, active, e.hints(s)...)
	space := max(1, height-4-len(hints))
	return f.Render(slices.Concat(lines[max(0, len(lines)-space):], []string{""}, hints))
}

func (e *entry) explanation(width int) []string {
	if e.text == "" {
		return nil
	}
	return append(wrap(e.text, width), "")
}

func (e *entry) input(s *ui.Shared, width int) []string {
	if e.fixed {
		return nil
	}
	shown := sanitize.Line(e.value)
	if e.hidden {
		shown = strings.Repeat("•", min(len(e.value), maxDots))
	}
	if over := ansi.StringWidth(shown) - (width - 4); over > 0 {
		shown = ansi.TruncateLeft(shown, over+1, "…")
	}
	return []string{s.Styles.Accent.Render(e.label), s.Styles.Accent.Render("▌") + " " + shown + s.Styles.Accent.Render("▏")}
}

func (e *entry) progress(s *ui.Shared, width int) []string {
	switch {
	case e.busy:
		return []string{"", s.Styles.Muted.Render("Testing with one small request …")}
	case e.err == nil:
		return nil
	}
	lines := []string{""}
	for _, line := range wrap(sanitize.Marked(fault.Text(e.err)), width) {
		lines = append(lines, s.Styles.Bad.Render(line))
	}
	return lines
}

func (e *entry) hints(s *ui.Shared) []dialog.Hint {
	back := dialog.Hint{Key: s.Keys.Key(keys.Close), Does: "back"}
	choose := dialog.Hint{Key: s.Keys.Key(keys.Choose)}
	switch {
	case e.busy:
		return []dialog.Hint{back}
	case e.err != nil:
		choose.Does = "try again"
	case e.hidden:
		choose.Does = "test and store"
	default:
		choose.Does = "connect"
	}
	if !e.untested() {
		return []dialog.Hint{choose, back}
	}
	anyway := "store without a test"
	if e.fixed {
		anyway = "use it anyway"
	}
	return []dialog.Hint{choose, {Key: untestedKey, Does: anyway}, back}
}

// wrap breaks prose between words.
func wrap(text string, width int) []string {
	return strings.Split(ansi.Wrap(text, width, ""), "\n")
}
