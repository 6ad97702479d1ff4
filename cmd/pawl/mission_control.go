package main

import (
	"context"

	"github.com/pawl-dev/pawl/internal/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/safety"
)

// newControl makes mission control. Where it makes sessions is set later.
func newControl(s *safety.Safety) *mission.Control {
	return mission.New(mission.Config{
		Repo:       repoOf,
		Workplaces: func(_ context.Context, repo *git.Repo) (string, error) { return s.Allot(repo) },
		Gate:       func(repo *git.Repo) (*gate.Gate, error) { return openGate(repo, s) },
	})
}
