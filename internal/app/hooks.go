package app

import (
	"context"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/hook"
)

// BuiltinHooks returns the configuration of the built-in hooks.
func BuiltinHooks() hook.Builtins {
	return hook.Builtins{
		Mask:      Secrets.Redact,
		Resources: func(_ context.Context, e hook.Event) ([]hook.Resource, error) { return e.Used, nil },
		Sanity:    agent.FindRepetition,
	}
}
