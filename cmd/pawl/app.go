package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/redact"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/local"
	"github.com/pawl-dev/pawl/internal/service/project"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/backend"
	"github.com/pawl-dev/pawl/internal/telemetry"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/lsp"
)

// app is everything, wired together in this process.
type app struct {
	pawl.Service
	runner *local.Runner
	jobs   *tool.Jobs
	faults *lsp.Servers
	mcp    *toolServers
	open   *openBuffers
	desk   *project.Local
	safety *policy.Safety
	store  store.Store
	tells  *telemetry.Telemetry
	tokens backend.Store

	control    *mission.Control
	workspaces string               // the directory of all workspaces of a fleet; "" if it is none
	parts      interface{ Close() } // what a node of a fleet is connected to; nil if it is of none

	works       func(ctx context.Context, id pawl.SessionID) (bool, error) // whether a fleet works on a session; nil if there is none
	hostTimeout time.Duration                                              // how long a host of the fleet may be silent; 0 means the default
}

// fitting is what a process of a fleet has that others have not. The zero value is
// a pawl that is alone.
type fitting struct {
	link   bus.Link      // carries events between processes
	models modelsOf      // nil means those that this process has keys for
	desk   pawl.Projects // nil means this process's own
	// run returns what works on sessions, and may change the stepper and the service;
	// nil means that this process does.
	run func(a *app, s *agent.Stepper, front *service.Config) (service.Runner, error)
}

// modelsOf opens models, and knows of them.
type modelsOf interface {
	Open(ref string) (model.Model, error)
	Window(ref string) (model.Window, error)
	Small(ref string) (string, error)
	Sibling(ref string) (string, error)
	Check(ctx context.Context, ref string) error
}

func openApp(ctx context.Context) (*app, error) { return openFitted(ctx, fitting{}) }

func openFitted(ctx context.Context, fit fitting) (*app, error) {
	ref, err := config.Store()
	if err != nil {
		return nil, err
	}
	if err := holdSecrets(ref); err != nil {
		return nil, err
	}
	kept, err := backend.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	st := redact.NewStore(instrument(kept), secrets)
	guard, err := policy.Open()
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	guard.Builtins = builtinHooks()
	blobs := secrets.Blobs(st)
	jobs := tool.NewJobs(blobs, guard)
	jobs.Redact = secrets
	servers, err := openLanguages(guard)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	tools, err := newTools(tool.Config{Blobs: blobs, Jobs: jobs, Faults: servers})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	control := newControl(guard)
	if tools, err = tools.With(control.Tools()...); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	models := fit.models
	if models == nil {
		if models, err = newModels(); err != nil {
			return nil, errors.Join(err, st.Close())
		}
	}
	tells, err := openTelemetry()
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	events := tells.Watch(bus.New(st, bus.Config{Link: fit.link}))
	loop := agent.Config{Store: st, Bus: events, Model: models.Open, Window: models.Window, SummaryModel: models.Small, SmallModel: models.Sibling, Tools: tools, Authority: guard, Hooks: guard, Redact: secrets, SubagentEnded: jobs.End, Missions: control}
	if err := useExtensions(guard, &loop); err != nil {
		return nil, errors.Join(err, tells.Close(), st.Close())
	}
	known := loop // without servers: a check starts none
	front := service.Config{Store: st, Bus: events, Check: func(ctx context.Context, dir string, s pawl.Settings) error {
		return checkSettings(ctx, models, &known, dir, s)
	}}
	front.Model = usualModel
	useSnapshots(ctx, &loop, &front)
	more, err := newServers(guard, func(name string) bool { _, taken := known.Tools.Tool(name); return taken })
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	useServers(more, &loop)
	buffers := &openBuffers{}
	loop.Buffers = buffers.of
	table, err := newDesk(guard, st, more)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	front.Projects = table
	a := &app{jobs: jobs, faults: servers, mcp: more, open: buffers, desk: table, safety: guard, store: st, tokens: kept, tells: tells, control: control}
	return a.serve(fit, agent.NewStepper(loop), front)
}

// serve puts the service over what works on sessions.
func (a *app) serve(fit fitting, stepper *agent.Stepper, front service.Config) (_ *app, err error) {
	if fit.desk != nil {
		front.Projects = fit.desk
	}
	front.PlanUndo = stepper.PlanUndo
	if fit.run == nil {
		a.runner = local.New(local.Config{Stepper: stepper})
		front.Runner = a.runner
	} else if front.Runner, err = fit.run(a, stepper, &front); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.Service = service.New(front)
	stepper.Service, a.control.Sessions = a.Service, a.Service // its subagents are sessions like any other
	return a, nil
}

// turns returns how many sessions are worked on in this process.
func (a *app) turns() int {
	if a.runner == nil {
		return 0
	}
	return a.runner.Busy()
}

// fleetFolders returns what the server of a fleet knows of its tenants: the directory
// of all workspaces, and who they are.
func (a *app) fleetFolders() (string, store.Tenants, error) {
	tenants, err := a.tenants()
	return a.workspaces, tenants, err
}

// Close stops all work, leaving open turns to be resumed, and closes the store.
func (a *app) Close() error {
	if c, ok := a.Service.(*client.Client); ok {
		c.Close() // the rest is the server's
		return nil
	}
	if a.runner != nil {
		a.runner.Close()
	}
	a.jobs.Close()
	a.desk.Close()
	a.faults.Close()
	a.mcp.Close()
	closeTelemetry(a.tells)
	if a.parts != nil {
		defer a.parts.Close()
	}
	return a.store.Close()
}

// session finds a session by its id, or the newest one of dir for "last".
func (a *app) session(ctx context.Context, name, dir string) (pawl.Session, error) {
	if name != "last" {
		s, err := a.Get(ctx, pawl.SessionID(name))
		if errors.Is(err, pawl.ErrNotFound) {
			return s, fmt.Errorf("there is no session %q: 'pawl session list' shows them: %w", name, err)
		}
		return s, err
	}
	list, err := a.List(ctx, pawl.Filter{Dir: dir, Limit: 1})
	if err != nil {
		return pawl.Session{}, err
	}
	if len(list) == 0 {
		return pawl.Session{}, fmt.Errorf("there is no session in %s yet: %w", dir, pawl.ErrNotFound)
	}
	return list[0], nil
}
