package syntax

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
)

// letters is a palette of readable prefixes instead of SGR sequences.
var letters = &Palette{"", "k:", "s:", "n:", "r:", "f:"}

func marked(l *Lexer, line string) string {
	var b strings.Builder
	for _, s := range l.Line(line, letters, "") {
		if s.SGR == "" {
			b.WriteString(s.Text)
		} else {
			b.WriteString("[" + string(s.SGR) + s.Text + "]")
		}
	}
	return b.String()
}

func TestLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lang        string
		lines, want []string
	}{
		{"go", []string{`func main() { x := "a\"b" + 'c' // done`, "var s = `raw", "still` + 0x1f"},
			[]string{`[k:func] [f:main]() { x := [s:"a\"b"] + [s:'c'] [r:// done]`, "[k:var] s = [s:`raw]", "[s:still`] + [n:0x1f]"}},
		{"a/b.py", []string{`def f(x): """doc`, `more""" # end`}, []string{`[k:def] [f:f](x): [s:"""doc]`, `[s:more"""] [r:# end]`}},
		{"SQL", []string{"SELECT 'x' -- all"}, []string{"[k:SELECT] [s:'x'] [r:-- all]"}},
		{"main.c", []string{"/* a", "b */ return;"}, []string{"[r:/* a]", "[r:b */] [k:return];"}},
		{"rust", []string{"fn f<'a>(x: &'a str)"}, []string{"[k:fn] f<'a>(x: &'a [k:str])"}},
		{"Makefile", []string{"all: x # y"}, []string{"[f:all]: x [r:# y]"}},
		{"no such", []string{"func x // y"}, []string{"func x // y"}},
	} {
		l := For(c.lang)
		var got []string
		for _, line := range c.lines {
			got = append(got, marked(&l, line))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.lang, diff)
		}
	}
}

// No byte of the code is lost, whatever it is.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	var names []string
	for n := range languages() {
		names = append(names, n)
	}
	rapid.Check(t, func(t *rapid.T) {
		l := For(rapid.SampledFrom(names).Draw(t, "language"))
		for range 3 {
			line := rapid.StringMatching("[\"'`/*#<!\\-a-z0-9\\\\ {(\\[é]{0,40}").Draw(t, "line")
			var b strings.Builder
			for _, s := range l.Line(line, letters, layout.SGR("u")) {
				b.WriteString(s.Text)
			}
			if b.String() != line {
				t.Fatalf("got %q, want %q", b.String(), line)
			}
		}
	})
}
