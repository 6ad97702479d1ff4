package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/pawl-dev/pawl"
)

// Dial connects to the engine. With what keys and certificates the environment says,
// in the variables that Temporal's own tools know: TEMPORAL_TLS_… and TEMPORAL_API_KEY.
func Dial(ctx context.Context, address, namespace string, log *slog.Logger) (Engine, error) {
	var profile envconfig.ClientConfigProfile
	if err := profile.ApplyEnvVars(nil); err != nil {
		return Engine{}, fmt.Errorf("how to reach Temporal: %w: %w", err, pawl.ErrInvalid)
	}
	profile.Address, profile.Namespace = address, namespace // a fleet's parts are in its configuration
	options, err := profile.ToClientOptions(envconfig.ToClientOptionsRequest{})
	if err != nil {
		return Engine{}, fmt.Errorf("how to reach Temporal: %w: %w", err, pawl.ErrInvalid)
	}
	options.Logger = sdklog.NewStructuredLogger(log)
	options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{} // only ids go there and back
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return Engine{}, fmt.Errorf("reach Temporal at %s: %w: %w", address, err, pawl.ErrUnavailable)
	}
	return Engine{Client: c, Namespace: namespace}, nil
}

// Engine is Temporal, as one fleet uses it.
type Engine struct {
	client.Client
	Namespace   string
	Queue       string        // where its workflows wait; "" means CoordinatorQueue
	HostTimeout time.Duration // how long a host may be silent; 0 means DefaultHostTimeout
}

func (e Engine) queue() string { return cmp.Or(e.Queue, CoordinatorQueue) }

// workflow is the id of a session's workflow: the session's own, unless several
// fleets share a namespace.
func (e Engine) workflow(id pawl.SessionID) string {
	if e.Queue == "" {
		return string(id)
	}
	return e.Queue + "/" + string(id)
}

// deployment is the name under which the engine knows the coordinators' versions: that of
// the program, unless several fleets share a namespace.
func (e Engine) deployment() string { return cmp.Or(e.Queue, "pawl") }

// The sizes of a worker.
const (
	coordinatorPollers = 8
	executorPollers    = 8
	executorTrips      = 2000 // at once: most of them wait for a model or a subagent
)

// StartCoordinator has this process run workflows. With a version, a workflow stays with
// the workers of the version that it began with. Call stop to end it: what is under
// way then has that long to end.
func StartCoordinator(engine Engine, b *Coordinator, version string, grace time.Duration) (stop func(), err error) {
	o := worker.Options{
		MaxConcurrentWorkflowTaskPollers: coordinatorPollers, DisableRegistrationAliasing: true,
		StickyScheduleToStartTimeout: timingFor(engine.HostTimeout).sticky, WorkerStopTimeout: grace,
	}
	if version != "" {
		o.DeploymentOptions = worker.DeploymentOptions{
			UseVersioning: true, Version: worker.WorkerDeploymentVersion{DeploymentName: engine.deployment(), BuildID: version},
			DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
		}
	}
	w := worker.New(engine.Client, engine.queue(), o)
	register(w, timingFor(engine.HostTimeout))
	w.RegisterActivity(b)
	if err := w.Start(); err != nil {
		return nil, fmt.Errorf("run workflows: %w", err)
	}
	return w.Stop, nil
}

// StartExecutor has this process do the steps of the sessions whose directories are here.
// Call stop to end it: steps that are under way then have that long to end.
func StartExecutor(engine Engine, h *Executor, grace time.Duration) (stop func(), err error) {
	w := worker.New(engine.Client, ExecutorQueue(h.Spaces.Host), worker.Options{
		MaxConcurrentActivityTaskPollers: executorPollers, MaxConcurrentActivityExecutionSize: executorTrips,
		DisableWorkflowWorker: true, DisableRegistrationAliasing: true, WorkerStopTimeout: grace,
	})
	w.RegisterActivity(h)
	if err := w.Start(); err != nil {
		return nil, fmt.Errorf("take steps: %w", err)
	}
	return w.Stop, nil
}

// Promote has new workflows run on the workers of a version. Those that have begun
// stay with theirs.
func Promote(ctx context.Context, engine Engine, version string) error {
	d := engine.WorkerDeploymentClient().GetHandle(engine.deployment())
	_, err := d.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: version})
	if err != nil {
		return fmt.Errorf("promote version %s (is a worker of it up?): %w", version, err)
	}
	return nil
}

// PromoteFirst promotes a version if none is yet: a fleet's first worker.
func PromoteFirst(ctx context.Context, engine Engine, version string) error {
	for {
		versions, err := Versions(ctx, engine)
		if err != nil {
			return err
		}
		if Current(versions) != "" {
			return nil
		}
		if slices.ContainsFunc(versions, func(v Version) bool { return v.ID == version }) {
			return Promote(ctx, engine, version)
		}
		select { // the engine has not heard of this worker yet
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(soonest):
		}
	}
}

// Version is one of the coordinators' versions, as the engine knows it.
type Version struct {
	ID      string `json:"id"`
	Current bool   `json:"current,omitempty"`
	Drained bool   `json:"drained,omitempty"` // no workflow needs it any more
}

// Current returns the version that new work goes to; "" if there is none.
func Current(versions []Version) string {
	for _, v := range versions {
		if v.Current {
			return v.ID
		}
	}
	return ""
}

// Versions returns those of the coordinators. There are none before the first has come up.
func Versions(ctx context.Context, engine Engine) ([]Version, error) {
	d, err := engine.WorkerDeploymentClient().GetHandle(engine.deployment()).Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask for the versions of the workers: %w: %w", err, pawl.ErrUnavailable)
	}
	var list []Version
	current := ""
	if v := d.Info.RoutingConfig.CurrentVersion; v != nil {
		current = v.BuildID
	}
	for _, v := range d.Info.VersionSummaries {
		list = append(list, Version{
			ID: v.Version.BuildID, Current: v.Version.BuildID == current,
			Drained: v.DrainageStatus == client.WorkerDeploymentVersionDrainageStatusDrained,
		})
	}
	return list, nil
}

// Heartbeat tells the host registry that the host is there, until ctx ends, and once more then.
func Heartbeat(ctx context.Context, s *Workspaces, version string, capacity int, log *slog.Logger) {
	tick := time.NewTicker(timingFor(s.HostTimeout).beat)
	defer tick.Stop()
	for {
		if err := s.heartbeat(ctx, version, capacity); err != nil && ctx.Err() == nil {
			log.Warn("the roster cannot be told that this host is there", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Workspaces) heartbeat(ctx context.Context, version string, capacity int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*timingFor(s.HostTimeout).beat)
	defer cancel()
	m := pawl.Host{Name: s.Host, Version: version, Capacity: capacity, Draining: s.ends()}
	m.Busy, m.Kept = s.Count()
	if s.Free != nil {
		free, err := s.Free()
		m.DiskFree, m.Full = free, err != nil || free < s.Reserve
	}
	drain, err := s.Roster.Heartbeat(ctx, m)
	if err == nil {
		s.ask(drain)
	}
	return err
}
