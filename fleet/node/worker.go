package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/service"
)

// The roles of a worker.
const (
	RoleCoordinator = "coordinator"
	RoleExecutor    = "executor"
)

// WorkerOptions configures a worker.
type WorkerOptions struct {
	Roles         []string
	Host          string // the name of this host; "" means PAWL_HOST, or the name that the operating system reports
	Capacity      int    // workspaces that may be in use at once
	Reserve       int64  // bytes of disk to keep free; with less the host is full
	WorkspaceSize int64  // maximum bytes of a workspace
	GatewayListen string // where a coordinator answers model requests; "" means nowhere
	HealthListen  string // where to answer /healthz, /readyz and /metrics; "" means nowhere
	BuildID       string // the version that workflows are pinned to
	Drain         time.Duration
	Log           *slog.Logger
}

// Grace periods of Temporal's workers when they stop.
const (
	coordinatorGrace = 5 * time.Second // workflow tasks are short
	executorGrace    = time.Second     // for steps that the drain did not wait for
)

// closeTime bounds the shutdown of an HTTP server and a readiness check.
const closeTime = 5 * time.Second

// worker is a running worker.
type worker struct {
	WorkerOptions
	connections *Connections
	app         *app.App
	workspaces  *runner.Workspaces
	keeper      *keeper // nil without a blob store
	failed      chan error
	ready       atomic.Bool // it accepts work
	closers     []func()    // run in reverse order
}

// RunWorker runs a worker until ctx ends or one of its servers fails, then drains
// it. It calls stopping before it drains.
func RunWorker(ctx context.Context, o WorkerOptions, stopping func()) error {
	w := &worker{WorkerOptions: o, failed: make(chan error, 2)}
	defer w.close()
	workCtx := context.WithoutCancel(ctx) // ctx ends before the drain
	if err := w.open(workCtx); err != nil {
		return err
	}
	w.Log.Info("working", "roles", w.Roles, "host", w.workspaces.Host, "version", w.version())
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-w.failed:
	}
	stopping()
	w.drain(workCtx)
	return failed
}

func (w *worker) has(role string) bool { return slices.Contains(w.Roles, role) }

func (w *worker) version() string { return cmp.Or(w.BuildID, app.Version) }

func (w *worker) onClose(do func()) { w.closers = append(w.closers, do) }

func (w *worker) close() {
	for _, do := range slices.Backward(w.closers) {
		do()
	}
}

func (w *worker) open(ctx context.Context) (err error) {
	if w.connections, err = connect(ctx, "pawl-fleet worker", w.Log); err != nil {
		return err
	}
	w.onClose(w.connections.Close)
	if w.has(RoleCoordinator) { // it has the API keys
		w.connections.Gateway = ""
	}
	models, err := w.connections.models()
	if err != nil {
		return err
	}
	executor := &runner.Executor{}
	w.app, err = app.Open(ctx, app.Options{Link: w.connections.Link, Models: models, Run: func(a *app.App, s *agent.Stepper, _ *service.Config) (service.Runner, error) {
		if err := w.configureExecutor(ctx, a, s, executor); err != nil {
			return nil, err
		}
		executor.FolderQueries = queryHandlers(a, s)
		r := &runner.Runner{Engine: w.connections.Engine}
		w.configureMissions(a, executor, r)
		return r, nil
	}})
	if err != nil {
		return err
	}
	w.onClose(func() { _ = w.app.Close() })
	if err := w.start(ctx, executor, models); err != nil {
		return err
	}
	w.ready.Store(true)
	return nil
}

// configureExecutor sets up the executor of this host and makes the stepper save a
// checkpoint after each step.
func (w *worker) configureExecutor(ctx context.Context, a *app.App, s *agent.Stepper, executor *runner.Executor) error {
	if err := w.openWorkspaces(ctx, a); err != nil {
		return err
	}
	s.Suspend = true
	s.Checkpoint = func(ctx context.Context, _ pawl.SessionID, dir string) error {
		return w.workspaces.SaveRetrying(ctx, dir)
	}
	summarizer := agent.NewSummarizer(s)
	w.onClose(summarizer.Close)
	executor.Observe, w.workspaces.Observe = a.Telemetry.Step, a.Telemetry.Workspace
	executor.Notify = func(id pawl.SessionID, text string) {
		s.Bus.Publish(pawl.Event{Session: id, At: time.Now(), Body: pawl.Status{State: "notice", Message: app.Secrets.Redact(text)}})
	}
	executor.Stepper, executor.Leases, executor.Workspaces, executor.Summarizer = s, a.Store, w.workspaces, summarizer
	return nil
}

// openWorkspaces sets up the workspaces of this host and the keeper of their
// checkpoints.
func (w *worker) openWorkspaces(ctx context.Context, a *app.App) error {
	hosts, err := hostRegistry(ctx, a.RawStore, w.connections.HostTimeout)
	if err != nil {
		return err
	}
	data, err := config.Data()
	if err != nil {
		return err
	}
	own, err := config.Worktrees()
	if err != nil {
		return err
	}
	host := cmp.Or(w.Host, os.Getenv("PAWL_HOST"))
	if host == "" {
		if host, err = os.Hostname(); err != nil {
			return err
		}
	}
	cache := &sourceCache{dir: filepath.Join(data, "sources"), sources: newSources(w.connections.Sources)}
	w.workspaces = &runner.Workspaces{
		Host: host, Registry: hosts, Dir: filepath.Join(data, "workspaces"), Boot: proc.Boot(), HostTimeout: w.connections.HostTimeout,
		Root: w.connections.Workspaces, Own: own, Reserve: w.Reserve,
		Fetch: cache.fetch, Free: func() (int64, error) { return FreeBytes(w.connections.Workspaces) },
	}
	if w.has(RoleExecutor) {
		if err := os.MkdirAll(w.connections.Workspaces, 0o700); err != nil {
			return fmt.Errorf("directory of the workspaces (fleet.workspaces): %w", err)
		}
	}
	if w.keeper, err = w.connections.openKeeper(ctx, data); err != nil {
		return err
	}
	if w.keeper != nil {
		w.keeper.Limits.MaxBytes = w.WorkspaceSize
		w.workspaces.Checkpoints = w.keeper
	} else if w.has(RoleExecutor) {
		w.Log.Warn("fleet.blobs is not set: workspaces of a lost host are lost")
	}
	return nil
}

// configureMissions lets the subagents of missions run on any host with capacity,
// and moves what they are allowed to do with them.
func (w *worker) configureMissions(a *app.App, executor *runner.Executor, r *runner.Runner) {
	a.Missions.Offer, a.Missions.Fetch, a.Missions.Drop = w.workspaces.Offer, w.workspaces.Recall, w.workspaces.Drop
	a.Policy.Whole, a.Policy.Allow = true, w.workspaces.Allow
	w.workspaces.Clear = func(dir string) error { return errors.Join(a.Policy.DropCache(dir), a.Policy.Adopt(dir, "")) }
	w.workspaces.Admit = func(ctx context.Context, dir string) error {
		text, err := w.workspaces.Registry.Allowed(ctx, dir)
		if err == nil {
			err = a.Policy.Adopt(dir, text)
		}
		if err != nil {
			return err
		}
		return a.Policy.Admit(dir, func(subagent pawl.SessionID) (string, error) {
			row, err := a.Store.Session(ctx, subagent)
			if err == nil {
				row, err = a.Store.Session(ctx, row.Parent)
			}
			return row.Dir, err
		})
	}
	executor.Ended = func(ctx context.Context, id pawl.SessionID) {
		if err := r.Ended(ctx, a.Store, id); err != nil { // the parent polls, so it notices a little later
			w.Log.Warn("the parent of a session could not be notified of its end", "session", id, "error", err)
		}
	}
}

// promoteFirst makes the build id of this coordinator the current version if no version is current yet. Without a build
// id it warns if the coordinator will get no new work.
func (w *worker) promoteFirst(ctx context.Context) error {
	if w.BuildID != "" {
		return runner.PromoteFirst(ctx, w.connections.Engine, w.BuildID)
	}
	versions, err := runner.Versions(ctx, w.connections.Engine)
	if err != nil {
		return err
	}
	if current := runner.Current(versions); current != "" {
		w.Log.Warn("this coordinator has no version and gets no new work: start it with --build-id, then run `pawl-fleet promote`", "current", current)
	}
	return nil
}

// start starts the HTTP servers and the Temporal workers.
func (w *worker) start(ctx context.Context, executor *runner.Executor, models app.Models) error {
	if err := w.serveHealth(); err != nil {
		return err
	}
	if w.has(RoleCoordinator) {
		if err := w.startCoordinator(ctx, models); err != nil {
			return err
		}
	}
	if !w.has(RoleExecutor) {
		return nil
	}
	if err := w.workspaces.LoadStates(); err != nil {
		return fmt.Errorf("restore the existing workspaces: %w", err)
	}
	stop, err := runner.StartExecutor(w.connections.Engine, executor, executorGrace)
	if err != nil {
		return err
	}
	w.onClose(stop)
	ctx, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { runner.Heartbeat(ctx, w.workspaces, w.version(), w.Capacity, w.Log) })
	background.Go(func() { w.workspaces.EvictIdle(ctx, w.Log) })
	w.onClose(func() { cancel(); background.Wait() })
	return nil
}

func (w *worker) startCoordinator(ctx context.Context, models app.Models) error {
	if err := w.serveGateway(models); err != nil {
		return err
	}
	coordinator := &runner.Coordinator{Store: w.app.Store, Registry: w.workspaces.Registry, Observe: w.app.Telemetry.Step}
	stop, err := runner.StartCoordinator(w.connections.Engine, coordinator, w.BuildID, coordinatorGrace)
	if err != nil {
		return err
	}
	w.onClose(stop)
	return w.promoteFirst(ctx)
}

// drain accepts no new work and waits for running steps, at most for w.Drain.
func (w *worker) drain(ctx context.Context) {
	if !w.has(RoleExecutor) {
		return
	}
	w.workspaces.Drain()
	busy, _ := w.workspaces.Count()
	w.Log.Info("draining", "workspaces", busy, "for", w.Drain.String())
	ctx, cancel := context.WithTimeout(ctx, w.Drain)
	defer cancel()
	if err := w.workspaces.WaitIdle(ctx); err != nil {
		busy, _ := w.workspaces.Count()
		w.Log.Warn("workspaces with unfinished steps are left to other hosts", "workspaces", busy)
	}
}
