package lineui

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// pieces says a text in pieces, and returns what was written at each.
func pieces(list ...string) []string {
	var out bytes.Buffer
	v := &printer{w: &out}
	s := newSentenceWriter(v, "pawl")
	var messages []string
	for _, piece := range list {
		s.write(piece)
		messages = append(messages, out.String())
		out.Reset()
	}
	s.end()
	return append(messages, out.String())
}

func TestSentences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   []string
		want []string
	}{
		{"a sentence is said once it has ended", []string{"I will", " look. It", " has"}, []string{"", "pawl: I will look.", "", " It has"}},
		{"its end is seen by the blank behind it", []string{"pi is 3.", "14. Yes", "!"}, []string{"", "pawl: pi is 3.14.", "", " Yes!"}},
		{"in quotes and brackets", []string{`He said "no." (Twice.) `, "x"}, []string{`pawl: He said "no." (Twice.)`, "", " x"}},
		{"a line", []string{"a\nb", "\nc"}, []string{"pawl: a", "\n  b", "\n  c"}},
		{"other scripts", []string{"一。二", "三"}, []string{"pawl: 一。", "", "二三"}},
		{"blank lines", []string{"\n\na\n\n\n\nb\n\n"}, []string{"pawl: a\n\n\n  b", ""}},
		{"a sequence that a sentence's end would cut", []string{"a\x1b]0;x. y", "\x07b"}, []string{"pawl: a", "", "b"}},
		{"nothing", []string{"", "\n"}, []string{"", "", ""}},
	} {
		if diff := cmp.Diff(c.want, pieces(c.in...)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
}

// A very long sentence is said by whole words, and not held back for ever.
func TestLongSentence(t *testing.T) {
	t.Parallel()
	got := pieces(strings.Repeat("word ", maxBuffered/4), "and more")
	if !strings.HasSuffix(got[0], "word") || len(got[0]) < maxBuffered {
		t.Errorf("%d bytes were said", len(got[0]))
	}
}

// What is said does not depend on the pieces in which a text comes.
func TestPiecesDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(hostile)).Draw(r, "text"), "")
		var cut []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(r, "n")
			cut = append(cut, rest[:n])
			rest = rest[n:]
		}
		if diff := cmp.Diff(strings.Join(pieces(text), ""), strings.Join(pieces(cut...), "")); diff != "" {
			r.Fatalf("%q in %q: (-whole +pieces)\n%s", text, cut, diff)
		}
	})
}

// What is said in the middle of a sentence ends its line; the sentence goes on moved in.
func TestInterruptedSpeech(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	v := &printer{w: &out}
	s := newSentenceWriter(v, "pawl")
	s.write("One. Two")
	v.printf("note: hm")
	s.write(". Three")
	s.end()
	v.endLine()
	v.endLine()
	if diff := cmp.Diff("pawl: One.\nnote: hm\n  Two. Three\n", out.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
