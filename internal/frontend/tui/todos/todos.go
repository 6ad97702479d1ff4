// Package todos shows the model's todo list: one line above the prompt, or all of it.
package todos

import (
	"fmt"
	"slices"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Strip is the list.
type Strip struct {
	shared *ui.Shared
	open   bool
}

// New returns a folded list.
func New(s *ui.Shared) *Strip { return &Strip{shared: s} }

// Toggle opens or folds the list.
func (s *Strip) Toggle() { s.open = !s.open }

// View draws the list in at most that many rows, or on one line if it is folded. It
// returns nothing without a list, or when all items are done and no turn is running.
func (s *Strip) View(list []pawl.Todo, working bool, width, height int) []string {
	done := 0
	for _, t := range list {
		if over(t) {
			done++
		}
	}
	if len(list) == 0 || done == len(list) && !working || height < 1 {
		return nil
	}
	head := fmt.Sprintf("%d/%d", done, len(list))
	if !s.open || height < 2 {
		return []string{s.folded(head, list, width)}
	}
	lines := []string{s.line(s.shared.Styles.Bold.Render(head)+s.shared.Styles.Muted.Render(s.hint("to collapse")), width)}
	first := top(list, height-1)
	for i, t := range list[first:min(len(list), first+height-1)] {
		left := 0
		if i == height-2 {
			left = len(list) - first - (height - 1)
		}
		lines = append(lines, s.item(t, left, width))
	}
	return lines
}

// over reports whether an item is completed or canceled.
func over(t pawl.Todo) bool { return t.Status == pawl.TodoCompleted || t.Status == pawl.TodoCanceled }

// current returns the item in progress, or the next one; -1 if all are over.
func current(list []pawl.Todo) int {
	if i := slices.IndexFunc(list, func(t pawl.Todo) bool { return t.Status == pawl.TodoInProgress }); i >= 0 {
		return i
	}
	return slices.IndexFunc(list, func(t pawl.Todo) bool { return !over(t) })
}

// top returns the first visible item, so that the current one is visible with one
// before it.
func top(list []pawl.Todo, rows int) int {
	return max(0, min(current(list)-1, len(list)-rows))
}

func (s *Strip) folded(head string, list []pawl.Todo, width int) string {
	styles := s.shared.Styles
	text := "done"
	if i := current(list); i >= 0 {
		text = sanitize.Line(list[i].Content)
	}
	line := styles.Bold.Render(head) + " " + text
	if hint := s.hint("to expand"); ansi.StringWidth(line+hint)+2 <= width {
		line += styles.Muted.Render(hint)
	}
	return s.line(line, width)
}

func (s *Strip) hint(does string) string {
	key := s.shared.Keys.Key(keys.Todos)
	if key == "" {
		return ""
	}
	return " · " + key + " " + does
}

// item draws one item; left is how many more are below.
func (s *Strip) item(t pawl.Todo, left, width int) string {
	styles := s.shared.Styles
	mark, tone := "☐", styles.Text
	switch t.Status {
	case pawl.TodoCompleted:
		mark, tone = "☑", styles.Muted
	case pawl.TodoCanceled:
		mark, tone = "☒", styles.Muted
	case pawl.TodoInProgress:
		mark, tone = "▸", styles.Accent
	case pawl.TodoPending:
	}
	more := ""
	if left > 0 {
		more = fmt.Sprintf("  … %d more", left)
	}
	text := ansi.Truncate(mark+" "+sanitize.Line(t.Content), max(1, width-1-len(more)), "…")
	return s.line(tone.Render(text)+styles.Muted.Render(more), width)
}

func (s *Strip) line(text string, width int) string {
	return ansi.Truncate(" "+text, max(0, width), "…")
}
