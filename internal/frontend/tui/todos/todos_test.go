package todos

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

// listOf makes a list of statuses: x completed, > in progress, - canceled, . pending.
func listOf(marks string) []pawl.Todo {
	status := map[rune]pawl.TodoStatus{'x': pawl.TodoCompleted, '>': pawl.TodoInProgress, '-': pawl.TodoCanceled, '.': pawl.TodoPending}
	var list []pawl.Todo
	for i, m := range marks {
		list = append(list, pawl.Todo{ID: fmt.Sprint(i), Content: fmt.Sprintf("do the thing number %d", i+1), Status: status[m]})
	}
	return list
}

func TestView(t *testing.T) {
	t.Parallel()
	evil := []pawl.Todo{{Content: "a\x1b[2J\nb\u202e", Status: pawl.TodoInProgress}}
	for _, c := range []struct {
		name          string
		list          []pawl.Todo
		working, open bool
		width, height int
	}{
		{"none", nil, true, true, 80, 8},
		{"over", listOf("xx-"), false, true, 80, 8},
		{"over-working", listOf("xx-"), true, false, 80, 8},
		{"folded", listOf("x-x>."), false, false, 80, 8},
		{"folded-20", listOf("xx>."), false, false, 20, 8},
		{"next", listOf("xx.."), false, false, 80, 8},
		{"open", listOf("x->.."), false, true, 80, 8},
		{"open-20", listOf("xx>.."), false, true, 20, 8},
		{"long", listOf("xxxxxxxxxx>........."), true, true, 80, 8},
		{"long-begin", listOf(">..................."), true, true, 80, 8},
		{"long-end", listOf("xxxxxxxxxxxxxxxxxxx>"), true, true, 80, 8},
		{"low", listOf("xx>.."), false, true, 80, 1},
		{"stranger", evil, false, false, 80, 8},
		{"stranger-open", evil, false, true, 80, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(uitest.Shared(t, nil, "plain"))
			if c.open {
				s.Toggle()
			}
			uitest.Golden(t, c.name, ansi.Strip(strings.Join(s.View(c.list, c.working, c.width, c.height), "\n")), c.width)
		})
	}
}

// TestFits checks that the list keeps to its size and shows the current item.
func TestFits(t *testing.T) {
	t.Parallel()
	shared := uitest.Shared(t, nil, "plain")
	rapid.Check(t, func(t *rapid.T) {
		marks := rapid.StringMatching(`[x.-]{0,12}>[x.-]{0,12}`).Draw(t, "marks")
		width, height := rapid.IntRange(45, 80).Draw(t, "width"), rapid.IntRange(1, 30).Draw(t, "height")
		s := New(shared)
		if rapid.Bool().Draw(t, "open") {
			s.Toggle()
		}
		lines := s.View(listOf(marks), false, width, height)
		if len(lines) == 0 || len(lines) > height {
			t.Fatalf("%d lines of %d", len(lines), height)
		}
		if want := fmt.Sprintf("number %d", strings.IndexByte(marks, '>')+1); height > 2 && !strings.Contains(strings.Join(lines, "\n")+"\n", want) {
			t.Fatalf("%q is not seen: %q", want, lines)
		}
		for _, l := range lines {
			if ansi.StringWidth(l) > width {
				t.Fatalf("%q is too wide", l)
			}
		}
	})
}
