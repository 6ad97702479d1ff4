package edit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sample is an edit with the expected result.
type sample struct {
	name    string
	text    string
	edit    Edit
	want    string
	pass    Pass
	refused []string // parts of the reason; nil if the edit is to be made
}

// TestCorpus makes every edit of testdata/cases. The README there describes
// the format. An edit is missed if it was refused and should not have been,
// and wrong if it was made and should not have been, or made otherwise.
func TestCorpus(t *testing.T) {
	t.Parallel()
	samples := corpus(t)
	wrong, missed := 0, 0
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			got, err := Replace(s.text, s.edit)
			switch {
			case s.refused == nil && err != nil:
				missed++
				t.Errorf("missed: %v", err)
			case s.refused != nil && err == nil:
				wrong++
				t.Errorf("wrong: it was made, %s:\n%s", got.Pass, clip(got.Text, 2000))
			case s.refused == nil && got.Text != s.want:
				wrong++
				t.Errorf("wrong (%s): %s", got.Pass, clip(cmp.Diff(s.want, got.Text), 4000))
			case s.refused == nil && got.Pass != s.pass:
				t.Errorf("it was matched as %s, not %s", got.Pass, s.pass)
			}
			for _, part := range s.refused {
				if err != nil && !strings.Contains(err.Error(), part) {
					t.Errorf("refused, but does not say %q:\n%v", part, err)
				}
			}
			if err != nil && len(err.Error()) > maxMessage+100 {
				t.Errorf("the reason has %d bytes", len(err.Error()))
			}
		})
	}
	if len(samples) < 140 {
		t.Errorf("only %d cases", len(samples))
	}
	fmt.Printf("edits-part: textedit %d cases, %d wrong, %d missed\n", len(samples), wrong, missed)
}

func TestReasonIsShort(t *testing.T) {
	t.Parallel()
	// Quoted, each of these bytes is four.
	file, old := "name of a file"+strings.Repeat("\x01", 200)+"\n", "name of a text"+strings.Repeat("\x01", 200)+"\n"
	_, err := Replace(strings.Repeat(file, 20), Edit{Old: strings.Repeat(old, 20), New: "x"})
	if err == nil || !strings.HasSuffix(err.Error(), "…") || len(err.Error()) > maxMessage+len("…") {
		t.Errorf("got %q", err)
	}
}

func corpus(t testing.TB) []sample {
	t.Helper()
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var samples []sample
	seen := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		theme := strings.TrimSuffix(filepath.Base(file), ".txt")
		for _, s := range parseCases(t, file, string(data)) {
			s.name = theme + "/" + s.name
			if seen[s.name] {
				t.Fatalf("two cases are called %s", s.name)
			}
			seen[s.name] = true
			samples = append(samples, s)
		}
	}
	return samples
}

func parseCases(t testing.TB, file, data string) []sample {
	t.Helper()
	var samples []sample
	var s *sample
	var sections map[string][]string
	section := ""
	finish := func() {
		if s == nil {
			return
		}
		text := func(name string) string { return strings.Join(sections[name], "\n") }
		s.text, s.want = text("file"), text("want")
		s.edit.Old, s.edit.New = text("old"), text("new")
		s.refused = sections["refused"]
		_, made := sections["want"]
		if made == (s.refused != nil) {
			t.Fatalf("%s: %s: needs either want or refused", file, s.name)
		}
		samples = append(samples, *s)
	}
	for i, l := range strings.Split(data, "\n") {
		kind, rest := "", ""
		if l != "" {
			kind, rest = l[:1], l[1:]
		}
		switch {
		case strings.HasPrefix(l, "== "):
			finish()
			s, section = &sample{name: l[3:], pass: Exact}, ""
			sections = map[string][]string{}
		case l == "" || kind == "#":
		case strings.HasPrefix(l, "-- "):
			section = l[3:]
			sections[section] = []string{}
		case section == "" && l == "all":
			s.edit.All = true
		case section == "" && l == "exact only":
			s.edit.ExactOnly = true
		case section == "" && strings.HasPrefix(l, "pass "):
			s.pass = Pass(l[5:])
		case section != "" && kind == "|":
			sections[section] = append(sections[section], rest)
		case section != "" && kind == ":":
			text, err := strconv.Unquote(`"` + strings.ReplaceAll(rest, `"`, `\"`) + `"`)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, i+1, err)
			}
			sections[section] = append(sections[section], text)
		case section != "" && kind == "*":
			count, format, _ := strings.Cut(rest, " ")
			from, to, ok := strings.Cut(count, "-")
			if !ok {
				from, to = "1", count
			}
			first, err1 := strconv.Atoi(from)
			last, err2 := strconv.Atoi(to)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatalf("%s:%d: %v", file, i+1, err)
			}
			for k := first; k <= last; k++ {
				sections[section] = append(sections[section], strings.ReplaceAll(format, "%d", strconv.Itoa(k)))
			}
		case section != "" && kind == "+":
			count, text, _ := strings.Cut(rest, " ")
			n, err := strconv.Atoi(count)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, i+1, err)
			}
			lines := sections[section]
			lines[len(lines)-1] += strings.Repeat(text, n)
		default:
			t.Fatalf("%s:%d: what is %q?", file, i+1, l)
		}
	}
	finish()
	return samples
}
