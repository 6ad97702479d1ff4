package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPreview: what a person is shown is what the call then does, and showing it
// changes nothing.
func TestPreview(t *testing.T) {
	t.Parallel()
	tools := builtin(t)
	for _, test := range []struct{ tool, input, want string }{
		{"write", `{"path":"new","content":"a\n"}`, "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+a\n"},
		{"edit", `{"path":"old","old":"two","new":"2"}`, "--- a/old\n+++ b/old\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"},
		{"apply_patch", `{"patch":"*** Begin Patch\n*** Delete File: old\n*** Add File: new\n+a\n*** End Patch"}`,
			"--- a/old\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+a\n"},
	} {
		t.Run(test.tool, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "old"), []byte("one\ntwo\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			tool, _ := tools.Tool(test.tool)
			got, err := tool.Preview(t.Context(), call(dir, test.input))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
				t.Error("the preview wrote the file")
			}
			result, err := tool.Run(t.Context(), call(dir, test.input))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(result.Content, got) {
				t.Errorf("shown was %q, done was %q", got, result.Content)
			}
		})
	}
	edit, _ := tools.Tool("edit")
	_, err := edit.Preview(t.Context(), call(t.TempDir(), `{"path":"missing","old":"a","new":"b"}`))
	checkError(t, err, "missing does not exist")
}
