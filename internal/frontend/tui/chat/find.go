package chat

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// finder is the state of a search in the conversation.
type finder struct {
	open   bool
	query  string
	entry  *Entry // of the current match
	line   int
	missed bool
}

// Find opens the search.
func (v *View) Find() { v.find = finder{open: true} }

// FindText opens the search with a query.
func (v *View) FindText(words string) {
	v.Find()
	v.findPaste(words)
}

// Finding reports whether the search is open.
func (v *View) Finding() bool { return v.find.open }

func (v *View) findKey(k tea.KeyPressMsg) {
	switch key := k.String(); key {
	case "esc":
		v.find = finder{}
		return
	case "enter", "up", "ctrl+f":
		v.findNext(-1)
		return
	case "down", "shift+enter":
		v.findNext(1)
		return
	default:
		query := textinput.LineKey(v.find.query, k)
		if query == v.find.query {
			return
		}
		v.find.query = query
	}
	v.restartFind()
}

func (v *View) findPaste(text string) {
	if v.find.open {
		v.find.query = textinput.LinePaste(v.find.query, text)
		v.restartFind()
	}
}

// restartFind searches from the end.
func (v *View) restartFind() {
	v.find.entry, v.find.missed = nil, false
	if v.find.query != "" {
		v.findNext(-1)
	}
}

// findNext goes to the next matching line: -1 up, 1 down.
func (v *View) findNext(step int) {
	entries := v.Log.Entries()
	query := strings.ToLower(v.find.query)
	if query == "" || len(entries) == 0 {
		return
	}
	i, line := len(entries)-1, 1<<30
	if v.find.entry != nil {
		for i >= 0 && entries[i] != v.find.entry {
			i--
		}
		line = v.find.line + step
	}
	for ; i >= 0 && i < len(entries); i += step {
		if e := entries[i]; entryContains(e, query) {
			if n := v.findInEntry(e, query, line, step); n >= 0 {
				v.find.entry, v.find.line, v.find.missed = e, n, false
				v.scrollTo(entries, i, n)
				return
			}
		}
		if line = 0; step < 0 {
			line = 1 << 30
		}
	}
	v.find.missed = true
	if step < 0 && v.Log.First() > 1 { // older entries are loaded when the top is visible
		v.find.entry = nil
		v.ToTop()
	}
}

// stripMarkdown removes Markdown marks that can be within words.
var stripMarkdown = strings.NewReplacer("*", "", "`", "", "~~", "")

// entryContains reports whether an entry contains the query.
func entryContains(e *Entry, query string) bool {
	texts := []string{e.Text, e.More}
	switch e.Kind { //nolint:exhaustive // the others have no other text
	case transcript.KindText:
		texts = append(texts, stripMarkdown.Replace(e.Text))
	case transcript.KindCall:
		texts = append(texts, string(e.Call.Input), e.Call.Result.Content, e.Call.Tool)
	}
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), query) })
}

// findInEntry returns the matching line of an entry, starting at a line, or -1. It
// opens a folded entry if that shows the match.
func (v *View) findInEntry(e *Entry, query string, from, step int) int {
	for range 2 {
		lines := v.lines(e)
		for n := min(from, len(lines)-1); n >= 0 && n < len(lines); n += step {
			if strings.Contains(strings.ToLower(ansi.Strip(lines[n].Text)), query) {
				return n
			}
		}
		if v.isOpen(e) || from != 0 && from < len(lines) {
			return -1
		}
		v.toggle(e)
	}
	return -1
}

// scrollTo scrolls a line of an entry to the middle of the screen.
func (v *View) scrollTo(entries []*Entry, i, line int) {
	v.setTop(entries, i, line)
	v.Scroll(-v.height / 2)
}

// findMarks highlights the matches in a line.
func (v *View) findMarks(r row, line layout.Line) string {
	query := strings.ToLower(v.find.query)
	if !v.find.open || query == "" {
		return line.Text
	}
	text := strings.ToLower(ansi.Strip(line.Text))
	style := v.styles.Selected.Underline(true)
	if r.entry == v.find.entry && r.line == v.find.line {
		style = v.styles.Warn.Reverse(true)
	}
	var ranges []lipgloss.Range
	for at := 0; ; {
		n := strings.Index(text[at:], query)
		if n < 0 {
			break
		}
		from := ansi.StringWidth(text[:at+n])
		ranges = append(ranges, lipgloss.NewRange(from, from+ansi.StringWidth(query), style))
		at += n + len(query)
	}
	return lipgloss.StyleRanges(line.Text, ranges...)
}

// findBar returns the search line.
func (v *View) findBar() string {
	hint := "enter: previous · down: next · esc: close"
	switch {
	case v.find.missed && v.Log.First() > 1:
		hint = "not found yet · enter: search earlier messages · esc: close"
	case v.find.missed:
		hint = "not found · " + hint
	}
	return layout.Cut(v.width, layout.Span{Text: " search: ", SGR: v.sgr.accent}, layout.Span{Text: sanitize.Line(v.find.query) + "▏", SGR: v.sgr.text},
		layout.Span{Text: fmt.Sprintf("  %s", hint), SGR: v.sgr.muted})
}
