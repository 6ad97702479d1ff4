package main

import (
	"context"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/policy"
)

// loadPolicy returns what holds in this directory. A mode that is named wins over
// the user's.
func loadPolicy(ctx context.Context, mode string) (permission.Policy, error) {
	s, err := policy.Open()
	if err != nil {
		return permission.Policy{}, err
	}
	dir, err := workingDir()
	if err != nil {
		return permission.Policy{}, err
	}
	return s.Policy(ctx, "", dir, pawl.Settings{Mode: mode})
}
