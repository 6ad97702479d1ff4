package tree_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// mirrored is a root, an upper directory that is also its view, and their Mirror.
type mirrored struct {
	t           *testing.T
	root, upper string
	*tree.Mirror
}

func newMirrored(t *testing.T) *mirrored {
	t.Helper()
	dir := tempDir(t, "")
	m := &mirrored{t: t, root: filepath.Join(dir, "root"), upper: filepath.Join(dir, "upper")}
	must(t, os.Mkdir(m.root, 0o755))
	must(t, os.Mkdir(m.upper, 0o755))
	since, err := tree.Now(m.root)
	must(t, err)
	m.Mirror, err = tree.OpenMirror(tree.View{Upper: m.upper, Lower: m.root}, m.upper, since)
	must(t, err)
	t.Cleanup(m.Close)
	return m
}

func (m *mirrored) put(dir, name, text string) {
	m.t.Helper()
	must(m.t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
	must(m.t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func (m *mirrored) update(name string) {
	m.t.Helper()
	_, err := m.Update(name)
	must(m.t, err)
}

func (m *mirrored) want(dir, name, text string) {
	m.t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, name))
	if string(got) != text || (err == nil) != (text != "") {
		m.t.Errorf("%s is %q, %v, not %q", name, got, err, text)
	}
}

// collect returns the names that were collected, and settles them as applied.
func (m *mirrored) collect() (names []string) {
	m.t.Helper()
	to := tempDir(m.t, "")
	found, err := m.Collect(m.t.Context(), to, func(string) bool { return false })
	must(m.t, err)
	entries, err := os.ReadDir(to)
	must(m.t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	must(m.t, m.Settle(found, tree.Result{}))
	return names
}

// TestMirrorUpdate: the view gets what changed, also links and deletions, and keeps what the job changed.
func TestMirrorUpdate(t *testing.T) {
	t.Parallel()
	m := newMirrored(t)
	m.put(m.root, "a", "1")
	m.update("a")
	m.want(m.upper, "a", "1")
	m.put(m.root, "a", "2")
	m.update("a")
	m.want(m.upper, "a", "2")
	if got := m.collect(); len(got) > 0 {
		t.Errorf("the copies were collected: %v", got)
	}
	must(t, os.Remove(filepath.Join(m.root, "a")))
	must(t, os.Symlink("b", filepath.Join(m.root, "a")))
	m.update("a")
	if to, err := os.Readlink(filepath.Join(m.upper, "a")); to != "b" {
		t.Errorf("%q, %v", to, err)
	}
	must(t, os.Remove(filepath.Join(m.root, "a")))
	m.update("a")
	m.want(m.upper, "a", "")

	m.put(m.upper, "own", "of the job")
	m.put(m.root, "own", "of the user")
	m.update("own")
	m.want(m.upper, "own", "of the job")

	m.put(m.root, "d/old", "1")
	m.update("d")
	m.update("d/old")
	m.put(m.upper, "d/own", "of the job")
	must(t, os.RemoveAll(filepath.Join(m.root, "d")))
	m.update("d")
	m.want(m.upper, "d/old", "")
	m.want(m.upper, "d/own", "of the job")
}

// TestMirrorLinks: a job that replaces directories by links makes the Mirror write nowhere else.
func TestMirrorLinks(t *testing.T) {
	t.Parallel()
	m := newMirrored(t)
	outside := tempDir(t, "")
	m.put(m.root, "d/f", "secret")
	must(t, os.Symlink(outside, filepath.Join(m.upper, "d")))
	m.update("d/f")
	m.want(outside, "f", "")
	must(t, os.RemoveAll(filepath.Join(m.root, "d")))
	m.put(outside, "f", "of the user")
	m.update("d/f")
	m.want(outside, "f", "of the user")
	must(t, unix.Mkfifo(filepath.Join(m.upper, "fifo"), 0o600))
	m.put(m.root, "fifo", "text")
	m.update("fifo") // does not wait for a reader
}

// TestCollect: what the job changed is collected once for each change.
func TestCollect(t *testing.T) {
	t.Parallel()
	m := newMirrored(t)
	m.put(m.upper, "a", "1")
	m.put(m.upper, "d/f", "1")
	if got := m.collect(); len(got) != 2 {
		t.Errorf("collected %v", got)
	}
	if got := m.collect(); len(got) != 0 {
		t.Errorf("again %v", got)
	}
	m.put(m.upper, "a", "2")
	if got := m.collect(); len(got) != 1 || got[0] != "a" {
		t.Errorf("collected %v", got)
	}
}
