package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

// A check that has two files in its cache, which must be of one mind: those of an
// earlier base are, and its own are its own until it ends.
const (
	writeScript = `cd "$XDG_CACHE_HOME" && cmp -s one two || test ! -e one && mkdir -p "deep/$1" && echo "$1" >one`
	readScript  = `cd "$XDG_CACHE_HOME" && test "$(cat one)" = "$1" && echo "$1" >two`
)

func seedChecks(name string) []pawl.Check {
	return []pawl.Check{
		{ID: "write", Kind: pawl.CheckOther, Args: []string{"sh", "-c", writeScript, "sh", name}},
		{ID: "read", Kind: pawl.CheckOther, Args: []string{"sh", "-c", readScript, "sh", name}},
	}
}

// baseOnce makes a baseline in a gate of its own, and says what went wrong.
func baseOnce(ctx context.Context, repo, seed, dir, name string, between func() error) error {
	found, err := git.Find(ctx, repo)
	if err != nil {
		return err
	}
	r, err := found.Open(ctx, repo)
	if err != nil {
		return err
	}
	criteria, err := NewCriteria(ctx, r, "HEAD", seedChecks(name), pawl.Criteria{})
	if err != nil {
		return err
	}
	g := &Gate{Repo: r, Dir: dir, Hidden: []string{repo}, Sandbox: inSandbox, Views: views, Seed: seed}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	var failed error
	_, err = g.Baseline(ctx, criteria, func(ran pawl.CheckRun) {
		if !ran.OK() {
			failed = errors.Join(failed, fmt.Errorf("%s of %s: %s", ran.Check, name, Summary(ran)))
		}
		if ran.Check == "write" {
			failed = errors.Join(failed, between())
		}
	})
	return errors.Join(err, failed, g.Close())
}

func nothing() error { return nil }

// gateProcess is what another process does: see TestMain.
func gateProcess(args []string) error {
	return baseOnce(context.Background(), args[0], args[1], args[2], args[3], nothing)
}

// While a base is under way, another one comes and goes: neither sees the other, and the last one to end finds the seed
// unused.
func TestSeedIsNobodysOwn(t *testing.T) {
	t.Parallel()
	w, seed := newTestRepo(t), t.TempDir()
	w.commit(map[string]string{"a": "a"})
	dir := t.TempDir()
	err := baseOnce(t.Context(), w.dir, seed, filepath.Join(dir, "first"), "first", func() error {
		return baseOnce(t.Context(), w.dir, seed, filepath.Join(dir, "second"), "second", nothing)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		if text, err := os.ReadFile(filepath.Join(seed, "cache", name)); err != nil || string(text) != "first\n" {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
}

// Several gates of several processes have one seed. None finds half of what
// another has left there.
func TestSeedAmongMany(t *testing.T) {
	t.Parallel()
	w, seed := newTestRepo(t), t.TempDir()
	w.commit(map[string]string{"a": "a"})
	dir := t.TempDir()
	ctx := t.Context()
	var group sync.WaitGroup
	for i := range 3 {
		name := fmt.Sprintf("g%d", i)
		group.Go(func() {
			for turn := range 3 {
				name := fmt.Sprintf("%s-%d", name, turn)
				if err := baseOnce(ctx, w.dir, seed, filepath.Join(dir, name), name, nothing); err != nil {
					t.Error(err)
				}
			}
		})
		group.Go(func() {
			name := "p" + name
			cmd := exec.CommandContext(ctx, os.Args[0], w.dir, seed, filepath.Join(dir, name), name)
			cmd.Env = append(os.Environ(), processVar+"=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", name, err, out)
			}
		})
	}
	group.Wait()
	one, err1 := os.ReadFile(filepath.Join(seed, "cache", "one"))
	two, err2 := os.ReadFile(filepath.Join(seed, "cache", "two"))
	if err := errors.Join(err1, err2); err != nil || string(one) != string(two) {
		t.Errorf("kept are %q and %q, %v", one, two, err)
	}
	if diff := cmp.Diff([]string{"cache", "lock"}, namesIn(t, seed)); diff != "" {
		t.Error(diff)
	}
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What is added to the seed is as old as it was, and replaces nothing.
func TestSeedIsAddedTo(t *testing.T) {
	t.Parallel()
	g := &Gate{Seed: t.TempDir()}
	write(t, filepath.Join(g.Seed, "cache", "a", "there"), "first")
	kept := t.TempDir()
	write(t, filepath.Join(kept, "a", "there"), "second")
	write(t, filepath.Join(kept, "a", "b"), "x")
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(kept, "a", "b"), old, old); err != nil {
		t.Fatal(err)
	}
	if err := g.addToSeed(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(g.Seed, "cache", "a", "there")); err != nil || string(text) != "first" {
		t.Errorf("it is %q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(g.Seed, "cache", "a", "b")); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("it is of %v, %v", info.ModTime(), err)
	}
}

// A cache that has grown too large is begun anew.
func TestSeedIsBounded(t *testing.T) {
	t.Parallel()
	g, kept := &Gate{Seed: t.TempDir()}, t.TempDir()
	write(t, filepath.Join(g.Seed, "cache", "large"), "")
	if err := os.Truncate(filepath.Join(g.Seed, "cache", "large"), maxSeed+1); err != nil { // it takes no space
		t.Fatal(err)
	}
	write(t, filepath.Join(kept, "new"), "x")
	if err := g.addToSeed(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"new"}, namesIn(t, filepath.Join(g.Seed, "cache"))); diff != "" {
		t.Error(diff)
	}
}

// Who waits for the seed can be called off.
func TestSeedWait(t *testing.T) {
	t.Parallel()
	g := &Gate{Seed: t.TempDir()}
	held, err := lockSeed(t.Context(), g.Seed, unix.LOCK_EX)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.LinkCache(ctx, t.TempDir()); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "lock") {
		t.Errorf("got %v", err)
	}
}
