package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/gate"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/safety"
)

// newControl makes mission control. Where it makes sessions is set later.
func newControl(s *safety.Safety) *mission.Control {
	return mission.New(mission.Config{
		Repo:       repoOf,
		Workplaces: workplacesOf,
		Gate:       func(repo *git.Repo) (*gate.Gate, error) { return openGate(repo, s) },
	})
}

// workplacesOf is a folder for the workplaces of a repository.
func workplacesOf(_ context.Context, repo *git.Repo) (string, error) {
	data, err := config.Data()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(data, "workplaces", gate.Place(repo.Common))
	return dir, os.MkdirAll(dir, 0o700)
}
