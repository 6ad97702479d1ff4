//go:build sectest

package git

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestWeakened: without the hardening the same calls run the programs, so TestHostile
// would fail if it were missing.
func TestWeakened(t *testing.T) {
	defer defense.Disable("git.hardened")()
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	for _, tt := range tricks {
		if tt.apart {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			w := newEnv(t)
			tt.lay(w)
			if err := os.RemoveAll(filepath.Join(w.seen, "evil")); err != nil {
				t.Fatal(err)
			}
			if faults := w.all(); w.tripped() == "" {
				t.Errorf("it takes more than that: %v", faults)
			}
		})
	}
}

func TestWeakenedRefs(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("git.refs")()
	w := newEnv(t)
	_, err := w.repo().Run(t.Context(), Call{Args: []string{"diff"}, Refs: []string{"--output=out"}})
	if !exists(filepath.Join(w.dir, "out")) {
		t.Error(err)
	}
}

func TestWeakenedBacklink(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("git.backlink")()
	w := newEnv(t)
	w.must("worktree", "add", "-q", filepath.Join(filepath.Dir(w.dir), "tree"))
	dir := filepath.Join(filepath.Dir(w.dir), "forged")
	w.write(dir+"/.git", "gitdir: "+w.dir+"/.git/worktrees/tree\n")
	if r, err := w.open(dir); err != nil || r.Common != w.dir+"/.git" {
		t.Errorf("%+v, %v", r, err)
	}
}
