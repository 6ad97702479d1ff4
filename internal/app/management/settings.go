package management

import (
	"context"
	"errors"
	"slices"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// Settings returns the settings in effect in a directory, or without those of a project if dir is
// "". If some cannot be read, it returns the others with an error.
func Settings(ctx context.Context, dir string) ([]config.Setting, error) {
	list, err := config.UserSettings()
	if err != nil {
		return nil, err
	}
	var policyErr error
	if dir != "" {
		var policy permission.Policy
		if policy, policyErr = app.PolicyOf(ctx, dir, ""); policyErr == nil {
			list, err = addPolicy(list, policy)
		}
	}
	managed, managedErr := managedSettings()
	paths, pathsErr := config.PathSettings()
	return slices.Concat(list, managed, paths), errors.Join(err, policyErr, managedErr, pathsErr)
}

// addPolicy adds the rules of the project and, if the user has not set a mode, the default mode.
func addPolicy(list []config.Setting, policy permission.Policy) ([]config.Setting, error) {
	if !slices.ContainsFunc(list, func(s config.Setting) bool { return s.Key == "permissions.mode" }) {
		s, err := config.NewSetting("permissions.mode", policy.Mode, config.LayerBuiltIn, "")
		if err != nil {
			return list, err
		}
		list = append(list, s)
	}
	var rules []permission.Rule
	for _, r := range policy.Rules {
		if r.Origin == permission.OriginProject {
			rules = append(rules, r)
		}
	}
	if rules == nil {
		return list, nil
	}
	s, err := config.NewSetting("permissions.rules", rules, config.LayerProject, config.ProjectFile)
	return append(list, s), err
}

// managedSettings returns the settings of the managed policy.
func managedSettings() (list []config.Setting, err error) {
	m, err := config.LoadManaged()
	if err != nil {
		return nil, err
	}
	add := func(key string, value any) {
		s, fault := config.NewSetting(key, value, config.LayerManaged, config.ManagedFile)
		list, err = append(list, s), errors.Join(err, fault)
	}
	if m.MaxMode != "" {
		add("max_mode", m.MaxMode)
	}
	if m.Rules != nil {
		add("rules", m.Rules)
	}
	if m.SandboxRequired {
		add("sandbox_required", true)
	}
	if m.Skills != nil {
		add("skills", m.Skills)
	}
	if m.Hooks != nil {
		add("hooks", m.Hooks)
	}
	if m.OnlyManaged {
		add("allow_only_managed_hooks", true)
	}
	return list, err
}
