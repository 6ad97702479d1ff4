package main

import (
	"context"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// The git that can put work together without a directory of its own.
const missionGitMajor, missionGitMinor = 2, 38

// checkMissions says whether missions can be worked on here.
func checkMissions(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	f := finding{Name: "missions", Status: checkOK}
	dir, err := workingDir()
	var g *git.Git
	if err == nil {
		g, err = git.Find(ctx, dir)
	}
	if err == nil {
		err = g.AtLeast(missionGitMajor, missionGitMinor)
	}
	if err != nil {
		f.Status, f.Detail, f.Fix = checkWarn, "none: "+err.Error(), "install git 2.38 or newer"
		return f
	}
	if box, _ := sandbox.Detect(ctx); box.Name() == "none" {
		f.Status, f.Detail, f.Fix = checkWarn, "none: workers and checks run in the sandbox only", "see sandbox"
		return f
	}
	f.Detail = "git " + g.Version() + " and the sandbox are there"
	return f
}
