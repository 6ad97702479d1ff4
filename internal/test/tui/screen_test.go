package tui

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/frontend/tui/theme"
)

// TestParse parses a capture of tmux: colors, weights and wide characters.
func TestParse(t *testing.T) {
	t.Parallel()
	got := parse("\x1b[1m\x1b[38;2;1;2;3ma\x1b[0m世\x1b[48;5;7m.\n\x1b[49m\x1b[7mb\x1b[27m\x1b[31mc\n")
	colored := Style{Fore: "#010203", Bold: true}
	want := Screen{
		{{"a", colored}, {"世", Style{}}, {"", Style{}}, {".", Style{Back: "ansi 7"}}},
		{{"b", Style{Reverse: true}}, {"c", Style{Fore: "ansi 31"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestMasks checks that everything that differs from run to run is masked, and that
// the rest stays in its column.
func TestMasks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "a plain line", "a plain line"},
		{"a folder", "/tmp/pawl-abcdefgh/shop", "/home/ada/projects/shop"},
		{"seconds", "Done · 12 s", "Done · 0.1 s"},
		{"minutes", "Done · 3 min 7 s · x", "Done · 0.1 s · x"},
		{"in a box, shorter", "│ took 3 min 7 s    │", "│ took 0.1 s        │"},
		{"in a box, longer", "│ took 9 s          │", "│ took 0.1 s        │"},
		{"at the right in a box, longer", "│ a task      works  9 s │", "│ a task    works  0.1 s │"},
		{"at the right in a box, shorter", "│ a task   works  1 min 9 s │", "│ a task       works  0.1 s │"},
		{"two of them", "1.5 s and 2.5 s", "0.1 s and 0.1 s"},
		{"a countdown", "attempt 2, in 17 s", "attempt 2, in 20 s"},
		{"a call that took a while", " ● bash make · exit 0 · 3 s  ", " ● bash make · exit 0"},
		{"a date", "at  3 Jan 12:34 idle", "at 15 Nov 10:00 idle"},
		{"wide characters before", "世界 9.5 s", "世界 0.1 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := masked(parse(c.in + "\n")).String(); got != c.want+"\n" {
				t.Errorf("got  %q\nwant %q", got, c.want+"\n")
			}
		})
	}
}

// TestLooks checks that a color is named by its meaning in the theme.
func TestLooks(t *testing.T) {
	t.Parallel()
	dark := theme.Builtin[0]
	cell := func(s Style) Cell { return Cell{"x", s} }
	row := []Cell{
		cell(Style{Fore: dark.Colors.Text}), cell(Style{Fore: dark.Colors.Muted}), cell(Style{Fore: dark.Colors.Bad}),
		cell(Style{Fore: dark.Colors.Text, Bold: true}), cell(Style{Fore: dark.Colors.Text, Back: dark.Colors.Added}),
		cell(Style{Reverse: true}), cell(Style{}), cell(Style{Fore: "#123456"}), {" ", Style{}},
	}
	if got, want := (Screen{row}).Looks(dark), ".mbB+Rn?\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
