package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/git"
)

// Environment variables that make the test binary run as another process.
const (
	childRepo = "PAWL_WORKTREE_REPO"
	childData = "PAWL_WORKTREE_DATA"
	childDie  = "PAWL_WORKTREE_DIE" // kill itself at this point, counted from 1; 0 means never
)

func TestMain(m *testing.M) {
	if os.Getenv(childRepo) == "" {
		os.Exit(m.Run())
	}
	if err := child(context.Background()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// child runs a whole task in another process and continues what a killed one left.
func child(ctx context.Context) error {
	g, err := git.Find(ctx, os.Getenv(childRepo))
	if err != nil {
		return err
	}
	repo, err := g.Open(ctx, os.Getenv(childRepo))
	if err != nil {
		return err
	}
	die, err := strconv.Atoi(os.Getenv(childDie))
	if err != nil {
		return err
	}
	t := &Trees{Repo: repo, Dir: os.Getenv(childData)}
	t.trace = func(string) {
		if die--; die == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	if _, err := t.Sweep(ctx, func(string) bool { return true }); err != nil {
		return err
	}
	if _, ok, err := t.Merged(ctx, "pawl/m1", "main", label("a")); err != nil || ok {
		return errors.Join(err, t.Remove("a"))
	}
	file := filepath.Join(t.Path("a"), "f")
	if text, _ := os.ReadFile(file); string(text) != "two\n" {
		if err := errors.Join(t.Remove("a"), t.Make(ctx, "main", "a"), os.WriteFile(file, []byte("two\n"), 0o600)); err != nil {
			return err
		}
	}
	h, err := t.Collect(ctx, "a", "main", label("a"))
	if err != nil {
		return err
	}
	m, err := t.Merge(ctx, "pawl/m1", h.Commit, label("a"))
	if err != nil {
		return err
	}
	return errors.Join(t.Advance(ctx, "pawl/m1", m.Onto, m.Commit), t.Remove("a"))
}

// run runs the other process, and reports whether it was killed.
func (w *env) run(die int) bool {
	w.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRepo+"="+w.dir, childData+"="+w.trees.Dir, childDie+"="+strconv.Itoa(die))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		return true
	}
	if err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	return false
}

// Wherever a process is killed, the next one gets the same result.
func TestKilled(t *testing.T) {
	t.Parallel()
	w := newEnv(t, map[string]string{"f": "one\n", "d/g": "g\n"})
	base := w.git("rev-parse", "main")
	w.run(0)
	want := w.git("rev-parse", "pawl/m1")
	if got := w.git("log", "--format=%P", "-1", "pawl/m1"); got != base || len(w.left()) > 0 {
		t.Fatalf("undisturbed: %s on top of %s, %v", want, got, w.left())
	}
	point := 1
	for ; ; point++ {
		w.git("update-ref", "refs/heads/pawl/m1", base)
		killed := w.run(point)
		w.run(0)
		if got := w.git("rev-parse", "pawl/m1"); got != want {
			t.Errorf("killed at %d: %s", point, w.git("log", "-p", base+"..pawl/m1"))
		}
		if diff := cmp.Diff([]string(nil), w.left()); diff != "" {
			t.Errorf("killed at %d: something is left: %s", point, diff)
		}
		if !killed {
			break
		}
	}
	if point < 11 {
		t.Errorf("only %d points", point)
	}
}
