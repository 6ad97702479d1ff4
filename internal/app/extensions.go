package app

import (
	"context"
	"os"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// ExtensionPlaces returns the places to search for agents, commands, rules and skills.
func ExtensionPlaces(guard *policy.Safety) (extension.Places, error) {
	p := extension.Places{Trusted: guard.Instructs, Base: guard.Base, Reserved: agent.Reserved()}
	var err error
	if p.Home, err = os.UserHomeDir(); err != nil {
		return p, err
	}
	p.Config, err = config.UserFolder()
	return p, err
}

// useExtensions gives sessions the extensions of the user and of their directory.
func useExtensions(guard *policy.Safety, loop *agent.Config) error {
	p, err := ExtensionPlaces(guard)
	if err != nil {
		return err
	}
	skills := tool.Skill(func(ctx context.Context, c toolapi.Call) (*skill.Set, error) {
		guard.LookAgain() // this turn may have added a skill
		return p.Look(ctx, c.Dir).Skills, nil
	}, func(c toolapi.Call) *skill.Installer { return agentSkills(p.Home, c.Dir) })
	if loop.Tools, err = loop.Tools.With(skills); err != nil {
		return err
	}
	bash, _ := loop.Tools.Tool("bash")
	loop.Tools = loop.Tools.Replace(tool.SkillCommands(bash, skills))
	loop.Extensions = func(ctx context.Context, dir string, s pawl.Settings) (*extension.Found, error) {
		return FindExtensions(ctx, guard, p, dir, s.Trusted), nil
	}
	return nil
}

// FindExtensions reads the extensions of the user and of a directory. trusted means that the
// user has passed --trust. If the project configuration cannot be read, it is not trusted.
func FindExtensions(ctx context.Context, guard *policy.Safety, p extension.Places, dir string, trusted bool) *extension.Found {
	_, _, _ = guard.Project(ctx, dir, trusted)
	return p.Look(ctx, dir)
}

// ExtensionsHere calls FindExtensions for the working directory.
func ExtensionsHere(ctx context.Context, trusted bool) (*extension.Found, error) {
	guard, err := policy.Open()
	if err != nil {
		return nil, err
	}
	p, err := ExtensionPlaces(guard)
	if err != nil {
		return nil, err
	}
	dir, err := WorkingDir()
	if err != nil {
		return nil, err
	}
	return FindExtensions(ctx, guard, p, dir, trusted), nil
}
