package chat

import (
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// index returns where the top is, or -1. It is looked for where it was first.
func (v *View) index(entries []*Entry) int {
	if v.topIndex >= len(entries) || entries[v.topIndex] != v.top {
		v.topIndex = max(0, slices.Index(entries, v.top))
	}
	if len(entries) == 0 || entries[v.topIndex] != v.top {
		return -1
	}
	return v.topIndex
}

func (v *View) setTop(entries []*Entry, i, skipped int) {
	v.scrolledUp, v.top, v.topIndex, v.topOffset = true, entries[i], i, skipped
}

// Scroll moves by so many lines, up if they are negative.
func (v *View) Scroll(n int) {
	entries := v.Log.Entries()
	if len(entries) == 0 || !v.scrolledUp && n > 0 {
		return
	}
	v.leaveEnd(entries)
	i := max(0, v.index(entries))
	at := v.topOffset + n
	for at < 0 && i > 0 {
		i--
		at += v.entryHeight(entries, i)
	}
	at = max(0, at)
	for i < len(entries)-1 && at >= v.entryHeight(entries, i) {
		at -= v.entryHeight(entries, i)
		i++
	}
	v.setTop(entries, i, min(at, v.entryHeight(entries, i)-1))
}

// leaveEnd makes the first line that is seen at the end the top.
func (v *View) leaveEnd(entries []*Entry) {
	if !v.scrolledUp {
		i, skipped := v.endTop(entries)
		v.setTop(entries, i, skipped)
	}
}

// ToTop goes to the beginning.
func (v *View) ToTop() {
	if entries := v.Log.Entries(); len(entries) > 0 {
		v.setTop(entries, 0, 0)
	}
}

// ToEnd goes to the end and stays there.
func (v *View) ToEnd() { v.scrolledUp, v.top, v.topOffset = false, nil, 0 }

// Page is how far a page is.
func (v *View) Page() int { return max(1, v.height-2) }

// Select moves the choice among the entries, and brings it into view.
func (v *View) Select(step int) {
	entries := v.Log.Entries()
	i := len(entries)
	if v.selected != nil {
		if i = slices.Index(entries, v.selected); i < 0 {
			i = len(entries)
		}
	}
	if i += step; i < 0 || i >= len(entries) {
		return
	}
	v.selected = entries[i]
	v.reveal(entries, i)
}

// Unselect ends the choice.
func (v *View) Unselect() { v.selected = nil }

// Selected returns the chosen entry, or nil.
func (v *View) Selected() *Entry { return v.selected }

// reveal scrolls until the entry is seen.
func (v *View) reveal(entries []*Entry, i int) {
	v.leaveEnd(entries)
	start := max(0, v.index(entries))
	if i < start || i == start && v.topOffset > 0 {
		v.setTop(entries, i, 0)
		return
	}
	above := -v.topOffset // lines before it that are seen
	for k := start; k < i && above < 2*v.height; k++ {
		above += v.entryHeight(entries, k)
	}
	if above >= 2*v.height { // far away
		v.setTop(entries, i, 0)
		return
	}
	if below := above + len(v.lines(entries[i])) - v.height; below > 0 {
		v.Scroll(min(below, above))
	}
}

// Toggle opens or closes the chosen entry.
func (v *View) Toggle() {
	if v.selected != nil {
		v.toggle(v.selected)
	}
}

func (v *View) toggle(e *Entry) {
	open := !v.isOpen(e)
	e.Open = &open
	e.changed()
}

// ToggleAll opens or closes all that can be.
func (v *View) ToggleAll() {
	v.allOpen = !v.allOpen
	for _, e := range v.Log.Entries() {
		e.Open = nil
	}
	v.styleVersion++
}

// isOpen reports whether an entry is shown whole.
func (v *View) isOpen(e *Entry) bool {
	if e.Open != nil {
		return *e.Open
	}
	return v.allOpen
}

// isFolded reports whether the person wants one line of an entry only.
func (v *View) isFolded(e *Entry) bool { return e.Open != nil && !*e.Open }

// Copy returns the chosen entry's text, as it was written and not as it is shown.
func (v *View) Copy() string {
	e := v.selected
	switch {
	case e == nil:
		return ""
	case e.Kind == Call:
		return sanitizeCopy(copyCall(e.Call))
	}
	return sanitizeCopy(e.text())
}

// copyable is a text for the clipboard. It may be pasted into a shell, so nothing
// that ends a paste, sends a line or does not show is in it.
func sanitizeCopy(text string) string {
	return sanitize.Text(text)
}

// Spill returns what is kept of the chosen call's output beside the log, and what
// to call it. nil means nothing.
func (v *View) FullOutput() (*pawl.Blob, string) {
	if v.selected == nil || v.selected.Call == nil {
		return nil, ""
	}
	c := v.selected.Call
	return c.Result.Full, toolName(c) + " " + parseInput(c).subject(c)
}
