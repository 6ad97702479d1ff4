package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// record is a sink that writes down what it gets, and ends after some hits.
type record struct {
	hits []string
	text bytes.Buffer
	want int
}

func (r *record) skip(lines []byte) { r.text.Write(lines) }

func (r *record) hit(line []byte) bool {
	r.text.Write(line)
	r.hits = append(r.hits, string(line))
	r.want--
	return r.want != 0
}

// However the blocks fall, the lines are the same and none is lost.
func TestScanBlocks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([ab]{0,6}\n){0,20}[ab]{0,3}`).Draw(t, "text")
		source := rapid.SampledFrom([]string{"ab", "ab|ba", "a{3}", "^b", "a$", "^$", "x*", "(?i)BA", "a|b|ab"}).Draw(t, "pattern")
		p, err := ParsePattern(source, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for line := range bytes.Lines([]byte(text)) {
			if p.line.Match(bytes.TrimSuffix(line, []byte("\n"))) {
				want = append(want, string(line))
			}
		}
		s := scanner{pattern: p, buffer: make([]byte, rapid.IntRange(1, 30).Draw(t, "block"))}
		got := record{want: -1}
		if err := s.scan(t.Context(), iotest.OneByteReader(strings.NewReader(text)), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.hits); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(text, got.text.String()); diff != "" {
			t.Fatal(diff)
		}
		first := record{want: 1}
		if err := s.scan(t.Context(), strings.NewReader(text), &first); err != nil || len(first.hits) != min(1, len(want)) {
			t.Fatalf("%v, %d hits after the end", err, len(first.hits))
		}
	})
}

// A line of any length is read with bounded memory, and is one line.
func TestGiantLine(t *testing.T) {
	t.Parallel()
	const longest = blockBytes << 2
	const size = longest + longest/4
	giant := func() io.Reader {
		return io.MultiReader(
			strings.NewReader("1\nneedle"), io.LimitReader(blank{}, size), strings.NewReader("needle\nneedle 3\n4\n"),
			io.LimitReader(blank{}, size), strings.NewReader("needle 5"),
		)
	}
	s := scanner{pattern: pattern(t, "needle", Options{}), longest: longest}
	var n counter
	if err := s.scan(t.Context(), giant(), &n); err != nil || n != 3 || len(s.buffer) != longest {
		t.Errorf("%v, %d lines, a buffer of %d", err, n, len(s.buffer))
	}
	x := excerpt{pattern: s.pattern, hits: 10, chars: 20, context: 1}
	if err := s.scan(t.Context(), giant(), &x); err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for _, l := range x.lines {
		if l.Hit {
			numbers = append(numbers, l.Number)
		}
		if len(l.Text) > 30 {
			t.Errorf("line %d has %d bytes", l.Number, len(l.Text))
		}
	}
	if diff := cmp.Diff([]int{2, 3, 5}, numbers); diff != "" {
		t.Error(diff)
	}
}

// blank is a text of spaces without end.
type blank struct{}

func (blank) Read(p []byte) (int, error) { return copy(p, spaces), nil }

var spaces = bytes.Repeat([]byte(" "), 1<<20)

func TestScanErrors(t *testing.T) {
	t.Parallel()
	s := scanner{pattern: pattern(t, "x", Options{})}
	var n counter
	if err := s.scan(t.Context(), strings.NewReader("x\x00"), &n); !errors.Is(err, errBinary) || n != 0 {
		t.Errorf("%v, %d lines", err, n)
	}
	broken := errors.New("broken")
	if err := s.scan(t.Context(), io.MultiReader(strings.NewReader("x\n"), iotest.ErrReader(broken)), &n); !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.scan(ctx, strings.NewReader("x\n"), &n); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A long text is left off in the middle when its time is over.
func TestLongTextIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := runes{done: ctx.Err, text: spaces}
	n := 0
	for {
		if _, _, err := r.ReadRune(); err != nil {
			break
		}
		n++
	}
	if n > blockBytes {
		t.Errorf("%d characters were read", n)
	}
	if pattern(t, " $", Options{}).matches(ctx, append(spaces, spaces...)) {
		t.Error("what was not read to its end matches at its end")
	}
}

// Needles only rule out what does not match.
func TestNeedles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"foo": {"foo"}, "fo+": {"f"}, "(foo)+b": {"foo"}, "foo|bar": {"foo", "bar"}, "fo(o|x)bar": {"bar"},
		"(foo|ba)r": {"foo", "ba"}, "a?": nil, "foo|": nil, `\bfoo\b`: {"foo"}, "(?i)a": {"A", "a"}, "(?i)_1x": {"_1X", "_1x"},
		"(?i)k": {"K", "k", "\u212A"}, `a\x{FFFD}`: nil, "[ab]": nil,
		"a|b|cc|dd|ee|ff|gg|hh|ii|jj|kk|ll|mm|nn|oo|pp|qq": nil,
	} {
		if diff := cmp.Diff(want, pattern(t, text, Options{}).needles); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		p, err := ParsePattern(drawPattern(t, 4), Options{IgnoreCase: rapid.Bool().Draw(t, "fold")})
		if err != nil || len(p.needles) == 0 {
			return
		}
		line := rapid.StringMatching(`([abkKſéßÉ日 _.\-\\]|foo|FOO){0,8}`).Draw(t, "line")
		if newFinder(p.needles, []byte(line)).next(0) == len(line) && p.line.MatchString(line) {
			t.Fatalf("%q matches %q and holds none of %q", p.line, line, p.needles)
		}
	})
}
