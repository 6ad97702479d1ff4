package chat

import (
	"time"

	"charm.land/lipgloss/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/diff"
	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/markdown"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// View shows a part of a Log. It follows the end, unless the user has scrolled up.
type View struct {
	Log *Log

	width, height int
	styles        *theme.Styles
	sgr           palette
	markdown      *markdown.Styles
	diff          *diff.Styles
	styleVersion  int // changes with the styles

	scrolledUp bool   // the end is not visible
	top        *Entry // first visible entry, if scrolled up
	topOffset  int    // its lines above the screen
	topIndex   int    // where top was found last
	selected   *Entry // the focused entry; nil means none
	allOpen    bool   // all cards are open

	rows        []row           // drawn last
	cached      map[*Entry]bool // entries whose lines are cached
	cachedLines int             // how many lines they have

	now     time.Time // time of the last tick
	ticking bool
	drag    selection
	find    finder
}

// palette holds the theme's styles.
type palette struct{ text, muted, accent, user, good, warn, bad, bold, border layout.SGR }

// row is a line of the screen: a line of an entry, or the gap after it.
type row struct {
	entry *Entry
	line  int
}

// NewView returns a view of a log.
func NewView(l *Log, s *theme.Styles) *View {
	v := &View{Log: l, cached: map[*Entry]bool{}, now: time.Now()}
	v.SetStyles(s)
	return v
}

// Resize sets the size.
func (v *View) Resize(width, height int) {
	if width != v.width {
		v.drag = selection{}
	}
	v.width, v.height = max(width, 1), max(height, 1)
}

// SetStyles sets the theme.
func (v *View) SetStyles(s *theme.Styles) {
	v.styles, v.markdown, v.diff = s, markdown.NewStyles(s), diff.NewStyles(s)
	v.sgr = palette{
		text: layout.SGROf(s.Text), muted: layout.SGROf(s.Muted), accent: layout.SGROf(s.Accent), user: layout.SGROf(s.User), good: layout.SGROf(s.Good),
		warn: layout.SGROf(s.Warn), bad: layout.SGROf(s.Bad), bold: layout.SGROf(s.Bold), border: layout.SGROf(s.Border),
	}
	v.styleVersion++
}

// textWidth returns the width of the text: there is a mark at its left and a space at
// its right.
func (v *View) textWidth() int { return max(4, v.width-2) }

// Follows reports whether the view follows the end.
func (v *View) Follows() bool { return !v.scrolledUp }

// AtTop reports whether the oldest entry is visible.
func (v *View) AtTop() bool {
	entries := v.Log.Entries()
	if len(entries) == 0 || v.scrolledUp {
		return len(entries) == 0 || v.topOffset == 0 && v.top == entries[0]
	}
	return len(v.rows) > 0 && v.rows[0] == row{entries[0], 0} // everything fits
}

// prefetchMargin is how many entries above the screen trigger the loading of older ones, so
// that scrolling does not wait for them.
const prefetchMargin = 60

// CloseToTop reports whether the oldest entry is visible or close.
func (v *View) CloseToTop() bool {
	entries := v.Log.Entries()
	if v.scrolledUp {
		return v.index(entries) < prefetchMargin
	}
	return v.AtTop()
}

// Render returns the visible lines, as many as the height.
func (v *View) Render() []string {
	v.rows = v.visible()
	lines := make([]string, v.height)
	for i, r := range v.rows {
		lines[i] = v.draw(r)
	}
	if v.find.open {
		lines[v.height-1] = v.findBar()
	}
	v.evict()
	return lines
}

func (v *View) visible() []row {
	entries := v.Log.Entries()
	if v.scrolledUp {
		rows := v.from(entries)
		if n := len(rows); n >= v.height && (rows[n-1].entry != entries[len(entries)-1] || rows[n-1].line < v.entryHeight(entries, len(entries)-1)-1) {
			return rows
		}
		v.scrolledUp = false // the last line is visible
	}
	return v.end(entries)
}

// from returns the rows starting at top.
func (v *View) from(entries []*Entry) []row {
	i := v.index(entries)
	if i < 0 {
		return nil
	}
	var rows []row
	skip := v.topOffset
	for ; i < len(entries) && len(rows) < v.height; i++ {
		for n := skip; n < v.entryHeight(entries, i) && len(rows) < v.height; n++ {
			rows = append(rows, row{entries[i], n})
		}
		skip = 0
	}
	return rows
}

// end returns the last rows.
func (v *View) end(entries []*Entry) []row {
	if len(entries) == 0 {
		return nil
	}
	first, skip := v.endTop(entries)
	var rows []row
	for i := first; i < len(entries); i++ {
		for n := skip; n < v.entryHeight(entries, i); n++ {
			rows = append(rows, row{entries[i], n})
		}
		skip = 0
	}
	return rows
}

// endTop returns the first entry that is visible at the end, and how many of its lines
// are above the screen.
func (v *View) endTop(entries []*Entry) (first, skipped int) {
	remaining := v.height
	for i := len(entries) - 1; ; i-- {
		n := v.entryHeight(entries, i)
		if n >= remaining || i == 0 {
			return i, max(0, n-remaining)
		}
		remaining -= n
	}
}

// entryHeight returns how many rows an entry takes, including the gap after it.
func (v *View) entryHeight(entries []*Entry, i int) int {
	n := len(v.lines(entries[i]))
	if n == 1 && i+1 < len(entries) && compact(entries[i]) && compact(entries[i+1]) {
		return n
	}
	return n + 1
}

// compact reports whether an entry is a step; folded steps have no gap between them.
func compact(e *Entry) bool {
	return e.Call != nil || e.Kind == transcript.KindReasoning || e.Kind == transcript.KindMission && e.Mission == ""
}

// draw renders a row.
func (v *View) draw(r row) string {
	lines := v.lines(r.entry)
	mark := " "
	if r.entry == v.selected {
		mark = layout.Render(layout.Span{Text: "▌", SGR: v.sgr.accent})
	}
	if r.line >= len(lines) {
		return ""
	}
	line := lines[r.line]
	text := v.findMarks(r, line)
	if from, to, ok := v.drag.cells(v, r, line); ok {
		text = lipgloss.StyleRanges(text, lipgloss.NewRange(from, to, v.styles.Selected.Reverse(true)))
	}
	return mark + text
}

// Limits of the line cache.
const (
	maxKept      = 300    // entries
	maxKeptLines = 40_000 // lines
)

// lines returns the lines of an entry, cached or rendered.
func (v *View) lines(e *Entry) []layout.Line {
	s := e.rendered
	if s == nil {
		s = &rendered{}
		e.rendered, v.cached[e] = s, true
	}
	if s.width != v.width || s.styleVersion != v.styleVersion {
		v.cachedLines -= len(s.lines)
		*s = rendered{width: v.width, styleVersion: v.styleVersion}
	}
	if s.lines == nil || s.version != e.version {
		v.cachedLines -= len(s.lines)
		s.lines, s.version = v.render(e), e.version
		v.cachedLines += len(s.lines)
	}
	return s.lines
}

// evict removes the cached lines of invisible entries if there are too many.
func (v *View) evict() {
	if len(v.cached) <= maxKept && v.cachedLines <= maxKeptLines {
		return
	}
	seen := map[*Entry]bool{}
	for _, r := range v.rows {
		seen[r.entry] = true
	}
	for e := range v.cached {
		if !seen[e] {
			v.cachedLines -= len(e.rendered.lines)
			e.rendered = nil
			delete(v.cached, e)
		}
	}
}
