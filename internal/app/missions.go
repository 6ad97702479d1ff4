package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/security/policy"
)

// newMissions returns mission control. The caller sets its Sessions once the service is open.
func newMissions(s *policy.Safety) *mission.Control {
	return mission.New(mission.Config{
		Repo:      RepoOf,
		Worktrees: func(_ context.Context, repo *git.Repo) (string, error) { return s.Allot(repo) },
		ShareCache: func(ctx context.Context, g *gate.Gate, dir string) error {
			cache, err := s.Cache(dir)
			if err != nil {
				return err
			}
			return g.LinkCache(ctx, cache)
		},
		Guard: s.GuardWorktree,
		Clear: func(dir string) error { return errors.Join(s.DropCache(dir), s.Unguard(dir)) },
		Gate:  func(repo *git.Repo) (*gate.Gate, error) { return OpenGate(repo, s) },
	})
}

// RepoOf opens the repository that contains dir.
func RepoOf(ctx context.Context, dir string) (*git.Repo, error) {
	g, err := git.Find(ctx, dir)
	if err != nil {
		return nil, err
	}
	return g.Open(ctx, dir)
}

// OpenGate returns a gate for a repository. Closing the gate removes its temporary trees; the cache
// of the base's checks is kept in pawl's cache directory.
func OpenGate(repo *git.Repo, s *policy.Safety) (*gate.Gate, error) {
	cache, err := config.Cache()
	if err != nil {
		return nil, err
	}
	seed := filepath.Join(cache, "gate", gate.DirName(repo.Common))
	toolchains := filepath.Join(cache, "toolchains")
	if err := errors.Join(os.MkdirAll(seed, 0o700), os.MkdirAll(toolchains, 0o700)); err != nil {
		return nil, err
	}
	dir, lock, err := gate.TempDir(os.TempDir())
	if err != nil {
		return nil, err
	}
	views := func(ctx context.Context) (bool, error) {
		v, err := s.View(ctx, dir)
		return v.Name == policy.ViewOverlay, err
	}
	return &gate.Gate{Repo: repo, Dir: dir, Lock: lock, Sandbox: s.WrapCheck, Views: views, Hidden: []string{repo.Top, repo.Common}, Seed: seed, Toolchains: toolchains}, nil
}

// MissionGitMajor and MissionGitMinor are the minimum git version for missions, the first that can
// merge without a worktree.
const (
	MissionGitMajor = 2
	MissionGitMinor = 38
)
