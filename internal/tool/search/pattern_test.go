package search

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/workspace"
)

// texts hold what patterns may see differently: line ends, Unicode, broken bytes.
var texts = []string{
	"", "\n", "\n\n", "a", "a\n", "a\r\n", "\r\n", "a\rb\n", "ab\nb\n", "foo\nbar\nfoo", "foo bar\n", " \t\n", "x\n\n\ny",
	"é\n", "aéb\n", "ÄÖÜ äöü\n", "ſ K\n", "ß ẞ\n", "日本語\n", "١٢٣ 123\n", "\u2028a\u0085\n", "a\u00a0b\n", "\uFEFFfoo\n",
	"\xff\n", "a\xffb\n", "\xe9t\xe9\n", "a\xe2\x82b\n", "\xed\xa0\x80\n", "\uFFFD\n", "a\vb\fc\n", "\x01\x02\n",
	"func (s *Store) Open() error {\n\treturn nil // TODO: 42\n}\n", "[x] {y} a.b a+b a*b $5 ^ | \\ -\n", "_\n", "aa bb cc\n",
}

// TestPatternTable says what patterns match, with each engine.
func TestPatternTable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern string
		opts    Options
		text    string
		want    int // lines
	}{
		{`foo`, Options{}, "foo\nfoofoo\nFoo\n", 2},
		{`foo`, Options{IgnoreCase: true}, "foo\nFOO\nfo\n", 2},
		{`(?i)straße`, Options{}, "STRAßE\nStraẞe\nSTRASSE\n", 2},
		{`k`, Options{IgnoreCase: true}, "K\n\u212A\nx\n", 2}, // the Kelvin sign
		{`a.c`, Options{Literal: true}, "abc\na.c\n", 1},
		{`A.C`, Options{Literal: true, IgnoreCase: true}, "abc\na.c\n", 1},
		{`interface{}`, Options{}, "interface{}\n", 1},
		{`^foo$`, Options{}, "foo\n foo\nfoo\r\nfoo", 3},
		{`^$`, Options{}, "\n\r\nx\n\n", 3},
		{`^$`, Options{}, "x\n", 0},
		{`^`, Options{}, "x\ny", 2},
		{`$`, Options{}, "", 0},
		{`\Afoo\z`, Options{}, "x\nfoo\nfoo", 2},
		{`(?s)a.b`, Options{}, "a\nb\na b\n", 1},
		{`a\sb`, Options{}, "a\nb\na\tb\na\u00a0b\n", 1},
		{`[^x]`, Options{}, "x\n\nxy\n", 1},
		{`\d`, Options{}, "1\n١\n", 1},
		{`\w`, Options{}, "é\ne\n", 1},
		{`\bfoo\b`, Options{}, "foo\néfoo\nafoo\nfoo-bar\n", 3},
		{`\Bo`, Options{}, "foo\no\n", 1},
		{`\B`, Options{}, "aéb\na b\n--\n", 1},
		{`\pL`, Options{}, "é\n1\n", 1},
		{`\PL`, Options{}, "é\n1\n", 1},
		{`[[:upper:]]`, Options{}, "a\nÄ\nA\n", 1},
		{`.`, Options{}, "\xff\n\uFFFD\na\n\n", 1},
		{`^.$`, Options{}, "é\nab\n日\n", 2},
		{`caf..`, Options{}, "caf\xe9 x\ncafé x\n", 1},
		{`\x{FFFD}`, Options{}, "\uFFFD\na\n", 1},
		{`[\na]`, Options{}, "a\n\n", 1},
		{`[^\x00-\x{10FFFF}]`, Options{}, "a\n", 0},
		{`a{2,3}`, Options{}, "a\naa\n", 1},
		{`(a|b)*c`, Options{}, "abac\nab\n", 1},
		{`a||b`, Options{}, "x\n\n", 2},
		{`(?:)`, Options{}, "x\ny", 2},
		{`foo|bar|baz`, Options{}, "bar\nqux\nbaz foo\n", 2},
		{`x*`, Options{}, "a\n\nx", 3},
		{`-e`, Options{}, "-e\ne\n", 1},
		{`\Qa.b\E`, Options{}, "a.b\naxb\n", 1},
		{`(?P<n>a)(?<m>b)`, Options{}, "ab\n", 1},
		{`\x{D800}|a`, Options{}, "a\n\xed\xa0\x80\n", 1},
	}
	for name, engine := range engines(t) {
		for _, test := range tests {
			dir := folderOf(t, map[string]string{"f": test.text})
			found := engine.Count(t.Context(), Job{
				Workspace: open(t, dir), Dir: dir, Pattern: pattern(t, test.pattern, test.opts), Files: []string{"f"},
			})
			var want Counts
			if test.want > 0 {
				want.Files = []File{{Path: "f", Count: test.want}}
			}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Errorf("%s: %s %+v in %q: %s", name, test.pattern, test.opts, test.text, diff)
			}
		}
	}
}

func TestWrongPattern(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern string
		opts    Options
		says    string
	}{
		{``, Options{}, "the pattern is empty"},
		{`foo(`, Options{}, `the pattern is wrong: missing closing ): foo(: put a \ before special characters, or set literal`},
		{`foo)`, Options{}, `unexpected ): foo): put a \ before`},
		{`[a`, Options{}, `missing closing ]: [a: put a \ before`},
		{`*a`, Options{}, `missing argument to repetition operator: *: put a \ before`},
		{`a{1001}`, Options{}, `invalid repeat count: {1001}`},
		{`(?=a)`, Options{}, `invalid or unsupported Perl syntax: (?=: the syntax is RE2's, without lookaround and back references`},
		{`(a)\1`, Options{}, `invalid escape sequence: \1: the syntax is RE2's`},
		{`\y`, Options{}, `invalid escape sequence: \y`},
		{"a\xff", Options{}, "invalid UTF-8"},
		{`foo\nbar`, Options{}, "the pattern is wrong: it has a line break, and lines are searched one by one: search for one of the lines"},
		{"foo\nbar", Options{Literal: true}, "it has a line break"},
		{`(ab|\n)`, Options{IgnoreCase: true}, "it has a line break"},
		{`[\n]`, Options{}, "it has a line break"},
	}
	for _, test := range tests {
		_, err := ParsePattern(test.pattern, test.opts)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%q: got %v, want %q", test.pattern, err, test.says)
		}
	}
}

// drawPattern draws a pattern from a grammar.
func drawPattern(t *rapid.T, depth int) string {
	atom := rapid.SampledFrom([]string{
		"a", "b", "foo", "é", "日", "ß", "ſ", "k", "K", ".", `\d`, `\D`, `\w`, `\W`, `\s`, `\S`, `\pL`, `\PL`, `\p{Greek}`, "[ab]", "[^a]", "[^é]",
		"[a-z]", "[[:alpha:]]", "[[:^space:]]", `[\w-]`, `[^\W\d]`, `\x{65E5}`, `\t`, `\r`, `\.`, `\\`, "^", "$", `\A`, `\z`, `\b`, `\B`, "(?:)", " ", "_", "-",
		`\x{FFFD}`, `[\x{FFFC}-\x{FFFF}]`, `\x{80}`, `[\x00-\x{10FFFF}]`,
	})
	if depth == 0 {
		return atom.Draw(t, "atom")
	}
	sub := func() string { return drawPattern(t, rapid.IntRange(0, depth-1).Draw(t, "depth")) }
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		return sub() + sub()
	case 1:
		return sub() + sub() + sub()
	case 2:
		return "(" + sub() + "|" + sub() + ")"
	case 3:
		return "(?:" + sub() + ")" + rapid.SampledFrom([]string{"*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{0}", "{2,3}?"}).Draw(t, "repeat")
	case 4:
		return "(" + rapid.SampledFrom([]string{"?i:", "?s:", "?m:", "?U:", "?is:", "?-i:", "?P<x>", ""}).Draw(t, "flags") + sub() + ")"
	default:
		return atom.Draw(t, "atom")
	}
}

// enginesAgree lets both engines count in all texts. Ripgrep has to do it
// itself, unless the pattern cannot be said to it.
func enginesAgree(t *rapid.T, dir string, drawn []string) {
	opts := Options{Literal: rapid.IntRange(0, 9).Draw(t, "literal") == 0, IgnoreCase: rapid.IntRange(0, 3).Draw(t, "fold") == 0}
	text := drawPattern(t, 4)
	p, err := ParsePattern(text, opts)
	if err != nil {
		return // TestWrongPattern's
	}
	ws, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	job := Job{Workspace: ws, Dir: dir, Pattern: p}
	for i, text := range slices.Concat(texts, drawn) {
		name := fmt.Sprintf("%03d", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		job.Files = append(job.Files, name)
	}
	if p.rg == "" {
		return
	}
	rg := ripgrep{installed()}
	got, ok := rg.run(t.Context(), rg.program(dir), job)
	if diff := cmp.Diff(own{}.Count(t.Context(), job), got); diff != "" || !ok {
		t.Fatalf("%q %+v, for ripgrep %q: %v, own is -, rg is + %s", text, opts, p.rg, ok, diff)
	}
}

// pieces are what texts are made of, whole characters and parts of some.
var pieces = rapid.SampledFrom([]string{
	"a", "b", "k", "K", "ſ", "é", "É", "ß", "foo", "FOO", "日", " ", "_", ".", "-", "1", "\r", "\n", "\t", "\x00", "\xff", "\xc3", "\xa9", "\xe6\x97", "\uFFFD",
})

func TestEnginesAgree(t *testing.T) {
	t.Parallel()
	engines(t)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var drawn []string
		for range 5 {
			drawn = append(drawn, strings.Join(rapid.SliceOf(pieces).Draw(t, "text"), ""))
		}
		enginesAgree(t, dir, drawn)
	})
}

func FuzzEnginesAgree(f *testing.F) {
	dir := f.TempDir()
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		enginesAgree(t, dir, []string{string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))})
	}))
}
