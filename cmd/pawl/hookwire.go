package main

import (
	"context"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/hook"
)

// builtinHooks are what pawl's own hooks are made with.
func builtinHooks() hook.Builtins {
	return hook.Builtins{
		Mask:      secrets.Redact,
		Resources: func(_ context.Context, e hook.Event) ([]hook.Resource, error) { return e.Used, nil },
		Sanity:    agent.FindRepetition,
	}
}
