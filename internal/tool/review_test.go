package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// reviewed is a workspace and what a command made of it.
type reviewed struct {
	*testing.T
	sandbox.Changes
}

func newReviewed(t *testing.T) *reviewed {
	return &reviewed{t, sandbox.Changes{Old: t.TempDir(), New: t.TempDir()}}
}

// put creates a file and returns its state.
func (r *reviewed) put(dir, path, text string, mode os.FileMode) tree.Stat {
	r.Helper()
	at := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), mode); err != nil {
		r.Fatal(err)
	}
	info, err := os.Stat(at)
	if err != nil {
		r.Fatal(err)
	}
	return tree.Stat{Type: tree.File, Mode: uint32(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime().UnixNano()}
}

func (r *reviewed) add(path, text string) {
	r.Helper()
	r.List = append(r.List, tree.Change{Path: path, New: r.put(r.New, path, text, 0o644)})
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.List = []tree.Change{
		{Path: "dir", New: tree.Stat{Type: tree.Dir}},
		{Path: "empty dir", New: tree.Stat{Type: tree.Dir}},
		{Path: "gone", Old: r.put(r.Old, "gone", "1\n2\n", 0o644)},
		{Path: "mode", Old: tree.Stat{Type: tree.File, Mode: 0o644}, New: tree.Stat{Type: tree.File, Mode: 0o755}, SameContent: true},
		{Path: "modified", Old: r.put(r.Old, "modified", "a\nb\n", 0o644), New: r.put(r.New, "modified", "a\nc\nd\n", 0o644)},
		{Path: "run", New: r.put(r.New, "run", "#!\n", 0o755)},
		{Path: "touched", Old: tree.Stat{Type: tree.File, Mode: 0o644}, New: tree.Stat{Type: tree.File, Mode: 0o644}, SameContent: true},
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(r.New, "link")); err != nil {
		t.Fatal(err)
	}
	r.List = append(r.List, tree.Change{Path: "link", New: tree.Stat{Type: tree.Link}})
	hidden := r.put(r.Old, "tracked.env", "KEY=secret\n", 0o644)
	hidden.Size = 4 // the command saw another content
	r.List = append(r.List, tree.Change{Path: "tracked.env", Old: hidden, New: r.put(r.New, "tracked.env", "KEY=\n", 0o644)})
	r.add("dir/in", "x\n")
	r.add("odd\n--- a/x", "y\n")
	r.add("nul", "a\x00b")
	r.add("large", strings.Repeat("x", maxReviewBytes+1))
	r.add(".git/objects/aa/1", "o")
	r.add(".git/objects/aa/2", "o")
	r.Refused = []sandbox.Refusal{{Path: ".envrc", Reason: "shells run it"}}
	got := (&Jobs{}).describe([]sandbox.Changes{r.Changes, {Dir: "/added", List: []tree.Change{{Path: "gone", Old: tree.Stat{Type: tree.Link}}}, Refused: []sandbox.Refusal{{Path: ".envrc", Reason: "shells run it"}}}})
	want := []string{
		"A empty dir/", "D gone  -2", "M mode  mode 644 → 755", "M modified  +2 -1", "A run  executable, +1", "M touched  modification time",
		"A link  symbolic link to /etc/passwd", "M tracked.env  changed since the command ran", "A dir/in  +1", `A odd\n--- a/x  +1`, "A nul  binary", "A large  262 kB", "D /added/gone  was a symbolic link",
		"A .git/objects/  2 git objects",
	}
	if diff := cmp.Diff(want, got.Files); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got.Summary != "14 files changed: 5 lines added, 3 removed" {
		t.Errorf("summary %q", got.Summary)
	}
	if diff := cmp.Diff([]string{".envrc: shells run it", "/added/.envrc: shells run it"}, got.Refused); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !strings.Contains(got.Diff, "--- a/modified\n+++ b/modified\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n") || strings.Contains(got.Diff, "secret") || strings.Contains(got.Diff, "\n--- a/x") {
		t.Errorf("diff\n%s", got.Diff)
	}
}

func TestDescribeMany(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	for i := range maxReviewFiles + 5 {
		r.add(fmt.Sprintf("f%03d", i), strings.Repeat("line\n", 5000))
	}
	got := (&Jobs{}).describe([]sandbox.Changes{r.Changes})
	if len(got.Files) != maxReviewFiles+1 || got.Files[maxReviewFiles] != "… and 5 more files" {
		t.Errorf("%d files: %s", len(got.Files), got.Files[len(got.Files)-1])
	}
	if len(got.Diff) > maxReviewDiff+maxFileDiff+1000 || !strings.Contains(got.Diff, "more lines of this diff") || !strings.HasSuffix(got.Diff, "more files are left out)\n") {
		t.Errorf("%d bytes of diff, end %q", len(got.Diff), got.Diff[len(got.Diff)-200:])
	}
}
