package tool

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// diffResult is what a tool answers that changed a file.
func diffResult(path, diff string) pawl.Result {
	return pawl.Result{Content: diff, Display: pawl.Parts{pawl.Patch{Path: path, Diff: diff}}}
}

// knows adds that the model knows the file now.
func knows(r pawl.Result, path, text string) pawl.Result {
	r.Seen = map[string]string{path: workspace.Hash([]byte(text))}
	return r
}

func TestContract_R5_Write(t *testing.T) {
	t.Parallel()
	before := map[string]string{"file": "one\ntwo\n", "crlf": "one\r\ntwo\r\n", "mixed": "one\r\ntwo\n", "sub/file": "x\n"}
	tests := []struct {
		name  string
		in    fields
		want  pawl.Result
		after map[string]string // what changes
		error string
	}{
		{
			"new", fields{"path": "new", "content": "hello\n"},
			diffResult("new", "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+hello\n"),
			map[string]string{"new": "hello\n"}, "",
		},
		{
			"new, with folders", fields{"path": "a/b/new", "content": "hello"},
			diffResult("a/b/new", "--- /dev/null\n+++ b/a/b/new\n@@ -0,0 +1 @@\n+hello\n\\ No newline at end of file\n"),
			map[string]string{"a/b/new": "hello"}, "",
		},
		{
			"new and empty", fields{"path": "new", "content": ""},
			pawl.Result{Content: "new was made, empty.\n"}, map[string]string{"new": ""}, "",
		},
		{
			"replaced", fields{"path": "file", "content": "one\n2\n"},
			diffResult("file", "--- a/file\n+++ b/file\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"),
			map[string]string{"file": "one\n2\n"}, "",
		},
		{
			"emptied", fields{"path": "file", "content": ""},
			diffResult("file", "--- a/file\n+++ b/file\n@@ -1,2 +0,0 @@\n-one\n-two\n"),
			map[string]string{"file": ""}, "",
		},
		{
			"unchanged", fields{"path": "file", "content": "one\ntwo\n"},
			pawl.Result{Content: "file is as it was: nothing to change."}, nil, "",
		},
		{
			"CRLF is kept", fields{"path": "crlf", "content": "one\n2\n"},
			diffResult("crlf", "--- a/crlf\n+++ b/crlf\n@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2\r\n"),
			map[string]string{"crlf": "one\r\n2\r\n"}, "",
		},
		{
			"line ends that differ are the model's", fields{"path": "mixed", "content": "one\n"},
			diffResult("mixed", "--- a/mixed\n+++ b/mixed\n@@ -1,2 +1 @@\n-one\r\n-two\n+one\n"),
			map[string]string{"mixed": "one\n"}, "",
		},
		{"a folder", fields{"path": "sub", "content": "x"}, pawl.Result{}, nil, "sub is not a regular file"},
		{"a link", fields{"path": "link", "content": "x"}, pawl.Result{}, nil, "it is a symbolic link"},
		{"below a file", fields{"path": "file/x", "content": "x"}, pawl.Result{}, nil, "file/x"},
		{"outside", fields{"path": "../x", "content": "x"}, pawl.Result{}, nil, "../x is outside the workspace"},
		{"through a link that leads out", fields{"path": "out/x", "content": "x"}, pawl.Result{}, nil, "out/x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := folder(t, before)
			link(t, dir, "link", "file")
			link(t, dir, "out", t.TempDir())
			got, err := try(t.Context(), Write(nil), call(dir, input(t, test.in)))
			checkError(t, err, test.error)
			for path, text := range test.after {
				test.want = knows(test.want, path, text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			after := maps.Clone(before)
			maps.Copy(after, test.after)
			if diff := cmp.Diff(after, files(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func link(t *testing.T, dir, name, to string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// A change that was canceled before it began changes nothing.
func TestContract_R14_ChangesAreCanceled(t *testing.T) {
	t.Parallel()
	before := map[string]string{"file": "one\n"}
	for _, test := range []struct {
		tool toolapi.Tool
		in   string
	}{
		{Write(nil), `{"path":"file","content":"two\n"}`},
		{Write(nil), `{"path":"new","content":"two\n"}`},
		{Edit(nil), `{"path":"file","old":"one","new":"two"}`},
	} {
		dir := folder(t, before)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := try(ctx, test.tool, call(dir, test.in))
		checkError(t, err, "context canceled")
		if diff := cmp.Diff(before, files(t, dir)); diff != "" {
			t.Errorf("%s: %s", test.tool.Name, diff)
		}
	}
}
