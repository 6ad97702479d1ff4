package textinput

import (
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// pieces are texts that have been hard on editors.
var pieces = rapid.OneOf(
	rapid.SampledFrom([]string{
		"a", " ", "word", "日本", "👩‍👩‍👧", "e\u0301", "\u0301", "\n", "\r\n", "\t", "\x1b[31m", "\u202e", "🇩🇪", "🇩", "\x00", "\xff", "@", "/", "a b", "\u200d",
	}),
	rapid.String(),
)

// anything does one thing to a text.
func anything(t *rapid.T, b *Buffer) {
	extend := rapid.Bool().Draw(t, "extend")
	at := rapid.IntRange(0, b.Len()).Draw(t, "at")
	switch rapid.IntRange(0, 13).Draw(t, "what") {
	case 0, 1, 2:
		b.Type(pieces.Draw(t, "typed"))
	case 3:
		b.Paste(pieces.Draw(t, "pasted"), rapid.Bool().Draw(t, "fold"))
	case 4:
		b.Delete(at, b.At())
	case 5:
		b.Kill(b.At(), at)
	case 6:
		b.Yank()
	case 7:
		b.Move(at, extend)
	case 8:
		b.Move(b.WordLeft(), extend)
	case 9:
		b.Move(b.WordRight(), extend)
	case 10:
		b.Vertical(rapid.IntRange(-1, 1).Draw(t, "by"), 7, extend)
	case 11:
		b.Move(b.LineStart(), extend)
	case 12:
		b.Undo()
	case 13:
		b.Redo()
	}
}

// TestWhateverIsDone: the text is its pieces, what is shown is all of it and no
// control, and what was done can be undone and done again.
func TestWhateverIsDone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := &Buffer{}
		for range rapid.IntRange(0, 25).Draw(t, "n") {
			anything(t, b)
			if b.At() < 0 || b.At() > b.Len() {
				t.Fatalf("the cursor is at %d of %d", b.At(), b.Len())
			}
		}
		text := b.String()
		var whole strings.Builder
		for _, p := range b.Pieces() {
			whole.WriteString(p.Text)
		}
		if whole.String() != text {
			t.Fatalf("pieces: %q, text: %q", whole.String(), text)
		}
		checkRows(t, b, rapid.IntRange(1, 12).Draw(t, "width"))
		steps := 0
		for b.Undo() {
			steps++
		}
		if b.String() != "" {
			t.Fatalf("undone: %q", b.String())
		}
		for range steps {
			b.Redo()
		}
		if b.String() != text {
			t.Fatalf("done again: %q, want %q", b.String(), text)
		}
	})
}

func checkRows(t *rapid.T, b *Buffer, width int) {
	rows := b.Rows(width)
	next := 0
	for i, r := range rows {
		if r.From != next || r.To < r.From {
			t.Fatalf("row %d is %v, want it to begin at %d", i, r, next)
		}
		if next = r.To; next < b.Len() && b.chars[next].text == "\n" && !b.chars[next].fold {
			next++
		}
	}
	if next != b.Len() {
		t.Fatalf("the rows end at %d of %d", next, b.Len())
	}
	for _, line := range b.Draw(width, 0, len(rows), nil) {
		if w := ansi.StringWidth(line); w > width {
			t.Fatalf("%q takes %d of %d cells", line, w, width)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || r == '\u202e' }) {
			t.Fatalf("a control shows: %q", line)
		}
	}
	if x, y := b.Cursor(width); x > width || y >= len(rows) {
		t.Fatalf("the cursor is at %d,%d of %d rows", x, y, len(rows))
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		width      int
		want       []string
	}{
		{"nothing", "", 5, []string{""}},
		{"a line", "abc", 5, []string{"abc"}},
		{"words stay whole", "one two three", 8, []string{"one two ", "three"}},
		{"a long word does not", "abcdefgh", 3, []string{"abc", "def", "gh"}},
		{"after a word it begins anew", "a bcdefgh", 5, []string{"a ", "bcdef", "gh"}},
		{"blanks hang over", "abcde  f", 5, []string{"abcde", "f"}},
		{"wide ones", "日本語", 5, []string{"日本", "語"}},
		{"line ends", "a\n\nb\n", 5, []string{"a", "", "b", ""}},
		{"tabs", "\ta", 8, []string{"    a"}},
		{"what hides", "a\u202eb", 12, []string{`a\u{202e}b`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &Buffer{}
			b.Type(c.text)
			got := b.Draw(c.width, 0, 100, nil)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMentions: an @ counts if it was typed, at the beginning of a word.
func TestMentions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		write func(b *Buffer)
		want  []string
	}{
		{"typed", func(b *Buffer) { b.Type("see @a/b.go, (@c) and x@y.z @") }, []string{"@a/b.go", "@c"}},
		{"pasted", func(b *Buffer) { b.Paste("see @a and @b", false) }, nil},
		{"in quotes", func(b *Buffer) { b.Type(`see @"a b/c" and @"no end`) }, []string{`@"a b/c"`}},
		{"folded", func(b *Buffer) { b.Paste("@a", true) }, nil},
		{"typed before what was pasted", func(b *Buffer) { b.Type("@"); b.Paste("a/b", false) }, []string{"@a/b"}},
		{"behind what was pasted", func(b *Buffer) { b.Paste("x ", false); b.Type("@a") }, []string{"@a"}},
		{"killed and yanked", func(b *Buffer) { b.Paste("@a", false); b.Kill(0, 2); b.Yank() }, nil},
		{"undone and redone", func(b *Buffer) { b.Paste("@a", false); b.Clear(); b.Undo() }, nil},
		{"kept and set again", func(b *Buffer) { b.Paste("@a", false); b.Type(" @b"); b.Set(b.Pieces()) }, []string{"@b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &Buffer{}
			c.write(b)
			var got []string
			for _, r := range b.Mentions() {
				got = append(got, b.Slice(r.From, r.To))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTakePaste: a paste is taken out whole, or not at all.
func TestTakePaste(t *testing.T) {
	t.Parallel()
	b := &Buffer{}
	b.Type("a ")
	n := b.Paste("/x/y", false)
	b.Type(" b")
	if b.Move(b.Len(), false); !b.TakePaste(n, "/x/y") || b.String() != "a  b" || b.At() != 4 {
		t.Errorf("%q at %d", b.String(), b.At())
	}
	if b.TakePaste(n, "/x/y") {
		t.Error("taken twice")
	}
	n = b.Paste("/x/y", false)
	b.Move(b.At()-2, false)
	if b.Type("!"); b.TakePaste(n, "/x/y") || b.String() != "a  b/x!/y" {
		t.Errorf("one that was changed was taken: %q", b.String())
	}
	n = b.Paste("/z", false)
	if b.Delete(b.At()-1, b.At()); b.TakePaste(n, "/z") {
		t.Errorf("one that lost a letter was taken: %q", b.String())
	}
}

// BenchmarkType types a letter into a long text and draws it.
func BenchmarkType(b *testing.B) {
	t := &Buffer{}
	t.Type(strings.Repeat("some words of a long text, and more.\n", 500))
	for b.Loop() {
		t.Type("x")
		t.Cursor(80)
		t.Draw(80, 0, 10, nil)
		t.Undo()
	}
}
