//go:build fleet

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/gateway"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/service"
)

func (f *workerFlags) run(cmd *cobra.Command) error {
	log, err := (&serverFlags{log: f.log}).logger(cmd.ErrOrStderr())
	if err != nil {
		return usageError(cmd, err)
	}
	for _, r := range f.roles {
		if r != roleCoordinator && r != roleExecutor {
			return usageError(cmd, fmt.Errorf("--role %q: use coordinator or executor", r))
		}
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	w := &fleetWorker{flags: f, log: log}
	defer w.Close()
	if err := w.open(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	log.Info("working", "roles", f.roles, "host", w.spaces.Host, "version", w.version())
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-w.failed:
	}
	stop() // a second signal ends it at once
	w.end(context.WithoutCancel(cmd.Context()))
	return failed
}

// fleetWorker is a worker of a fleet.
type fleetWorker struct {
	flags  *workerFlags
	log    *slog.Logger
	parts  *fleetParts
	app    *app
	spaces *runner.Workspaces
	keeper *keeper // nil if there is none
	failed chan error
	begun  atomic.Bool // it takes work
	closes []func()    // the last first
}

func (w *fleetWorker) has(role string) bool { return slices.Contains(w.flags.roles, role) }

func (w *fleetWorker) version() string { return cmp.Or(w.flags.version, version) }

// later has something done at the end.
func (w *fleetWorker) later(do func()) { w.closes = append(w.closes, do) }

// Close ends all that was opened.
func (w *fleetWorker) Close() {
	for _, do := range slices.Backward(w.closes) {
		do()
	}
	w.closes = nil
}

func (w *fleetWorker) open(ctx context.Context) (err error) {
	w.failed = make(chan error, 2)
	if w.parts, err = openFleet(ctx, "pawl worker", w.log); err != nil {
		return err
	}
	w.later(w.parts.Close)
	var models modelsOf
	if w.has(roleCoordinator) { // it has the keys
		w.parts.Gateway = ""
	}
	if models, err = w.parts.models(); err != nil {
		return err
	}
	executor := &runner.Executor{}
	w.app, err = openFitted(ctx, fitting{link: w.parts.link, models: models, run: func(a *app, s *agent.Stepper, _ *service.Config) (service.Runner, error) {
		if err := w.equip(ctx, a, s, executor); err != nil {
			return nil, err
		}
		executor.FolderQueries = errands(a, s)
		runner := &runner.Runner{Engine: w.parts.engine}
		w.spread(a, executor, runner)
		return runner, nil
	}})
	if err != nil {
		return err
	}
	w.later(func() { _ = w.app.Close() })
	if err := w.start(ctx, executor, models); err != nil {
		return err
	}
	w.begun.Store(true)
	return nil
}

// equip makes the executor of this host, and has the stepper work for a fleet.
func (w *fleetWorker) equip(ctx context.Context, a *app, s *agent.Stepper, executor *runner.Executor) error {
	roster, err := rosterOf(ctx, a.tokens, w.parts.hosts)
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
	host := cmp.Or(w.flags.host, os.Getenv("PAWL_HOST"))
	if host == "" {
		if host, err = os.Hostname(); err != nil {
			return err
		}
	}
	reserve, err := parseSize(w.flags.reserve)
	if err != nil {
		return fmt.Errorf("--reserve: %w", err)
	}
	w.spaces = &runner.Workspaces{
		Host: host, Registry: roster, Dir: filepath.Join(data, "workspaces"), Boot: proc.Boot(), HostTimeout: w.parts.hosts,
		Root: w.parts.Workspaces, Own: own, Reserve: reserve,
		Fetch: (&warm{dir: filepath.Join(data, "sources"), sources: newSources(w.parts.Sources)}).fetch, Free: func() (int64, error) { return freeBytes(w.parts.Workspaces) },
	}
	if w.has(roleExecutor) {
		if err := os.MkdirAll(w.parts.Workspaces, 0o700); err != nil {
			return fmt.Errorf("the folder of the workspaces (fleet.workspaces): %w", err)
		}
	}
	k, err := w.parts.openKeeper(ctx, data)
	if err != nil {
		return err
	}
	if w.keeper = k; k != nil {
		if k.Limits.MaxBytes, err = parseSize(w.flags.size); err != nil {
			return fmt.Errorf("--workspace-size: %w", err)
		}
		w.spaces.Checkpoints = k
	} else if w.has(roleExecutor) {
		w.log.Warn("fleet.blobs is not set: a host that is lost takes its workspaces with it")
	}
	s.Suspend = true
	s.Checkpoint = func(ctx context.Context, _ pawl.SessionID, dir string) error { return w.spaces.SaveRetrying(ctx, dir) }
	asides := agent.NewSummarizer(s)
	w.later(asides.Close)
	executor.Observe, w.spaces.Observe = a.tells.Step, a.tells.Workspace
	executor.Notify = func(id pawl.SessionID, text string) {
		s.Bus.Publish(pawl.Event{Session: id, At: time.Now(), Body: pawl.Status{State: "notice", Message: secrets.Redact(text)}})
	}
	executor.Stepper, executor.Leases, executor.Workspaces, executor.Summarizer = s, a.store, w.spaces, asides
	return nil
}

// spread has the subagents of sessions work wherever there is room, and come back.
func (w *fleetWorker) spread(a *app, executor *runner.Executor, runner *runner.Runner) {
	a.control.Offer, a.control.Fetch, a.control.Drop = w.spaces.Offer, w.spaces.Recall, w.spaces.Drop
	a.safety.Whole, a.safety.Allow = true, w.spaces.Allow
	w.spaces.Clear = func(dir string) error { return errors.Join(a.safety.DropCache(dir), a.safety.Adopt(dir, "")) }
	w.spaces.Admit = func(ctx context.Context, dir string) error {
		text, err := w.spaces.Registry.Allowed(ctx, dir)
		if err == nil {
			err = a.safety.Adopt(dir, text)
		}
		if err != nil {
			return err
		}
		return a.safety.Admit(dir, func(worker pawl.SessionID) (string, error) {
			row, err := a.store.Session(ctx, worker)
			if err == nil {
				row, err = a.store.Session(ctx, row.Parent)
			}
			return row.Dir, err
		})
	}
	executor.Ended = func(ctx context.Context, id pawl.SessionID) {
		if err := runner.Ended(ctx, a.store, id); err != nil { // who waits looks by itself before long
			w.log.Warn("who waits for a session could not be told that it has ended", "session", id, "error", err)
		}
	}
}

// takesNew sees to it that this coordinator gets new work, if it is the first of a fleet, and
// warns if it never will.
func (w *fleetWorker) takesNew(ctx context.Context) error {
	if w.flags.version != "" {
		return runner.PromoteFirst(ctx, w.parts.engine, w.flags.version)
	}
	versions, err := runner.Versions(ctx, w.parts.engine)
	if err != nil {
		return err
	}
	if current := runner.Current(versions); current != "" {
		w.log.Warn("this coordinator has no version, so it gets no new work: start it with --build-id, and promote that with 'pawl fleet promote'", "current", current)
	}
	return nil
}

// start has the engine give work to this process.
func (w *fleetWorker) start(ctx context.Context, executor *runner.Executor, models modelsOf) error {
	if err := w.serveHealth(); err != nil {
		return err
	}
	if w.has(roleCoordinator) {
		if err := w.serveGateway(models); err != nil {
			return err
		}
		stop, err := runner.StartCoordinator(w.parts.engine, &runner.Coordinator{Store: w.app.store, Registry: w.spaces.Registry, Observe: w.app.tells.Step}, w.flags.version, coordinatorGrace)
		if err != nil {
			return err
		}
		w.later(stop)
		if err := w.takesNew(ctx); err != nil {
			return err
		}
	}
	if !w.has(roleExecutor) {
		return nil
	}
	if err := w.spaces.LoadStates(); err != nil {
		return fmt.Errorf("the workspaces that were here before: %w", err)
	}
	stop, err := runner.StartExecutor(w.parts.engine, executor, executorGrace)
	if err != nil {
		return err
	}
	w.later(stop)
	beating, end := context.WithCancel(ctx)
	var beats sync.WaitGroup
	beats.Go(func() { runner.Heartbeat(beating, w.spaces, w.version(), w.flags.capacity, w.log) })
	beats.Go(func() { w.spaces.EvictIdle(beating, w.log) })
	w.later(func() { end(); beats.Wait() })
	return nil
}

const (
	coordinatorGrace = 5 * time.Second // for workflow tasks, which are short
	executorGrace    = time.Second     // for steps that the drain did not wait for
)

// end lets what runs come to its end, and takes nothing new.
func (w *fleetWorker) end(ctx context.Context) {
	if !w.has(roleExecutor) {
		return
	}
	w.spaces.Drain()
	busy, _ := w.spaces.Count()
	w.log.Info("draining", "workspaces", busy, "for", w.flags.drain.String())
	ctx, cancel := context.WithTimeout(ctx, w.flags.drain)
	defer cancel()
	if err := w.spaces.WaitIdle(ctx); err != nil {
		busy, _ := w.spaces.Count()
		w.log.Warn("workspaces are left to other hosts in mid-step", "workspaces", busy)
	}
}

// serveGateway answers those who have no keys.
func (w *fleetWorker) serveGateway(models modelsOf) error {
	if w.flags.gateway == "" {
		return nil
	}
	if w.parts.token == "" {
		return fmt.Errorf("--gateway-listen wants a token: set PAWL_GATEWAY_TOKEN: %w", pawl.ErrInvalid)
	}
	l, err := net.Listen("tcp", w.flags.gateway)
	if err != nil {
		return err
	}
	s := gateway.Server(w.counted(gateway.Handler(gateway.Config{
		Open: models.Open, Window: models.Window, Small: models.Small, Sibling: models.Sibling, Models: w.app.desk.Models,
		Token: w.parts.token, Redact: secrets.Redact,
	})))
	w.serve(s, l)
	return nil
}

// serveHealth tells whether the worker is well.
func (w *fleetWorker) serveHealth() error {
	if w.flags.health == "" {
		return nil
	}
	l, err := net.Listen("tcp", w.flags.health)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintln(rw, "ok") })
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, r *http.Request) {
		if err := w.ready(r.Context()); err != nil {
			http.Error(rw, secrets.Redact(err.Error()), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(rw, "ok")
	})
	mux.Handle("GET /metrics", w.app.tells.Handler())
	w.measure()
	w.serve(&http.Server{Handler: mux, ReadHeaderTimeout: closeTime}, l)
	return nil
}

// ready reports whether the worker takes work, and what it needs can be reached.
func (w *fleetWorker) ready(ctx context.Context) error {
	if !w.begun.Load() {
		return errors.New("starting")
	}
	if w.spaces.Draining() {
		return errors.New("draining")
	}
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	_, hosts := w.spaces.Registry.Hosts(ctx)
	_, engine := w.parts.engine.CheckHealth(ctx, nil)
	return errors.Join(hosts, engine)
}

func (w *fleetWorker) serve(s *http.Server, l net.Listener) {
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			w.failed <- err
		}
	}()
	w.later(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if s.Shutdown(ctx) != nil {
			_ = s.Close()
		}
	})
}

// errands are what can be asked of a directory that is here.
func errands(a *app, s *agent.Stepper) map[string]func(context.Context, string, []byte) ([]byte, error) {
	return map[string]func(context.Context, string, []byte) ([]byte, error){
		errandLook: errand(func(ctx context.Context, dir string, _ struct{}) (pawl.Project, error) { return a.desk.Look(ctx, dir) }),
		errandTrust: errand(func(ctx context.Context, dir, hash string) (struct{}, error) {
			return struct{}{}, a.desk.Trust(ctx, dir, hash)
		}),
		errandFiles: errand(func(ctx context.Context, dir string, q filesAsk) ([]string, error) {
			return a.desk.Files(ctx, dir, q.Query, q.Limit)
		}),
		errandExpand: errand(func(ctx context.Context, dir string, p pawl.Prompt) (expanded, error) {
			out, notes, err := a.desk.Expand(ctx, dir, p)
			return expanded{out, notes}, err
		}),
		errandPlan: errand(func(ctx context.Context, _ string, q planAsk) (pawl.UndoPlan, error) {
			return s.PlanUndo(ctx, q.Session, q.Undo)
		}),
	}
}

// errand reads the question and writes the answer.
func errand[Q, A any](do func(ctx context.Context, dir string, q Q) (A, error)) func(context.Context, string, []byte) ([]byte, error) {
	return func(ctx context.Context, dir string, ask []byte) ([]byte, error) {
		var q Q
		if err := json.Unmarshal(ask, &q); err != nil {
			return nil, fmt.Errorf("%w: %w", err, pawl.ErrInvalid)
		}
		answer, err := do(ctx, dir, q)
		if err != nil {
			return nil, err
		}
		return json.Marshal(answer)
	}
}
