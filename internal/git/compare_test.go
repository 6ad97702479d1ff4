package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.file("kept", "one\ntwo\n")
	w.file("gone", "one\n")
	w.must("add", ".")
	w.must("commit", "-qm", "before")
	from := strings.TrimSpace(w.must("rev-parse", "HEAD"))
	w.file("kept", "one\n2\n3\n")
	w.file("tab\tand ü", "new\n")
	w.file("binary", "\x00\x01")
	w.must("rm", "-q", "gone")
	w.must("add", ".")
	w.must("commit", "-qm", "after")
	to := strings.TrimSpace(w.must("rev-parse", "HEAD"))
	r := w.repo()
	got, err := r.FileStats(t.Context(), from, to)
	want := []FileStat{{Path: "binary", Binary: true}, {Path: "gone", Removed: 1}, {Path: "kept", Added: 2, Removed: 1}, {Path: "tab\tand ü", Added: 1}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if got, err := r.FileStats(t.Context(), from, from); len(got) != 0 || err != nil {
		t.Errorf("a commit differs from itself: %v, %v", got, err)
	}
	for stat, want := range map[bool]string{false: "-two\n+2\n+3\n", true: "4 files changed, 3 insertions(+), 2 deletions(-)"} {
		if out, err := r.Compare(t.Context(), from, to, stat); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %s", err, out)
		}
	}
	if _, err := r.Compare(t.Context(), from, "--output=x", false); err == nil {
		t.Error("an option was accepted as a commit")
	}
}
