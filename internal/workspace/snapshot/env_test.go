package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

// Sessions that own snapshots.
const (
	alice pawl.SessionID = "01HZZZZZZZZZZZZZZZZZZZZZZA"
	bob   pawl.SessionID = "01HZZZZZZZZZZZZZZZZZZZZZZB"
)

// env is a directory and a store of its snapshots.
type env struct {
	t     testing.TB
	dir   string
	store *Store
}

func newEnv(t testing.TB) *env { return newEnvWith(t, Config{}) }

func newEnvWith(t testing.TB, c Config) *env {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &env{t: t, dir: filepath.Join(base, "ws")}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if c.Git == nil {
		if c.Git, err = git.Find(t.Context(), w.dir); err != nil {
			t.Fatal(err)
		}
	}
	c.Dir = filepath.Join(base, "data", "snapshots")
	if w.store, err = Open(c); err != nil {
		t.Fatal(err)
	}
	return w
}

// sh runs commands in the directory, as an agent would.
func (w *env) sh(script string) {
	w.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func (w *env) take() ID {
	w.t.Helper()
	id, err := w.store.Take(w.t.Context(), w.dir, alice)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// span runs commands and returns their span.
func (w *env) span(script string) Span {
	w.t.Helper()
	s := Span{Before: w.take()}
	w.sh(script)
	s.After = w.take()
	return s
}

func (w *env) plan(redo bool, spans ...Span) Plan {
	w.t.Helper()
	p, err := w.store.Plan(w.t.Context(), w.dir, spans, redo)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// undo plans and applies an undo.
func (w *env) undo(how Conflicts, spans ...Span) Report {
	w.t.Helper()
	return w.apply(w.plan(false, spans...), how)
}

func (w *env) redo(how Conflicts, spans ...Span) Report {
	w.t.Helper()
	return w.apply(w.plan(true, spans...), how)
}

func (w *env) apply(p Plan, how Conflicts) Report {
	w.t.Helper()
	r, err := w.store.Apply(w.t.Context(), p, how)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// show describes all files and symbolic links of the directory except .git.
func (w *env) show() map[string]string {
	w.t.Helper()
	return showDir(w.t, w.dir)
}

func showDir(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case e.Name() == ".git":
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir():
			all[name] = "folder"
		case e.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			all[name] = "-> " + target
			return err
		case e.Type().IsRegular():
			text, err := os.ReadFile(path)
			all[name] = fmt.Sprintf("%v %s", info.Mode().Perm(), text)
			return err
		default:
			all[name] = "special"
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func (w *env) path(name string) string { return filepath.Join(w.dir, name) }

func (w *env) write(name, text string) {
	w.t.Helper()
	err := errors.Join(os.MkdirAll(filepath.Dir(w.path(name)), 0o755), os.WriteFile(w.path(name), []byte(text), 0o644)) //nolint:gosec // a test's own
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *env) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// files creates n files, 10 per directory.
func (w *env) files(n int) {
	w.t.Helper()
	for i := range n {
		w.write(fmt.Sprintf("d%d/e%d/f%d.txt", i/100, i/10, i), fmt.Sprintf("file %d\n%s", i, bytes.Repeat([]byte("x\n"), i%500)))
	}
}
