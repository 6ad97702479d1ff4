package access_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// realDir returns a new directory by its real path.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRoots(t *testing.T) {
	t.Parallel()
	root, outside := realDir(t), realDir(t)
	for _, err := range []error{
		os.MkdirAll(filepath.Join(root, "in", "deep"), 0o700), os.Mkdir(root+"-sibling", 0o700),
		os.Symlink(outside, filepath.Join(root, "link")), os.Symlink(filepath.Join(root, "in"), filepath.Join(outside, "back")),
		os.Symlink(filepath.Join(outside, "gone"), filepath.Join(root, "dangling")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]bool{
		root: true, filepath.Join(root, "in", "deep"): true, filepath.Join(root, "deleted", "below"): true, filepath.Join(outside, "back", "deep"): true,
		outside: false, root + "-sibling": false, filepath.Join(root, "link"): false, filepath.Join(root, "link", "deleted"): false,
		root + "/in/../../x": false, "relative": false, "": false, "/": false, filepath.Join(outside, "deleted"): false,
	} {
		if got := (access.Roots{root}).Contains(dir); got != want {
			t.Errorf("%s: %t", dir, got)
		}
	}
	if !(access.Roots)(nil).Contains(outside) || (access.Roots{}).Contains(outside) {
		t.Error("no roots are not the same as none at all")
	}
}

// Sessions outside of the roots look as if they did not exist, whoever asks, also if their directory was
// inside when they began.
func TestSessionsElsewhere(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTeam(t)
	root, outside := realDir(t), realDir(t)
	b.Roots = access.Roots{root}
	moved := filepath.Join(root, "moved")
	if err := os.Mkdir(moved, 0o700); err != nil {
		t.Fatal(err)
	}
	ids := map[string]pawl.SessionID{}
	for name, dir := range map[string]string{"inside": root, "deleted": filepath.Join(root, "deleted"), "outside": outside, "moved": moved} {
		s, err := b.all.Create(t.Context(), pawl.NewSession{Dir: dir, Owner: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = s.ID
	}
	worker, err := b.all.Create(t.Context(), pawl.NewSession{Dir: outside, Parent: ids["inside"]}) // in a worktree
	if err != nil {
		t.Fatal(err)
	}
	ids["worker"] = worker.ID
	if err := errors.Join(os.Remove(moved), os.Symlink(outside, moved)); err != nil {
		t.Fatal(err)
	}
	for _, svc := range []pawl.Service{b.as("ada"), b.For(b.all, api.Principal{Scope: api.ScopeAdmin})} {
		for name, want := range map[string]bool{"inside": true, "deleted": true, "worker": true, "outside": false, "moved": false} {
			if _, err := svc.Get(t.Context(), ids[name]); (err == nil) != want {
				t.Errorf("the session %s: %v", name, err)
			}
			if want {
				continue
			}
			for method, m := range b.attempts() {
				if err := m.do(t.Context(), svc, ids[name]); m.reach != picks && !errors.Is(err, pawl.ErrNotFound) {
					t.Errorf("%s of the session %s: %v", method, name, err)
				}
			}
		}
		for _, f := range []pawl.Filter{{}, {Limit: 1}} {
			list, err := svc.List(t.Context(), f)
			if err != nil || len(list.Sessions) == 0 {
				t.Fatal(list, err)
			}
			for _, row := range list.Sessions {
				if row.Dir == outside || row.Dir == moved {
					t.Errorf("the list has the session in %s", row.Dir)
				}
			}
		}
	}
}
