package patch

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"
)

// FuzzPatch reads any text as a patch and applies it to any file.
func FuzzPatch(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("testdata", "cases", "*.txtar"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no cases: %v", err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		var file, patch string
		for _, part := range archive.Files {
			text := strings.NewReplacer("§", "", `\r`, "\r", `\c`+"\n", "", `\ufeff`, bom, `\u00a0`, "\u00a0", `\x20`, " ").Replace(string(part.Data))
			switch {
			case part.Name == "patch":
				patch = text
			case strings.HasPrefix(part.Name, "before/") && file == "" && len(text) < 1<<10:
				file = text
			}
		}
		f.Add(file, patch)
	}
	f.Fuzz(func(t *testing.T, file, text string) {
		p, err := Parse(text)
		if err != nil {
			if len(p.Files) > 0 {
				t.Fatal("a patch that was refused has files")
			}
			return
		}
		if len(p.Paths()) < len(p.Files) {
			t.Fatal("a section has no path")
		}
		for _, f := range p.Files {
			_, _ = checkApply(t, file, f.Hunks) // either will do
		}
	})
}

// fataler is a test of either kind.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkApply applies hunks and checks that nothing else has changed.
func checkApply(t fataler, file string, hunks []Hunk) (string, error) {
	t.Helper()
	result, _, err := Apply(context.Background(), file, hunks)
	if err != nil {
		if result != "" {
			t.Fatalf("it was refused and changed something: %q", result)
		}
		if len(err.Error()) > nearestBytes+2000 {
			t.Fatalf("a refusal of %d bytes", len(err.Error()))
		}
		return "", err
	}
	old, now := cut(file), cut(result)
	if old.bom != "" {
		hunks = unmarked(hunks)
	}
	places, err := newFinder(old, hunks).places(context.Background())
	if err != nil {
		t.Fatalf("applied and then refused: %v", err)
	}
	if old.bom != now.bom {
		t.Fatalf("the byte order mark was %q and is %q", old.bom, now.bom)
	}
	at, next := 0, 0 // in the old file and the new
	same := func(to int) {
		for ; at < to; at, next = at+1, next+1 {
			if next >= now.len() {
				t.Fatalf("line %d is lost: %q", at+1, result)
			}
			more, ok := strings.CutPrefix(now.raw(next, next+1), old.raw(at, at+1))
			ended := old.end(at) == "" && at+1 == old.len() // it may have got an end; a \r that it had is part of that then
			if !ok || more != "" && (!ended || strings.Trim(more, "\r\n") != "") {
				t.Fatalf("line %d was %q and is %q", at+1, old.raw(at, at+1), now.raw(next, next+1))
			}
		}
	}
	added, removed := 0, 0
	for _, inOrder := range []bool{true, false} {
		for i, h := range hunks {
			if places[i].order != inOrder {
				continue
			}
			if places[i].at < at {
				t.Fatalf("hunk %d is put at line %d, which is done already", i+1, places[i].at+1)
			}
			same(places[i].at)
			for _, l := range h.Lines {
				switch l.Kind {
				case Kept:
					same(at + 1)
				case Removed:
					removed++
					at++
				case Added:
					if next >= now.len() || strings.TrimSpace(now.line(next)) != strings.TrimSpace(l.Text) {
						t.Fatalf("%q was not added: %q", l.Text, result)
					}
					added++
					next++
				}
			}
		}
	}
	same(old.len())
	if now.len() != old.len()-removed+added || next != now.len() {
		t.Fatalf("%d lines, less %d, and %d more, are %d", old.len(), removed, added, now.len())
	}
	return result, nil
}

// A patch that is made from the file itself, with any change and any amount of
// context, is applied as it was meant or refused; with all of the file as
// context it is applied.
func TestNeverElsewhere(t *testing.T) {
	t.Parallel()
	applied := 0
	property := func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a", "b", "", "  a"}), 1, 14).Draw(t, "file")
		file, want, whole := strings.Join(lines, "\n")+"\n", "", Hunk{Lines: []Line{}}
		var hunks []Hunk
		var open *Hunk
		after := 0 // lines of context that the hunk still wants after its change
		for i, line := range lines {
			switch kind := rapid.SampledFrom([]string{"keep", "keep", "keep", "remove", "replace", "insert", "append"}).Draw(t, "what"); kind {
			case "keep":
				want += line + "\n"
				whole.Lines = append(whole.Lines, Line{Kept, line})
				if open != nil && after > 0 {
					open.Lines = append(open.Lines, Line{Kept, line})
					after--
				}
				if after == 0 {
					open = nil
				}
			default:
				if open == nil {
					before := min(rapid.IntRange(0, 3).Draw(t, "before"), i, kept(whole.Lines))
					hunks = append(hunks, Hunk{Lines: append([]Line{}, whole.Lines[len(whole.Lines)-before:]...)})
					open = &hunks[len(hunks)-1]
				}
				after = rapid.IntRange(0, 3).Draw(t, "after")
				change := map[string][]Line{
					"remove": {{Removed, line}}, "replace": {{Removed, line}, {Added, "new"}}, "insert": {{Added, "new"}, {Kept, line}}, "append": {{Kept, line}, {Added, "new"}},
				}[kind]
				for _, l := range change {
					if l.Kind != Removed {
						want += l.Text + "\n"
					}
				}
				open.Lines = append(open.Lines, change...)
				whole.Lines = append(whole.Lines, change...)
				if after == 0 {
					open = nil
				}
			}
		}
		if len(hunks) == 0 {
			return
		}
		got, err := checkApply(t, file, hunks)
		if err == nil {
			applied++
			if got != want {
				t.Fatalf("%q became %q and should be %q", file, got, want)
			}
		}
		if got, err := checkApply(t, file, []Hunk{whole}); err != nil || got != want {
			t.Fatalf("with all of the file: %q, %v, want %q", got, err, want)
		}
	}
	for range 20 { // runs of 100 files each
		rapid.Check(t, property)
	}
	if applied == 0 {
		t.Error("no patch was applied")
	}
}

// kept counts the lines at the end that stay, and so can be another hunk's context.
func kept(lines []Line) int {
	n := 0
	for n < len(lines) && lines[len(lines)-1-n].Kind == Kept {
		n++
	}
	return n
}
