package chat

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/tui/theme"
)

// View shows a part of a Log. It stays at the end as more comes, unless the person
// has scrolled away from it.
type View struct {
	Log *Log

	width, height int
	styles        *theme.Styles
	look          int // changes with the styles

	away     bool   // from the end
	top      *Entry // the first that is seen, when away
	skipped  int    // lines of it that are above the screen
	selected *Entry // the one that keys are for; nil means none
	allOpen  bool   // cards are shown whole
}

// NewView returns a view of a log.
func NewView(l *Log, s *theme.Styles) *View { return &View{Log: l, styles: s} }

// Resize gives the view its place.
func (v *View) Resize(width, height int) { v.width, v.height = max(width, 1), max(height, 1) }

// SetStyles changes the look.
func (v *View) SetStyles(s *theme.Styles) {
	v.styles = s
	v.look++
}

// Follows reports whether the end is seen.
func (v *View) Follows() bool { return !v.away }

// AtTop reports whether the oldest entry is seen: older ones may have to be read.
func (v *View) AtTop() bool {
	entries := v.Log.Entries()
	return len(entries) == 0 || v.away && v.skipped == 0 && v.top == entries[0]
}

// Render returns the lines that are seen, as many as there is room for.
func (v *View) Render() []string {
	lines := v.visible()
	for len(lines) < v.height {
		lines = append(lines, "")
	}
	return lines
}

func (v *View) visible() []string {
	entries := v.Log.Entries()
	if v.away {
		if lines := v.from(entries); len(lines) >= v.height {
			return lines[:v.height]
		}
		v.away = false // there is less below than fits
	}
	return v.end(entries)
}

// from returns the lines from the top on.
func (v *View) from(entries []*Entry) []string {
	i := slices.Index(entries, v.top)
	if i < 0 {
		return nil
	}
	var lines []string
	skip := v.skipped
	for _, e := range entries[i:] {
		more := v.lines(e)
		lines = append(lines, more[min(skip, len(more)):]...)
		if skip = 0; len(lines) >= v.height {
			break
		}
	}
	return lines
}

// end returns the last lines.
func (v *View) end(entries []*Entry) []string {
	var parts [][]string
	n := 0
	for i := len(entries) - 1; i >= 0 && n < v.height; i-- {
		lines := v.lines(entries[i])
		parts = append(parts, lines)
		n += len(lines)
	}
	lines := make([]string, 0, n)
	for _, p := range slices.Backward(parts) {
		lines = append(lines, p...)
	}
	return lines[max(0, len(lines)-v.height):]
}

// Scroll moves by so many lines, up if they are negative.
func (v *View) Scroll(n int) {
	entries := v.Log.Entries()
	if len(entries) == 0 {
		return
	}
	if !v.away {
		if n > 0 {
			return
		}
		v.leaveEnd(entries)
	}
	i := max(0, slices.Index(entries, v.top))
	v.skipped += n
	for v.skipped < 0 && i > 0 {
		i--
		v.skipped += len(v.lines(entries[i]))
	}
	v.skipped = max(0, v.skipped)
	for i < len(entries)-1 && v.skipped >= len(v.lines(entries[i])) {
		v.skipped -= len(v.lines(entries[i]))
		i++
	}
	v.top = entries[i]
}

// leaveEnd makes the first line that is seen at the end the top.
func (v *View) leaveEnd(entries []*Entry) {
	v.away = true
	room := v.height
	for i := len(entries) - 1; i >= 0; i-- {
		n := len(v.lines(entries[i]))
		if n >= room || i == 0 {
			v.top, v.skipped = entries[i], max(0, n-room)
			return
		}
		room -= n
	}
}

// ToTop and ToEnd go there.
func (v *View) ToTop() {
	if entries := v.Log.Entries(); len(entries) > 0 {
		v.away, v.top, v.skipped = true, entries[0], 0
	}
}

// ToEnd goes to the end and stays there.
func (v *View) ToEnd() { v.away, v.top, v.skipped = false, nil, 0 }

// Page is how far a page is.
func (v *View) Page() int { return max(1, v.height-2) }

// Select moves the choice among the entries that can be opened or copied, and
// brings it into view.
func (v *View) Select(step int) {
	entries := v.Log.Entries()
	i := slices.Index(entries, v.selected)
	if i < 0 {
		i = len(entries)
	}
	if i += step; i < 0 || i >= len(entries) {
		return
	}
	v.touch(v.selected)
	v.selected = entries[i]
	v.touch(v.selected)
	v.reveal(entries, i)
}

// Unselect ends the choice.
func (v *View) Unselect() {
	v.touch(v.selected)
	v.selected = nil
}

// Selected returns the chosen entry, or nil.
func (v *View) Selected() *Entry { return v.selected }

func (v *View) touch(e *Entry) {
	if e != nil {
		e.changed()
	}
}

// reveal scrolls until the entry is seen.
func (v *View) reveal(entries []*Entry, i int) {
	above := 0 // lines before it that are seen
	start := 0
	if v.away {
		start = max(0, slices.Index(entries, v.top))
	} else {
		v.leaveEnd(entries)
		start = max(0, slices.Index(entries, v.top))
	}
	if i < start || i == start && v.skipped > 0 {
		v.top, v.skipped = entries[i], 0
		return
	}
	for _, e := range entries[start:i] {
		above += len(v.lines(e))
	}
	above -= v.skipped
	if below := above + len(v.lines(entries[i])) - v.height; below > 0 {
		v.Scroll(min(below, above))
	}
}

// Toggle opens or closes the chosen entry.
func (v *View) Toggle() {
	if e := v.selected; e != nil {
		open := !v.isOpen(e)
		e.Open = &open
		e.changed()
	}
}

// ToggleAll opens or closes all that can be.
func (v *View) ToggleAll() {
	v.allOpen = !v.allOpen
	for _, e := range v.Log.Entries() {
		e.Open = nil
	}
	v.look++
}

// isOpen reports whether an entry is shown whole.
func (v *View) isOpen(e *Entry) bool {
	if e.Open != nil {
		return *e.Open
	}
	return v.allOpen
}

// lines returns those of an entry, as they are kept or made anew.
func (v *View) lines(e *Entry) []string {
	if e.shown.lines == nil || e.shown.width != v.width || e.shown.version != e.version || e.shown.look != v.look {
		e.shown = rendered{v.render(e), v.width, e.version, v.look}
	}
	return e.shown.lines
}

// Copy returns the chosen entry's text, as it was written and not as it is shown.
func (v *View) Copy() string {
	e := v.selected
	switch {
	case e == nil:
		return ""
	case e.Kind == Call:
		return strings.TrimSpace(string(e.Call.Input) + "\n" + e.Call.Result.Content)
	}
	return e.text()
}
