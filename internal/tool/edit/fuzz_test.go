package edit

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzReplace holds every edit to what no edit may break.
func FuzzReplace(f *testing.F) {
	for _, s := range corpus(f) {
		if len(s.text)+len(s.edit.Old)+len(s.edit.New) < 4<<10 {
			f.Add(s.text, s.edit.Old, s.edit.New, s.edit.All, s.edit.ExactOnly)
		}
	}
	f.Fuzz(func(t *testing.T, text, old, wanted string, all, exactOnly bool) {
		e := Edit{Old: old, New: wanted, All: all, ExactOnly: exactOnly}
		done, err := Replace(text, e)
		if err != nil {
			if done.Text != "" || done.Pass != "" || done.Spans != nil {
				t.Errorf("an error and a result: %+v", done)
			}
			if len(err.Error()) > maxMessage+200 {
				t.Errorf("the reason has %d bytes", len(err.Error()))
			}
			if !utf8.ValidString(err.Error()) {
				t.Errorf("the reason is not UTF-8: %q", err)
			}
			return
		}
		checkSpans(t, text, e, done)
		checkUnique(t, text, e, done)
		checkLineEnds(t, text, e, done)
		if old == "" || old == wanted || exactOnly && done.Pass != Exact {
			t.Errorf("it was made, %s", done.Pass)
		}
	})
}

// checkSpans fails if a byte outside of the spans has changed.
func checkSpans(t *testing.T, text string, e Edit, done Done) {
	t.Helper()
	if len(done.Spans) == 0 || len(done.Spans) > 1 && !e.All {
		t.Fatalf("%d spans", len(done.Spans))
	}
	at := 0
	var kept []string
	for _, s := range done.Spans {
		if s.Start < at || s.End < s.Start || s.End > len(text) {
			t.Fatalf("spans %v of %d bytes", done.Spans, len(text))
		}
		kept = append(kept, text[at:s.Start])
		at = s.End
	}
	kept = append(kept, text[at:])
	rest := done.Text
	for i, k := range kept {
		n := strings.Index(rest, k)
		if n < 0 || i == 0 && n > 0 {
			t.Fatalf("%q is gone from %q", k, done.Text)
		}
		rest = rest[n+len(k):]
	}
	if last := kept[len(kept)-1]; !strings.HasSuffix(done.Text, last) {
		t.Fatalf("%q does not end with %q", done.Text, last)
	}
	if size := len(strings.Join(kept, "")); len(done.Text) < size {
		t.Fatalf("%d bytes are left of %d", len(done.Text), size)
	}
}

// checkUnique fails if the edit was made in one of several places, or loosely
// although it could be made exactly.
func checkUnique(t *testing.T, text string, e Edit, done Done) {
	t.Helper()
	if strings.Contains(text+e.Old+e.New, "\r") || strings.Contains(text+e.Old+e.New, bom) {
		return // the corpus is about those
	}
	count := 0
	for i := range len(text) {
		if strings.HasPrefix(text[i:], e.Old) && !cutsCharacter(text[i+len(e.Old):]) {
			count++
		}
	}
	if (done.Pass == Exact) != (count > 0) {
		t.Errorf("matched as %s, and is %d times there", done.Pass, count)
	}
	if e.All {
		return
	}
	key := map[Pass]func(string) string{Trimmed: trimmedKey, Shifted: trimmedKey, Spaced: spacedKey}[done.Pass]
	switch {
	case done.Pass == Exact:
		s := done.Spans[0]
		if want := text[:s.Start] + e.New + text[s.End:]; count != 1 || text[s.Start:s.End] != e.Old || done.Text != want {
			t.Errorf("%d times: got %q, want %q", count, done.Text, want)
		}
	case done.Pass == Folded && isASCII(text+e.Old):
		hay := strings.Join(lineKeys(text, trimRight), "\n")
		old, tail := foldedOld(e.Old)
		n := 0
		for i := range len(hay) {
			if rest, ok := strings.CutPrefix(hay[i:], old); ok && (strings.HasPrefix(rest, tail) || rest == "" || rest[0] == '\n') {
				n++
			}
		}
		if n != 1 {
			t.Errorf("matched as folded in one of %d places", n)
		}
	case key != nil:
		if n := windows(lineKeys(text, key), lineKeys(strings.TrimSuffix(e.Old, "\n"), key)); n != 1 {
			t.Errorf("matched as %s in one of %d places", done.Pass, n)
		}
	}
}

func lineKeys(text string, key func(string) string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = key(Fold(l))
	}
	return lines
}

func windows(lines, what []string) int {
	n := 0
	for i := range lines {
		if i+len(what) <= len(lines) && slices.Equal(lines[i:i+len(what)], what) {
			n++
		}
	}
	return n
}

// checkLineEnds fails if a file with one kind of line end has two afterwards.
func checkLineEnds(t *testing.T, text string, e Edit, done Done) {
	t.Helper()
	if strings.Contains(e.Old, "\r") || strings.Contains(strings.ReplaceAll(e.New, "\r\n", ""), "\r") {
		return // it asks for it
	}
	if done.Pass == Unescaped && strings.Contains(e.Old+e.New, `\r`) {
		return
	}
	crlf := strings.Count(text, "\r\n")
	if strings.Count(text, "\r") != crlf {
		return
	}
	switch got := strings.Count(done.Text, "\r\n"); {
	case crlf == 0 && strings.Contains(done.Text, "\r"):
		t.Errorf("CR in %q", done.Text)
	case crlf > 0 && crlf == strings.Count(text, "\n") && got != strings.Count(done.Text, "\n"):
		t.Errorf("LF without CR in %q", done.Text)
	case got != strings.Count(done.Text, "\r"):
		t.Errorf("CR without LF in %q", done.Text)
	}
}
