package chat

import (
	"time"

	"charm.land/lipgloss/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/diff"
	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
	"github.com/pawl-dev/pawl/internal/frontend/tui/markdown"
	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// View shows a part of a Log. It stays at the end as more comes, unless the person
// has scrolled away from it.
type View struct {
	Log *Log

	width, height int
	styles        *theme.Styles
	sgr           palette
	markdown      *markdown.Styles
	diff          *diff.Styles
	styleVersion  int // changes with the styles

	scrolledUp bool   // from the end
	top        *Entry // the first that is seen, when away
	topOffset  int    // lines of it that are above the screen
	topIndex   int    // where top was last found
	selected   *Entry // the one that keys are for; nil means none
	allOpen    bool   // cards are shown whole

	rows   []row           // that were last drawn
	cached map[*Entry]bool // whose lines are kept

	now     time.Time // by the last tick
	ticking bool
	drag    selection
	find    finder
}

// inks are the looks of the theme.
type palette struct{ text, muted, accent, user, good, warn, bad, bold, border layout.SGR }

// row is a line of the screen: one of an entry's, or the gap behind it.
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

// Resize gives the view its place.
func (v *View) Resize(width, height int) {
	if width != v.width {
		v.drag = selection{}
	}
	v.width, v.height = max(width, 1), max(height, 1)
}

// SetStyles changes the look.
func (v *View) SetStyles(s *theme.Styles) {
	v.styles, v.markdown, v.diff = s, markdown.NewStyles(s), diff.NewStyles(s)
	v.sgr = palette{
		text: layout.SGROf(s.Text), muted: layout.SGROf(s.Muted), accent: layout.SGROf(s.Accent), user: layout.SGROf(s.User), good: layout.SGROf(s.Good),
		warn: layout.SGROf(s.Warn), bad: layout.SGROf(s.Bad), bold: layout.SGROf(s.Bold), border: layout.SGROf(s.Border),
	}
	v.styleVersion++
}

// room is how many cells the text has: there is a mark at the left and a blank at
// the right.
func (v *View) textWidth() int { return max(4, v.width-2) }

// Follows reports whether the end is seen.
func (v *View) Follows() bool { return !v.scrolledUp }

// AtTop reports whether the oldest entry is seen: older ones may have to be read.
func (v *View) AtTop() bool {
	entries := v.Log.Entries()
	if len(entries) == 0 || v.scrolledUp {
		return len(entries) == 0 || v.topOffset == 0 && v.top == entries[0]
	}
	return len(v.rows) > 0 && v.rows[0] == row{entries[0], 0} // all of it fits
}

// nearTop is how many entries are above the screen when older ones are read: who
// scrolls up does not wait for them.
const nearTop = 60

// NearTop reports whether the oldest entry is seen, or soon will be.
func (v *View) NearTop() bool {
	entries := v.Log.Entries()
	if v.scrolledUp {
		return v.index(entries) < nearTop
	}
	return v.AtTop()
}

// Render returns the lines that are seen, as many as there is room for.
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
		v.scrolledUp = false // the last line is seen
	}
	return v.end(entries)
}

// from returns the rows from the top on.
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

// endTop returns the first entry that is seen at the end, and how many of its
// lines are above the screen.
func (v *View) endTop(entries []*Entry) (first, skipped int) {
	room := v.height
	for i := len(entries) - 1; ; i-- {
		n := v.entryHeight(entries, i)
		if n >= room || i == 0 {
			return i, max(0, n-room)
		}
		room -= n
	}
}

// tall is how many rows an entry takes with the gap behind it.
func (v *View) entryHeight(entries []*Entry, i int) int {
	n := len(v.lines(entries[i]))
	if n == 1 && i+1 < len(entries) && compact(entries[i]) && compact(entries[i+1]) {
		return n
	}
	return n + 1
}

// small reports whether an entry is a step among others, which stand together when
// they are folded.
func compact(e *Entry) bool { return e.Kind == Call || e.Kind == Reasoning || e.Step }

// draw prints a row.
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

// The most that is kept of what is not on the screen.
const (
	maxKept      = 300    // entries
	maxKeptLines = 40_000 // their lines
)

// lines returns those of an entry, as they are kept or made anew.
func (v *View) lines(e *Entry) []layout.Line {
	s := &e.rendered
	if s.width != v.width || s.styleVersion != v.styleVersion {
		*s = rendered{width: v.width, styleVersion: v.styleVersion}
	}
	if s.lines == nil || s.version != e.version {
		s.lines, s.version = v.render(e), e.version
	}
	v.cached[e] = true
	return s.lines
}

// forget drops the lines of entries that are not on the screen, when there are many.
func (v *View) evict() {
	total := 0
	for e := range v.cached {
		total += len(e.rendered.lines)
	}
	if len(v.cached) <= maxKept && total <= maxKeptLines {
		return
	}
	seen := map[*Entry]bool{}
	for _, r := range v.rows {
		seen[r.entry] = true
	}
	for e := range v.cached {
		if !seen[e] {
			e.rendered = rendered{}
			delete(v.cached, e)
		}
	}
}
