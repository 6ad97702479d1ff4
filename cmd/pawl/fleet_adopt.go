//go:build fleet

package main

import (
	"context"
	"log/slog"

	"github.com/pawl-dev/pawl/fleet/runner"
)

// aloneStore lets one process at a time do something.
type aloneStore interface {
	Alone(ctx context.Context, name string, do func(context.Context) error) (bool, error)
}

// adoptFleet looks after the sessions of all tenants that nobody works on, until ctx
// ends. Of several nodes one looks at a time.
func (a *app) adoptFleet(ctx context.Context, log *slog.Logger) {
	tenants, err := a.tenants()
	alone, ok := a.tokens.(aloneStore)
	if err != nil || !ok {
		log.Error("interrupted sessions are not looked after: the store of a fleet must be PostgreSQL", "error", err)
		return
	}
	adopter := &runner.Adopter{Tenants: tenants, Sessions: a, HasWorkflow: a.works, Log: log, HostTimeout: a.hostTimeout,
		WithLock: func(ctx context.Context, do func(context.Context) error) (bool, error) {
			return alone.Alone(ctx, "adopt", do)
		},
	}
	adopter.Run(ctx)
}
