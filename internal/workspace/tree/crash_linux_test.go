package tree_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// everything makes each kind of operation, in each kind of directory.
const everything = `
echo a >a; ln a a2; echo more >>f; chmod 600 db; touch -d 2020-01-01 big; rm h1; chmod 700 d; echo two2 >d/x
mkdir -p k/l; echo 1 >k/l/1; chmod 500 k/l
chmod 755 ro; rm ro/file; echo n >ro/n; chmod 555 ro
rm -r deep/a/b; rm link; mkdir link; echo in >link/in; rm run; ln -s f run; rm -r empty; echo e >empty
echo o2 >.git/objects/aa/2; echo new >.git/refs/heads/main; echo new >.git/refs/heads/b; rm .git/index; echo H >.git/HEAD
`

var errCrash = errors.New("crash")

// crashCase is a project with the upper of a command, which each run copies.
type crashCase struct {
	t       *testing.T
	base    string
	variant string
	meddle  func(root, point string) // what the user does at a point
}

// start copies the project and returns a transaction that applies the changes.
func (c *crashCase) start() (*tree.Transaction, []tree.Change) {
	c.t.Helper()
	base := tempDir(c.t, "/dev/shm") // syncs at once
	if strings.Contains(c.variant, "elsewhere") {
		base = tempDir(c.t, "")
	}
	upper, state := base, base
	if strings.Contains(c.variant, "upper") {
		upper = tempDir(c.t, "/dev/shm")
	}
	if strings.Contains(c.variant, "state") {
		state = tempDir(c.t, "/dev/shm")
	}
	tx := &tree.Transaction{
		Dir: filepath.Join(state, "tx"), Root: filepath.Join(base, "root"), Copy: strings.Contains(c.variant, "copy"),
		View: tree.View{Upper: filepath.Join(upper, "upper"), Lower: filepath.Join(base, "root")},
	}
	must(c.t, exec.Command("cp", "-a", filepath.Join(c.base, "root"), tx.Root).Run())
	must(c.t, exec.Command("cp", "-a", filepath.Join(c.base, "upper"), tx.View.Upper).Run())
	must(c.t, os.Chmod(filepath.Join(tx.View.Upper, "k"), 0)) // could not be copied
	changes, _, err := tree.Scan(c.t.Context(), tx.View)
	must(c.t, err)
	for i := range changes {
		if strings.HasPrefix(changes[i].Path, ".git/") && !strings.HasPrefix(changes[i].Path, ".git/objects") {
			changes[i].Unit = ".git"
		}
	}
	tx.Since = 1 << 62 // the copy is not the user's
	return tx, changes
}

// run applies the changes, crashes at each number of points, and resumes to the end.
func (c *crashCase) run(crashes ...int) (points int, outcome []string) {
	c.t.Helper()
	tx, changes := c.start()
	meddled := map[string]bool{}
	hook := func(crash int) func(string) error {
		points = 0
		return func(point string) error {
			if c.meddle != nil && !meddled[point] {
				meddled[point] = true
				c.meddle(tx.Root, point)
			}
			if points++; points == crash {
				return errCrash
			}
			return nil
		}
	}
	first := 0
	if len(crashes) > 0 {
		first, crashes = crashes[0], crashes[1:]
	}
	tx.SetHook(hook(first))
	res, err := tx.Apply(c.t.Context(), changes)
	for errors.Is(err, errCrash) {
		next := 0
		if len(crashes) > 0 {
			next, crashes = crashes[0], crashes[1:]
		}
		res, err = tree.ResumeWithHook(c.t.Context(), tx.Dir, hook(next))
		if errors.Is(err, tree.ErrNotStarted) {
			tx.SetHook(hook(next))
			res, err = tx.Apply(c.t.Context(), changes)
		}
	}
	must(c.t, err)
	again, err := tree.Resume(c.t.Context(), tx.Dir)
	must(c.t, err)
	if diff := cmp.Diff(res, again); diff != "" {
		c.t.Errorf("(-result +after resuming a finished transaction)\n%s", diff)
	}
	outcome = listing(c.t, tx.Root)
	for _, change := range res.Applied {
		outcome = append(outcome, fmt.Sprintf("applied %q\n", change.Path))
	}
	for _, conflict := range res.Conflicts {
		kept := ""
		if conflict.Kept != "" {
			data, err := exec.Command("cat", conflict.Kept).Output()
			must(c.t, err)
			kept = string(data)
		}
		outcome = append(outcome, fmt.Sprintf("conflict %q keeps %q\n", conflict.Path, kept))
	}
	entries, err := os.ReadDir(filepath.Join(tx.Dir, "trash"))
	must(c.t, err)
	for _, e := range entries {
		outcome = append(outcome, fmt.Sprintf("trash %s %v\n", e.Name(), e.Type()))
	}
	return points, outcome
}

func newCrashCase(t *testing.T, variant string) *crashCase {
	t.Helper()
	s := newSandbox(t)
	shell(t, s.root, project)
	tx := s.view(everything)
	base := tempDir(t, "")
	must(t, exec.Command("cp", "-a", s.root, filepath.Join(base, "root")).Run())
	upper := filepath.Join(base, "upper")
	must(t, exec.Command("cp", "-a", tx.View.Upper, upper).Run())
	return &crashCase{t: t, base: base, variant: variant}
}

// A transaction that is interrupted at any point, and again when it resumes, ends as one that is not.
func TestCrash(t *testing.T) {
	t.Parallel()
	for _, variant := range []string{"move", "copy", "upper elsewhere", "state elsewhere", "upper and state elsewhere"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			c := newCrashCase(t, variant)
			outcome := c.everyPoint(t)
			if slices.ContainsFunc(outcome, func(line string) bool { return strings.HasPrefix(line, "conflict") }) {
				t.Errorf("conflicts in\n%s", outcome)
			}
		})
	}
}

// The same holds if the user changes a file in the middle, so that a unit is undone.
func TestCrashAndConflict(t *testing.T) {
	t.Parallel()
	for _, variant := range []string{"move", "upper and state elsewhere"} {
		for _, target := range []string{".git/HEAD", ".git/index", "f"} {
			t.Run(variant+" "+target, func(t *testing.T) {
				t.Parallel()
				c := newCrashCase(t, variant)
				// The user's write comes before the first operation, after the check.
				c.meddle = func(root, point string) {
					if point == "manifest" {
						must(t, os.WriteFile(filepath.Join(root, target), []byte("the user's\n"), 0o644))
					}
				}
				outcome := c.everyPoint(t)
				if !slices.ContainsFunc(outcome, func(line string) bool { return strings.HasPrefix(line, fmt.Sprintf("conflict %q", target)) }) {
					t.Errorf("no conflict for %s in\n%s", target, outcome)
				}
				if !slices.ContainsFunc(outcome, func(line string) bool {
					return strings.HasPrefix(line, fmt.Sprintf("%q", target)) && strings.Contains(line, "the user's")
				}) {
					t.Errorf("the user's change of %s is lost in\n%s", target, outcome)
				}
			})
		}
	}
}

func (c *crashCase) everyPoint(t *testing.T) []string {
	t.Helper()
	points, want := c.run()
	if points < 40 {
		t.Fatalf("only %d points", points)
	}
	for i := 1; i <= points; i++ {
		_, got := c.run(i, 1+i*7%points)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("crash at %d and %d of %d: (-without +with)\n%s", i, 1+i*7%points, points, diff)
		}
	}
	return want
}
