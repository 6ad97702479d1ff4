package patch

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse(strings.Join([]string{
		"*** Begin Patch",
		"*** Add File: new file.txt",
		"+one",
		"",
		"++two",
		"*** Delete File: gone",
		"",
		"*** Update File: old",
		"*** Move to: sub/new",
		" first",
		"-second",
		"*** End of File",
		"@@ class A",
		"@@\tdef b():  ",
		"+x",
		"",
		" y",
		"",
		"@@",
		"@@ z @@",
		"-",
		"*** Update File: renamed",
		"*** Move to: named",
		"*** End Patch",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Patch{Files: []File{
		{Op: Add, Path: "new file.txt", Content: "one\n\n+two\n", Line: 2},
		{Op: Delete, Path: "gone", Line: 6},
		{Op: Update, Path: "old", MoveTo: "sub/new", Line: 8, Hunks: []Hunk{
			{Lines: []Line{{Kept, "first"}, {Removed, "second"}}, AtEnd: true, Line: 10},
			{Headers: []string{"class A", "\tdef b():"}, Lines: []Line{{Added, "x"}, {Kept, ""}, {Kept, "y"}}, Line: 13},
			{Headers: []string{"z"}, Lines: []Line{{Removed, ""}}, Line: 19},
		}},
		{Op: Update, Path: "renamed", MoveTo: "named", Line: 22},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"new file.txt", "gone", "old", "sub/new", "renamed", "named"}, got.Paths()); diff != "" {
		t.Error(diff)
	}
}

// What is refused is named by its line and, where it is long, shown in part.
func TestParseRefusals(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 100)
	for text, says := range map[string]string{
		"":                                     `line 1 of the patch: "*** Begin Patch" is missing`,
		"\n\n":                                 `line 3 of the patch: "*** Begin Patch" is missing`,
		"*** Begin Patch":                      `line 1 of the patch: the patch ends without "*** End Patch"`,
		"*** Begin Patch\n*** Update File: a":  `line 2 of the patch: the section of a has no hunk`,
		long:                                   `line 1 of the patch: "` + strings.Repeat("é", 80) + `…" stands where`,
		"*** Begin Patch\n*** Update File: \n": `line 2 of the patch: a path must follow "*** Update File:"`,
		"*** Begin Patch\n*** Update File: a\n*** Move to:\n":                       `line 3 of the patch: a path must follow "*** Move to:"`,
		"*** Begin Patch\n*** Update File: a\n@@ x\n*** End of File\n":              `line 3 of the patch: the hunk changes nothing`,
		"*** Begin Patch\n*** Update File: a\n*** End of File\n":                    `line 3 of the patch: the hunk changes nothing`,
		"*** Begin Patch\n*** Update File: a\n@@ -1,2 +3 @@ func\n-x\n":             `line 3 of the patch: line numbers are not used`,
		"*** Begin Patch\n*** Update File: a\n-x\n\tx\n":                            `line 4 of the patch: "\tx": each line of a hunk begins with a space`,
		"*** Begin Patch\n*** Add File: a\n@@\n":                                    `line 3 of the patch: "@@": each line of a new file begins with +`,
		"*** Begin Patch\n*** Delete File: a\n-x\n":                                 `line 3 of the patch: "-x" belongs to no file`,
		"<<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEND\n":          `line 5 of the patch: "END" stands after "*** End Patch"`,
		"*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\n":                 `line 4 of the patch: "EOF" stands after "*** End Patch"`,
		"*** Begin Patch\n***Delete File: a\n*** End Patch\n":                       `line 2 of the patch: "***Delete File: a" is not known here`,
		"*** Begin Patch\n*** Update File: a\n-x\n*** Frobnicate\n*** End Patch\n":  `line 4 of the patch: "*** Frobnicate" is not known here`,
		"*** Begin Patch\n*** Move to: a\n*** End Patch\n":                          `line 2 of the patch: "*** Move to:" must follow directly`,
		"*** Begin Patch\n*** Add File: a\n+x\n *** End Patch\n*** End Patch\n":     `line 4 of the patch: " *** End Patch": each line of a new file begins with +`,
		"*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n *** End Patch\n":         `the patch ends without "*** End Patch"`,
		"*** Begin Patch\n*** Update File: a\n--- a/a\n+++ b/a\n@@\n-x\n+y\n":       `line 3 of the patch: leave out the lines --- and +++`,
		"*** Begin Patch\n*** Update File: a\n*** Move to: b\n--- a/a\n+++ b/a\n\n": `line 4 of the patch: leave out the lines --- and +++`,
	} {
		p, err := Parse(text)
		if err == nil || !strings.HasPrefix(err.Error(), says) && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want %q", text, err, says)
		}
		if diff := cmp.Diff(Patch{}, p); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestFindShift(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name              string
		patch, file       []string
		add               string
		want, notIndented string
	}{
		{"the same", []string{" a", "  b"}, []string{" a", "  b"}, "   c", "   c", ""},
		{"deeper", []string{"a", " b"}, []string{"  a", "   b"}, "  c", "    c", ""},
		{"less deep", []string{"  a", "   b"}, []string{"a", " b"}, "  c", "c", " c"},
		{"deeper, by a tab", []string{"a", "\tb"}, []string{"\ta", "\t\tb"}, "", "", ""},
		{"blank lines do not count", []string{"a", "", "b"}, []string{" a", "     ", " b"}, "c", " c", ""},
		{"blank lines are not indented", []string{"a"}, []string{" a"}, "  ", "  ", ""},
		{"tabs", []string{"a", "  b", "    c"}, []string{"a", "\tb", "\t\tc"}, "      d", "\t\t\td", "   d"},
		{"spaces", []string{"a", "\tb"}, []string{"a", "    b"}, "\t\tc", "        c", " c"},
		{"tabs, given tabs", []string{"  b", "    c"}, []string{"\tb", "\t\tc"}, "d", "d", "\td"},
		{"nothing to go by", []string{"", " "}, []string{"", ""}, "  d", "  d", ""},
		{"no-break spaces", []string{"  a"}, []string{"\u00a0\u00a0a"}, "  b", "  b", ""},
	} {
		s, ok := findShift(test.patch, test.file)
		if !ok {
			t.Errorf("%s: no shift was found", test.name)
			continue
		}
		if got, ok := s.apply(test.add); got != test.want || !ok {
			t.Errorf("%s: %q became %q, want %q", test.name, test.add, got, test.want)
		}
		if got, ok := s.apply(test.notIndented); ok && test.notIndented != "" {
			t.Errorf("%s: %q became %q", test.name, test.notIndented, got)
		}
	}
	for _, test := range [][2][]string{
		{{"a", "b"}, {"a", " b"}},
		{{" a", "  b"}, {"  a", "    b"}},
		{{"  a", "   b"}, {"\ta", "\t\tb"}},
		{{"\ta", "  b"}, {"  a", "\tb"}},
	} {
		if s, ok := findShift(test[0], test[1]); ok {
			t.Errorf("%q are %q by %v", test[0], test[1], s)
		}
	}
}

// Many hunks in a file that is all alike are found, or refused, in no time.
func TestApplyRepetitive(t *testing.T) {
	t.Parallel()
	const lines = 200_000
	file := strings.Repeat("x\n", lines)
	hunk := Hunk{Lines: append(make([]Line, 0, lines/2+1), Line{Removed, "x"})}
	for range lines / 2 {
		hunk.Lines = append(hunk.Lines, Line{Kept, "x"})
	}
	if _, _, err := Apply(t.Context(), file, []Hunk{hunk}); err == nil || !strings.Contains(err.Error(), "and 99990 more alike") {
		t.Errorf("got %v", err)
	}
	hunk.Lines = append(hunk.Lines, Line{Kept, "y"})
	if _, _, err := Apply(t.Context(), file, []Hunk{hunk}); err == nil || !strings.Contains(err.Error(), "not in the file") {
		t.Errorf("got %v", err)
	}
}

func TestApplyIsCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, _, err := Apply(ctx, "x\n", []Hunk{{Lines: []Line{{Removed, "x"}}}})
	if !errors.Is(err, context.Canceled) || got != "" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A refusal is short, whatever it is about.
func TestNearestIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1<<16)
	for _, file := range []string{"", long, strings.Repeat(long[:2000]+"\n", 100), strings.Repeat("line\n", 1000)} {
		hunk := Hunk{Headers: []string{}, Lines: []Line{{Removed, long + "x"}}}
		for range 100 {
			hunk.Lines = append(hunk.Lines, Line{Kept, "line"}, Line{Kept, "lime"}, Line{Kept, long[:2000]})
		}
		for _, h := range []Hunk{hunk, {Headers: []string{long + "x"}, Lines: hunk.Lines}} {
			_, _, err := Apply(t.Context(), file, []Hunk{h})
			if err == nil || len(err.Error()) > nearestBytes+600 {
				t.Errorf("%.20q…: %d bytes", file, len(err.Error()))
			}
		}
	}
}
