package main

import (
	"context"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/security/policy"
)

// newControl makes mission control. Where it makes sessions is set later.
func newControl(s *policy.Safety) *mission.Control {
	return mission.New(mission.Config{
		Repo:       repoOf,
		Workplaces: func(_ context.Context, repo *git.Repo) (string, error) { return s.Allot(repo) },
		Furnish: func(ctx context.Context, g *gate.Gate, dir string) error {
			cache, err := s.Cache(dir)
			if err != nil {
				return err
			}
			return g.Lend(ctx, cache)
		},
		Clear: s.DropCache,
		Gate:  func(repo *git.Repo) (*gate.Gate, error) { return openGate(repo, s) },
	})
}
