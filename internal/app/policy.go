package app

import (
	"context"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/policy"
)

// LoadPolicy returns the permission policy of the working directory. A mode other than ""
// overrides the configured one.
func LoadPolicy(ctx context.Context, mode string) (permission.Policy, error) {
	dir, err := WorkingDir()
	if err != nil {
		return permission.Policy{}, err
	}
	return PolicyOf(ctx, dir, mode)
}

// PolicyOf returns the permission policy of a directory. A mode other than "" overrides the
// configured one.
func PolicyOf(ctx context.Context, dir, mode string) (permission.Policy, error) {
	s, err := policy.Open()
	if err != nil {
		return permission.Policy{}, err
	}
	return s.Policy(ctx, "", dir, pawl.Settings{Mode: mode})
}
