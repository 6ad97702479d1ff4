package search

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSpecialFiles(t *testing.T) { //nolint:paralleltest // it changes the working directory
	dir := folderOf(t, map[string]string{"a": "needle\n", "sub/b": "needle\n", "sub/up": "->..", "sub/self": "->self"})
	for _, name := range []string{"pipe", ".gitignore", "sub/.ignore"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir) // a socket's path must be short
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	each(t, func(t *testing.T, engine Engine) {
		found := grep(t, dir, engine, Query{Pattern: pattern(t, "needle", Options{}), Path: "."})
		if diff := cmp.Diff(map[string]int{"a": 1, "sub/b": 1}, paths(found.Files)); diff != "" {
			t.Error(diff)
		}
	})
	found, err := Glob(t.Context(), open(t, dir), ".", names(t, "s*"), wide)
	if diff := cmp.Diff([]string{"sub/self"}, found.Paths); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, path := range []string{"pipe", "socket", "sub/b"} {
		for _, err := range []error{second(Glob(t.Context(), open(t, dir), path, Names{}, wide)), second(List(t.Context(), open(t, dir), path, 2, wide))} {
			if err == nil || !strings.Contains(err.Error(), path+" is not a directory") {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// What goes while it is searched is passed over without a word.
func TestVanishing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, engine Engine) {
		files := map[string]string{}
		for i := range 300 {
			files[fmt.Sprintf("d%d/e/f", i)] = "needle\n"
		}
		dir := folderOf(t, files)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for i := range 300 {
				_ = os.RemoveAll(filepath.Join(dir, fmt.Sprintf("d%d", i)))
			}
		}()
		for done := false; !done; {
			select {
			case <-ended:
				done = true
			default:
			}
			found := grep(t, dir, engine, Query{Pattern: pattern(t, "needle", Options{}), Path: ".", Lines: true})
			if diff := cmp.Diff(Gaps{}, found.Gaps); diff != "" {
				t.Fatal(diff)
			}
			if done && found.FileCount > 0 {
				t.Errorf("%d files are found that have gone", found.FileCount)
			}
		}
		deleted := engine.Count(t.Context(), Job{Workspace: open(t, dir), Dir: dir, Pattern: pattern(t, "x", Options{}), Files: []string{"gone", "d1/e/f"}})
		if diff := cmp.Diff(Counts{}, deleted); diff != "" {
			t.Error(diff)
		}
	})
}

// TestUnreadable runs as nobody, because an administrator can read everything.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	const asNobody = "SEARCH_TEST_NOBODY"
	dir := os.Getenv(asNobody)
	if dir == "" {
		dir = folderOf(t, map[string]string{"a": "needle\n", "closed": "needle\n", "locked/b": "needle\n", "sub/locked/c": "x", "sub/.gitignore": "a\n"})
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, mode := range map[string]os.FileMode{"closed": 0, "locked": 0, "sub/locked": 0, "sub/.gitignore": 0} {
			path := filepath.Join(dir, name)
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
		}
		if os.Getuid() == 0 {
			rerun(t, asNobody+"="+dir)
			return
		}
	}
	each(t, func(t *testing.T, engine Engine) {
		found := grep(t, dir, engine, Query{Pattern: pattern(t, "needle", Options{}), Path: "."})
		want := Matches{Files: []File{{Path: "a", Count: 1}}, FileCount: 1, LineCount: 1, Searched: 3, Gaps: Gaps{Folders: 2, Files: 2}}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Error(diff)
		}
		if _, err := Grep(t.Context(), open(t, dir), dir, engine, Query{Pattern: pattern(t, "x", Options{}), Path: "locked"}, wide); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("a locked directory, named: %v", err)
		}
	})
	paths, err := Glob(t.Context(), open(t, dir), ".", names(t, "[ab]"), wide)
	if diff := cmp.Diff(Paths{Paths: []string{"a"}, Count: 1, Gaps: Gaps{Folders: 2}}, paths); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	tree, err := List(t.Context(), open(t, dir), ".", 2, wide)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range tree.Root.Children {
		if n.Unread != (n.Name == "locked") {
			t.Errorf("%s: unread %v", n.Name, n.Unread)
		}
	}
}

// rerun runs this test in a copy of the test binary, as nobody.
func rerun(t *testing.T, env string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "pawl-search")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "search.test")
	from, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(bin, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	cmd := exec.Command(bin, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env, "HOME="+dir, "TMPDIR="+os.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}
