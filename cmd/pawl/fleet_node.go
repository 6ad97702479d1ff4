//go:build fleet

package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/service"
)

// The errands of a directory's host.
const (
	errandLook   = "look"
	errandTrust  = "trust"
	errandFiles  = "files"
	errandExpand = "expand"
	errandPlan   = "plan"
)

// openNode opens an API node: it takes in what is asked, and a fleet does the work.
func openNode(ctx context.Context, log *slog.Logger) (*app, error) {
	p, err := openFleet(ctx, "pawl serve", log)
	if err != nil {
		return nil, err
	}
	models, err := p.models()
	if err != nil {
		p.Close()
		return nil, err
	}
	runner := &runner.Runner{Engine: p.engine}
	table, from := &farDesk{runner: runner}, newSources(p.Sources)
	a, err := openFitted(ctx, fitting{link: p.link, models: models, desk: table, run: func(a *app, _ *agent.Stepper, front *service.Config) (service.Runner, error) {
		roster, err := rosterOf(ctx, a.tokens, p.hosts)
		if err != nil {
			return nil, err
		}
		table.Projects, a.works, a.hostTimeout = a.desk, runner.HasWorkflow, p.hosts
		table.models, _ = models.(modelLister)
		if err := a.checkTenancy(ctx); err != nil {
			return nil, err
		}
		front.DeclareSource = func(ctx context.Context, dir, source string) error {
			if _, err := from.find(ctx, source); err != nil && !errors.Is(err, pawl.ErrUnavailable) { // the hosts may reach what this node does not
				return err
			}
			return roster.Declare(ctx, dir, source)
		}
		if front.WorkspaceUnused, err = p.dropper(ctx, roster); err != nil {
			return nil, err
		}
		front.Check = func(ctx context.Context, _ string, s pawl.Settings) error { return models.Check(ctx, s.Model) }
		front.CopySnapshots, front.DeleteSnapshots = nil, nil
		front.PlanUndo = func(ctx context.Context, id pawl.SessionID, r pawl.Undo) (plan pawl.UndoPlan, err error) {
			row, err := a.store.Session(ctx, id)
			if err != nil {
				return plan, err
			}
			return plan, runner.QueryFolder(ctx, row.Dir, errandPlan, planAsk{id, r}, &plan)
		}
		return runner, nil
	}})
	if err != nil {
		p.Close()
		return nil, err
	}
	a.parts, a.workspaces = watchFleet(a, p, log), p.Workspaces
	return a, nil
}

// checkTenancy refuses a store that would show a tenant what is another's.
func (a *app) checkTenancy(ctx context.Context) error {
	st, ok := a.tokens.(interface {
		CheckTenancy(ctx context.Context) error
	})
	if !ok {
		return errors.New("the store of a fleet must be PostgreSQL")
	}
	return st.CheckTenancy(ctx)
}

type planAsk struct {
	Session pawl.SessionID `json:"session"`
	Undo    pawl.Undo      `json:"undo"`
}

// modelLister knows the models that can be asked, with their keys.
type modelLister interface {
	Models(ctx context.Context) ([]pawl.ModelInfo, error)
}

// farDesk is what front ends know of directories that are on hosts.
type farDesk struct {
	pawl.Projects // for what is not of a directory
	runner        *runner.Runner
	models        modelLister // nil means those of this process
}

func (d *farDesk) Look(ctx context.Context, dir string) (f pawl.Project, err error) {
	return f, d.runner.QueryFolder(ctx, dir, errandLook, nil, &f)
}

func (d *farDesk) Trust(ctx context.Context, dir, hash string) error {
	var done struct{}
	return d.runner.QueryFolder(ctx, dir, errandTrust, hash, &done)
}

func (d *farDesk) Models(ctx context.Context) ([]pawl.ModelInfo, error) {
	if d.models == nil {
		return d.Projects.Models(ctx)
	}
	return d.models.Models(ctx)
}

type filesAsk struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

func (d *farDesk) Files(ctx context.Context, dir, query string, limit int) (paths []string, err error) {
	return paths, d.runner.QueryFolder(ctx, dir, errandFiles, filesAsk{query, limit}, &paths)
}

type expanded struct {
	Prompt pawl.Prompt `json:"prompt"`
	Notes  []string    `json:"notes,omitempty"`
}

func (d *farDesk) Expand(ctx context.Context, dir string, p pawl.Prompt) (pawl.Prompt, []string, error) {
	var out expanded
	err := d.runner.QueryFolder(ctx, dir, errandExpand, p, &out)
	return out.Prompt, out.Notes, err
}

func (d *farDesk) Output(ctx context.Context, id pawl.SessionID, blob string) (io.ReadCloser, error) {
	if d.Projects == nil {
		return nil, errors.New("the node is not open yet")
	}
	return d.Projects.Output(ctx, id, blob)
}
