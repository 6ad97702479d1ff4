package app

import (
	"context"
	"path/filepath"

	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// SkillInstaller returns an installer for .agents/skills below a directory, which other tools use
// too. Unlike pawl's own directories, it is visible in the sandbox, so that sandboxed commands can
// run the scripts of a skill. It fetches with git as found from the directory at, and runs no code
// of a repository.
func SkillInstaller(base, at string, local bool) *skill.Installer {
	return newInstaller(base, at, git.Remote{Local: local})
}

// agentSkills returns the installer for agents. It installs for the user, so that it changes no
// project and subsequent sessions and tasks can load the skill. It follows no redirect: permission
// depends on the owner in the address.
func agentSkills(home, dir string) *skill.Installer {
	return newInstaller(home, dir, git.Remote{Exact: true})
}

func newInstaller(base, at string, remote git.Remote) *skill.Installer {
	return &skill.Installer{
		Dir:   filepath.Join(base, ".agents", "skills"),
		Open:  openSkills,
		Local: remote.Local,
		Fetch: func(ctx context.Context, from skill.Source) (skill.Repository, error) {
			g, err := git.Find(ctx, at)
			if err != nil {
				return nil, err
			}
			remote.Address, remote.Ref, remote.Local = from.Address, from.Ref, from.Local
			f, err := g.Fetch(ctx, remote)
			if err != nil {
				return nil, err // not f: a nil pointer in a skill.Repository is not nil
			}
			return f, nil
		},
	}
}

func openSkills(dir string) (skill.Tree, error) {
	w, err := workspace.Open(dir)
	if err != nil {
		return nil, err // not w: a nil pointer in a skill.Tree is not nil
	}
	return w, nil
}
