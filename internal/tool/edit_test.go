package tool

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func TestEdit(t *testing.T) {
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
		{"not found", "a", "", fields{"old": "b", "new": "c"}, "old was not found in file: read the file"},
		{"another indentation", "  a\n  b\n", "", fields{"old": "a\nb", "new": "c"}, "old was not found in file"},
		{"several", "a a a", "", fields{"old": "a", "new": "b"}, "old was found 3 times in file"},
		{"empty file", "", "", fields{"old": "a", "new": "b"}, "old was not found"},
		{"nothing to look for", "a", "", fields{"old": "", "new": "b"}, "old is empty"},
		{"nothing to change", "a", "", fields{"old": "a", "new": "a"}, "old and new are the same"},
		{"missing file", "a", "", fields{"path": "nope", "old": "a", "new": "b"}, "nope does not exist"},
		{"folder", "a", "", fields{"path": ".", "old": "a", "new": "b"}, "not a regular file"},
		{"outside", "a", "", fields{"path": "../x", "old": "a", "new": "b"}, "../x is outside of the workspace"},
		{"link", "a", "", fields{"path": "link", "old": "a", "new": "b"}, "it is a symbolic link"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"file": test.before})
			link(t, dir, "link", "file")
			if test.in["path"] == nil {
				test.in["path"] = "file"
			}
			_, err := try(t.Context(), Edit(), call(dir, input(t, test.in)))
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
	dir := folder(t, map[string]string{"sub/file.go": "one\ntwo\nthree\n"})
	in := `{"path":"` + dir + `/sub/file.go","old":"two","new":"2"}`

	access, err := Edit().Access(t.Context(), call(dir, in))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]pawl.Access{{Kind: pawl.AccessWrite, Target: "sub/file.go"}}, access); diff != "" {
		t.Error(diff)
	}
	got, err := try(t.Context(), Edit(), call(dir, in))
	if err != nil {
		t.Fatal(err)
	}
	want := diffResult("sub/file.go", "--- a/sub/file.go\n+++ b/sub/file.go\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
