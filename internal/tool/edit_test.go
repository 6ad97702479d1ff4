package tool

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/edit"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		before, after string
		in            fields // path is "file" if left out
		error         string
	}{
		{"exact", "a\nb\nc\n", "a\nB\nc\n", fields{"old": "b", "new": "B"}, ""},
		{"several lines", "a\nb\nc\n", "x\nc\n", fields{"old": "a\nb\n", "new": "x\n"}, ""},
		{"removed", "a\nb\nc\n", "a\nc\n", fields{"old": "b\n", "new": ""}, ""},
		{"all", "a a a", "b b b", fields{"old": "a", "new": "b", "all": true}, ""},
		{"all of one", "a b", "x b", fields{"old": "a", "new": "x", "all": true}, ""},
		{"the new text holds the old", "a b", "aa b", fields{"old": "a", "new": "aa", "all": true}, ""},
		{"dollar and backslash are plain text", "x = 1", `$& $1 \1 \n ${x} %s`, fields{"old": "x = 1", "new": `$& $1 \1 \n ${x} %s`}, ""},
		{"the old text is no pattern", "a.c abc", "X abc", fields{"old": "a.c", "new": "X"}, ""},
		{"indentation counts", "\tif x {\n\t}\n", "\tif y {\n\t}\n", fields{"old": "\tif x {", "new": "\tif y {"}, ""},
		{"no newline at the end", "a\nb", "a\nB", fields{"old": "b", "new": "B"}, ""},
		{"CRLF is kept", "a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n", fields{"old": "b", "new": "B"}, ""},
		{"CRLF is kept in new lines", "a\r\nb\r\n", "a\r\nx\r\ny\r\n", fields{"old": "b", "new": "x\ny"}, ""},
		{"lines of a CRLF file, as read shows them", "a\r\nb\r\nc\r\n", "a\r\nx\r\n", fields{"old": "b\nc\n", "new": "x\n"}, ""},
		{"CRLF spelled out", "a\r\nb\r\n", "x\r\n", fields{"old": "a\r\nb", "new": "x"}, ""},
		{"CRLF to LF, line by line", "a\r\nb\r\n", "a\nb\r\n", fields{"old": "a\r\n", "new": "a\n"}, ""},
		{"mixed line ends are matched exactly", "a\r\nb\nc\n", "a\r\nx\n", fields{"old": "b\nc", "new": "x"}, ""},
		{"bytes that are not UTF-8 are kept", "caf\xe9 x\n", "caf\xe9 y\n", fields{"old": "x", "new": "y"}, ""},
		{"not found", "a", "", fields{"old": "b", "new": "c"}, "edit file: old was not found"},
		{"another indentation", "  a\n  b\n", "  c\n", fields{"old": "a\nb", "new": "c"}, ""},
		{"another text", "foo(a, b)\n", "", fields{"old": "foo(a,b)", "new": "c"}, "line 1: `foo(a, b)` in the file, `foo(a,b)` in old"},
		{"several", "a a a", "", fields{"old": "a", "new": "b"}, "edit file: old was found 3 times (lines 1, 1, 1)"},
		{"empty file", "", "", fields{"old": "a", "new": "b"}, "old was not found"},
		{"nothing to look for", "a", "", fields{"old": "", "new": "b"}, "old is empty"},
		{"nothing to change", "a", "", fields{"old": "a", "new": "a"}, "old and new are the same"},
		{"missing file", "a", "", fields{"path": "nope", "old": "a", "new": "b"}, "nope does not exist"},
		{"folder", "a", "", fields{"path": ".", "old": "a", "new": "b"}, "not a regular file"},
		{"outside", "a", "", fields{"path": "../x", "old": "a", "new": "b"}, "../x is outside the workspace"},
		{"link", "a", "", fields{"path": "link", "old": "a", "new": "b"}, "it is a symbolic link"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"file": test.before})
			link(t, dir, "link", "file")
			if test.in["path"] == nil {
				test.in["path"] = "file"
			}
			_, err := try(t.Context(), Edit(nil), call(dir, input(t, test.in)))
			checkError(t, err, test.error)
			want := test.after
			if test.error != "" {
				want = test.before
			}
			if diff := cmp.Diff(map[string]string{"file": want}, files(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestContract_R5_Edit(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"sub/file.go": "one\ntwo\nthree\n"})
	in := `{"path":"` + dir + `/sub/file.go","old":"two","new":"2"}`

	access, err := Edit(nil).Access(t.Context(), call(dir, in))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]pawl.Access{{Kind: pawl.AccessWrite, Target: "sub/file.go"}, {Kind: pawl.AccessRead, Target: "sub/file.go"}}, access); diff != "" {
		t.Error(diff)
	}
	got, err := try(t.Context(), Edit(nil), call(dir, in))
	if err != nil {
		t.Fatal(err)
	}
	want := diffResult("sub/file.go", "--- a/sub/file.go\n+++ b/sub/file.go\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
	if diff := cmp.Diff(knows(want, "sub/file.go", "one\n2\nthree\n"), got); diff != "" {
		t.Error(diff)
	}
}

// A match that is not exact is reported to the model and to people.
func TestEditSaysHowItMatched(t *testing.T) {
	t.Parallel()
	notes := map[edit.Pass]string{}
	for _, test := range []struct {
		pass               edit.Pass
		before, old, after string
	}{
		{edit.Exact, "one\ntwo\n", "one\ntwo", "2"},
		{edit.Folded, "say “hi”\n", "say \"hi\"", "2"},
		{edit.Trimmed, "\tone\n    two\n  three\n", "one\ntwo\nthree", "one\n2\nthree"},
		{edit.Shifted, "\tone\n\ttwo\n", "    one\n    two", "    2"},
		{edit.Spaced, "one  two\n", "one two\n", "2"},
		{edit.Unescaped, "\"one\"\n", `\"one\"`, "2"},
		{edit.Anchored, "one\ntwo, three\nfour\n", "one\ntwo three\nfour", "one\ntwo three\n4"},
	} {
		dir := folder(t, map[string]string{"file": test.before})
		got, err := try(t.Context(), Edit(nil), call(dir, input(t, fields{"path": "file", "old": test.old, "new": test.after})))
		if err != nil {
			t.Errorf("%s: %v", test.pass, err)
			continue
		}
		diff := got.Display[0].(pawl.Patch).Diff
		note := strings.TrimPrefix(got.Content, diff)
		if test.pass == edit.Exact {
			if note != "" || got.Meta != nil {
				t.Errorf("exact: %q, %v", note, got.Meta)
			}
			continue
		}
		if diff := cmp.Diff(map[string]string{"match": string(test.pass)}, got.Meta); diff != "" {
			t.Error(diff)
		}
		if !strings.HasPrefix(note, "(old was matched ") || notes[test.pass] != "" {
			t.Errorf("%s: %q", test.pass, note)
		}
		notes[test.pass] = note
	}
	if len(notes) != len(matchNotes) {
		t.Errorf("%d of %d notes were seen", len(notes), len(matchNotes))
	}
}
