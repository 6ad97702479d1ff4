package policy

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func TestClean(t *testing.T) {
	const alive, idle, deleted = "01JD0000000000000000000001", "01JD0000000000000000000002", "01JD0000000000000000000003"
	cache := t.TempDir()
	t.Setenv("PAWL_CACHE", cache)
	long := time.Now().Add(-1000 * time.Hour)
	put := func(old bool, names ...string) {
		t.Helper()
		path := filepath.Join(append([]string{cache}, names...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
			t.Fatal(err)
		}
		for p := path; old && p != cache; p = filepath.Dir(p) {
			if err := os.Chtimes(p, long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(false, "tmp", alive, "a")
	put(true, "tmp", idle, "a")
	put(false, "tmp", deleted, "deep", "a")
	put(false, "tmp", "not a session", "a")
	put(true, "box", "old", "a")
	put(false, "box", "new", "a")
	put(false, "box", alive, "files", "a")
	put(false, "box", deleted, "files", "a")
	if err := os.Chmod(filepath.Join(cache, "tmp", deleted, "deep"), 0o500); err != nil {
		t.Fatal(err)
	}
	c := Cleaning{Alive: func(id pawl.SessionID) bool { return id != deleted }, Before: time.Now().Add(-24 * time.Hour), DryRun: true}
	there := func() []string {
		paths, err := filepath.Glob(filepath.Join(cache, "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range paths {
			paths[i], _ = filepath.Rel(cache, p)
		}
		return paths
	}
	before := there()
	plan, err := Clean(c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, there()); diff != "" {
		t.Errorf("a dry run removed something: %s", diff)
	}
	c.DryRun = false
	done, err := Clean(c)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plan, done); diff != "" {
		t.Errorf("a dry run said something else: %s", diff)
	}
	if done.Sessions != 2 || done.Folders != 2 || done.After >= done.Before || done.After == 0 {
		t.Errorf("cleaned %+v", done)
	}
	want := []string{"box/" + alive, "box/new", "tmp/" + alive, "tmp/not a session"}
	if diff := cmp.Diff(want, there()); diff != "" {
		t.Error(diff)
	}
	if again, err := Clean(c); err != nil || again.Before != again.After || again.Before != done.After {
		t.Errorf("the second time: %+v, %v", again, err)
	}
}

func TestCleanWithoutACache(t *testing.T) {
	t.Setenv("PAWL_CACHE", filepath.Join(t.TempDir(), "none"))
	if done, err := Clean(Cleaning{}); err != nil || done != (Cleaned{}) {
		t.Errorf("%+v, %v", done, err)
	}
}
