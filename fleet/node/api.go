package node

import (
	"context"
	"errors"
	"log/slog"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/service"
)

// API is an API node: it accepts requests, and the workers of the fleet run the
// sessions.
type API struct {
	*app.App
	Workspaces string // the directory of all workspaces

	runner      *runner.Runner
	watch       *statusWatch
	connections *Connections
}

// OpenAPI connects to the fleet and opens an API node.
func OpenAPI(ctx context.Context, log *slog.Logger) (*API, error) {
	c, err := connect(ctx, "pawl-fleet serve", log)
	if err != nil {
		return nil, err
	}
	n := &API{Workspaces: c.Workspaces, runner: &runner.Runner{Engine: c.Engine}, connections: c}
	if err := n.open(ctx); err != nil {
		c.Close()
		return nil, err
	}
	n.watch = watchStatus(n.App, c, log)
	return n, nil
}

func (n *API) open(ctx context.Context) error {
	models, err := n.connections.models()
	if err != nil {
		return err
	}
	projects := &remoteProjects{runner: n.runner}
	projects.models, _ = models.(modelLister)
	n.App, err = app.Open(ctx, app.Options{
		Link: n.connections.Link, Models: models, Projects: projects,
		Run: func(a *app.App, _ *agent.Stepper, front *service.Config) (service.Runner, error) {
			projects.Projects, projects.store = a.Projects, a.Store
			return n.runner, n.configure(ctx, a, models, front)
		},
	})
	return err
}

// configure makes the service ask the hosts where it would use local directories.
func (n *API) configure(ctx context.Context, a *app.App, models app.Models, front *service.Config) error {
	hosts, err := hostRegistry(ctx, a.RawStore, n.connections.HostTimeout)
	if err != nil {
		return err
	}
	allowed := newSources(n.connections.Sources)
	front.DeclareSource = func(ctx context.Context, dir, source string) error {
		// The hosts may reach what this node cannot.
		if _, err := allowed.find(ctx, source); err != nil && !errors.Is(err, pawl.ErrUnavailable) {
			return err
		}
		return hosts.Declare(ctx, dir, source)
	}
	if front.WorkspaceUnused, err = n.connections.workspaceDropper(ctx, hosts); err != nil {
		return err
	}
	front.Check = func(ctx context.Context, _ string, s pawl.Settings) error { return models.Check(ctx, s.Model) }
	front.CopySnapshots, front.DeleteSnapshots = nil, nil
	front.PlanUndo = func(ctx context.Context, id pawl.SessionID, r pawl.Undo) (plan pawl.UndoPlan, err error) {
		row, err := a.Store.Session(ctx, id)
		if err != nil {
			return plan, err
		}
		return plan, n.runner.QueryFolder(ctx, row.Dir, queryPlan, planQuery{id, r}, &plan)
	}
	return nil
}

// Close closes the app, then the connections.
func (n *API) Close() error {
	n.watch.Close()
	err := n.App.Close()
	n.connections.Close()
	return err
}

// exclusive runs one function at a time among all processes that use a store.
type exclusive interface {
	Alone(ctx context.Context, name string, do func(context.Context) error) (bool, error)
}

// Adopt resumes interrupted sessions of all tenants until ctx ends. Only one API node does so at a time.
func (n *API) Adopt(ctx context.Context, log *slog.Logger) {
	tenants, err := n.Tenants()
	store, ok := n.RawStore.(exclusive)
	if err != nil || !ok {
		log.Error("interrupted sessions are not resumed: the store of a fleet must be PostgreSQL", "error", err)
		return
	}
	adopter := &runner.Adopter{
		Tenants: tenants, Sessions: n.App, HasWorkflow: n.runner.HasWorkflow, Log: log, HostTimeout: n.connections.HostTimeout,
		WithLock: func(ctx context.Context, do func(context.Context) error) (bool, error) {
			return store.Alone(ctx, "adopt", do)
		},
	}
	adopter.Run(ctx)
}
