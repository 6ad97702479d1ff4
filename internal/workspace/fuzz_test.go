package workspace_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/workspace"
)

// outsideMark is the content of the files outside of the workspace.
const outsideMark = "nobody may see or change this"

// fuzzTree is a workspace for the fuzzer: each run creates the links again and removes
// what the previous one left.
type fuzzTree struct {
	base, ws string
	w        *workspace.Workspace
}

func newFuzzTree(f *testing.F) *fuzzTree {
	f.Helper()
	parent := f.TempDir()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		parent = "/dev/shm" // a RAM disk is faster
	}
	base, err := os.MkdirTemp(parent, "pawl-fuzz-")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = os.RemoveAll(base) })
	if base, err = filepath.EvalSymlinks(base); err != nil {
		f.Fatal(err)
	}
	t := &fuzzTree{base: base, ws: filepath.Join(base, "ws")}
	for _, dir := range []string{"ws", "ws-evil", "out"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			f.Fatal(err)
		}
	}
	for _, path := range []string{"out/secret", "ws-evil/secret", "secret"} {
		if err := os.WriteFile(filepath.Join(base, path), []byte(outsideMark), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	if t.w, err = workspace.Open(t.ws); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = t.w.Close() })
	return t
}

// fill creates the tree in the workspace: a file, a directory with a file, and two
// symbolic links with targets from the fuzzer.
func (t *fuzzTree) fill(tb testing.TB, one, two string) {
	tb.Helper()
	entries, err := os.ReadDir(t.ws)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(t.ws, e.Name())); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(t.ws, "sub"), 0o755); err != nil {
		tb.Fatal(err)
	}
	for _, path := range []string{"file", "sub/file"} {
		if err := os.WriteFile(filepath.Join(t.ws, path), []byte("in the workspace"), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	// BASE stands for a path that a fuzzer cannot guess. Invalid targets, such as "",
	// are left out.
	_ = os.Symlink(strings.ReplaceAll(one, "BASE", t.base), filepath.Join(t.ws, "a"))
	_ = os.Symlink(strings.ReplaceAll(two, "BASE", t.base), filepath.Join(t.ws, "sub", "b"))
}

// check fails if anything outside of the workspace has changed.
func (t *fuzzTree) check(tb testing.TB, done string) {
	tb.Helper()
	for dir, want := range map[string]string{"": "out secret ws ws-evil", "out": "secret", "ws-evil": "secret"} {
		entries, err := os.ReadDir(filepath.Join(t.base, dir))
		if err != nil {
			tb.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); got != want {
			tb.Fatalf("%s: outside there is now %q, not %q", done, got, want)
		}
		if data, err := os.ReadFile(filepath.Join(t.base, dir, "secret")); err != nil || string(data) != outsideMark {
			tb.Fatalf("%s: a file outside was changed: %q, %v", done, data, err)
		}
	}
}

// FuzzPath: whatever the path and the links, nothing outside of the workspace is read
// or written.
func FuzzPath(f *testing.F) {
	for _, seed := range [][3]string{
		{"file", "sub", "../file"},
		{"a/secret", "../out", "a"},
		{"a", "../out/new", "b"},
		{"a/b/c", "sub", "BASE/out"},
		{"sub/b/secret", "x", "../../out"},
		{"sub/b/secret", "..", "../a/out"},
		{"../out/secret", "/", "/proc/self/cwd"},
		{"BASE/out/secret", "BASE", "BASE/ws-evil"},
		{"BASE/ws-evil/secret", "BASE/ws/../secret", "./.."},
		{"sub/../../secret", "a", "b"},
		{"BASE/ws/a", "/proc/self/root/BASE/secret", ""},
		{"", ".", "\x00"},
		{"~/../secret", "~", "sub/b/../../.."},
		{"sub/b", "nothing/../../secret", "../a"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	tree := newFuzzTree(f)
	f.Fuzz(func(t *testing.T, path, one, two string) {
		path = strings.ReplaceAll(path, "BASE", tree.base)
		tree.fill(t, one, two)
		names := []string{path} // as a model may spell it
		if rel, err := workspace.Rel(tree.ws, path); err == nil {
			if !filepath.IsLocal(rel) {
				t.Fatalf("Rel(%q) = %q", path, rel)
			}
			if rel != path {
				names = append(names, rel)
			}
		}
		for _, name := range names {
			tree.reads(t, name)
			tree.real(t, name)
			tree.writes(t, name)
		}
		tree.fill(t, one, two)
		if changes := []workspace.Change{{Path: path, Data: []byte("x")}}; tree.w.WriteAll(context.Background(), changes) == nil {
			tree.check(t, "WriteAll "+path)
		}
		tree.check(t, "at the end")
	})
}

// reads reads a path in every way. Links may lead to other places in the workspace, but
// not to a file outside.
func (t *fuzzTree) reads(tb testing.TB, path string) {
	tb.Helper()
	if data, err := t.w.ReadFile(path); err == nil && string(data) != "in the workspace" && string(data) != "x" {
		tb.Fatalf("ReadFile(%q) = %q", path, data)
	}
	var infos []fs.FileInfo
	if info, err := t.w.Stat(path); err == nil {
		infos = append(infos, info)
	}
	if file, err := t.w.Open(path); err == nil {
		if info, err := file.Stat(); err == nil {
			infos = append(infos, info)
		}
		_ = file.Close()
	}
	if folder, err := t.w.OpenFolder(path); err == nil {
		if info, err := folder.Stat("."); err == nil {
			infos = append(infos, info)
		}
		_ = folder.Close()
	}
	for _, info := range infos {
		for _, dir := range []string{"", "out", "ws-evil", "secret", "out/secret", "ws-evil/secret"} {
			if there, err := os.Stat(filepath.Join(t.base, dir)); err == nil && os.SameFile(info, there) {
				tb.Fatalf("%q leads to %s outside", path, dir)
			}
		}
		if info.IsDir() && !t.inside(info) {
			tb.Fatalf("%q leads to a folder that is not of the workspace", path)
		}
	}
}

// inside reports whether a directory belongs to the workspace.
func (t *fuzzTree) inside(info fs.FileInfo) bool {
	found := false
	_ = filepath.WalkDir(t.ws, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			if there, err := os.Stat(path); err == nil && os.SameFile(info, there) {
				found = true
			}
		}
		return nil
	})
	return found
}

// real checks Real: a path that it returns as inside the workspace contains no link
// that leads out.
func (t *fuzzTree) real(tb testing.TB, path string) {
	tb.Helper()
	if filepath.IsAbs(path) || !filepath.IsLocal(path) {
		return // Real expects a result of Rel
	}
	real, err := workspace.Real(t.ws, path)
	if err != nil || filepath.IsAbs(real) {
		return
	}
	if !filepath.IsLocal(real) {
		tb.Fatalf("Real(%q) = %q", path, real)
	}
	for at := real; at != "."; at = filepath.Dir(at) {
		if info, err := os.Lstat(filepath.Join(t.ws, at)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			tb.Fatalf("Real(%q) = %q, where %s is a link", path, real, at)
		}
	}
}

// writes changes a path in every way.
func (t *fuzzTree) writes(tb testing.TB, path string) {
	tb.Helper()
	if err := t.w.WriteFile(path, []byte("x")); err == nil {
		t.check(tb, "WriteFile "+path)
		if data, err := t.w.ReadFile(filepath.Clean(path)); err != nil || string(data) != "x" {
			tb.Fatalf("WriteFile(%q) was done, and there is %q, %v", path, data, err)
		}
	}
	was := workspace.Hash([]byte("x"))
	for _, c := range []workspace.Change{
		{Path: path, Data: []byte("x")},
		{Path: path, To: "moved", Data: []byte("x"), Was: was},
		{Path: "moved", To: path, Data: []byte("x"), Was: was},
		{Path: path, Remove: true, Was: was},
	} {
		err := t.w.WriteAll(context.Background(), []workspace.Change{c})
		if errors.Is(err, workspace.ErrHalfway) {
			tb.Fatalf("WriteAll(%+v): %v", c, err)
		}
		t.check(tb, "WriteAll "+path)
	}
}
