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
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Dial connects to Temporal. TLS settings and the API key come from the environment variables of the Temporal tools:
// TEMPORAL_TLS_… and TEMPORAL_API_KEY.
func Dial(ctx context.Context, address, namespace string, log *slog.Logger) (Engine, error) {
	var profile envconfig.ClientConfigProfile
	if err := profile.ApplyEnvVars(nil); err != nil {
		return Engine{}, fault.New(pawl.ErrInvalid, "invalid Temporal settings: %w", err)
	}
	profile.Address, profile.Namespace = address, namespace // address and namespace come from the fleet's configuration, not the environment
	options, err := profile.ToClientOptions(envconfig.ToClientOptionsRequest{})
	if err != nil {
		return Engine{}, fault.New(pawl.ErrInvalid, "invalid Temporal settings: %w", err)
	}
	options.Logger = sdklog.NewStructuredLogger(log)
	options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{} // payloads are ids only
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return Engine{}, fault.New(pawl.ErrUnavailable, "connect to Temporal at %s: %w", address, err)
	}
	return Engine{Client: c, Namespace: namespace}, nil
}

// Engine is a Temporal client with the settings of one fleet.
type Engine struct {
	client.Client
	Namespace   string
	Queue       string        // task queue of the workflows; "" means CoordinatorQueue
	HostTimeout time.Duration // how long a host may miss heartbeats; 0 means DefaultHostTimeout
}

func (e Engine) queue() string { return cmp.Or(e.Queue, CoordinatorQueue) }

// workflow returns the id of a session's workflow: the session's own id, unless several fleets share a namespace.
func (e Engine) workflow(id pawl.SessionID) string {
	if e.Queue == "" {
		return string(id)
	}
	return e.Queue + "/" + string(id)
}

// deployment returns the name of the worker deployment: "pawl", unless several fleets share a namespace.
func (e Engine) deployment() string { return cmp.Or(e.Queue, "pawl") }

// Worker limits.
const (
	coordinatorPollers  = 8
	executorPollers     = 8
	executorConcurrency = 2000 // most steps wait for a model or a subagent
)

// StartCoordinator makes this process run workflows. If version is not empty, workflows stay on workers of the version
// they started with. stop ends it; running work then has the grace period to finish.
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

// StartExecutor makes this process run the steps of the sessions whose workspaces are on this host. stop ends it;
// running steps then have the grace period to finish.
func StartExecutor(engine Engine, h *Executor, grace time.Duration) (stop func(), err error) {
	w := worker.New(engine.Client, ExecutorQueue(h.Workspaces.Host), worker.Options{
		MaxConcurrentActivityTaskPollers: executorPollers, MaxConcurrentActivityExecutionSize: executorConcurrency,
		DisableWorkflowWorker: true, DisableRegistrationAliasing: true, WorkerStopTimeout: grace,
	})
	w.RegisterActivity(h)
	if err := w.Start(); err != nil {
		return nil, fmt.Errorf("run activities: %w", err)
	}
	return w.Stop, nil
}

// Promote makes new workflows run on the workers of a version. Running workflows stay on theirs.
func Promote(ctx context.Context, engine Engine, version string) error {
	d := engine.WorkerDeploymentClient().GetHandle(engine.deployment())
	_, err := d.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: version})
	if err != nil {
		return fmt.Errorf("promote version %s (check that a worker of it is running): %w", version, err)
	}
	return nil
}

// PromoteFirst promotes a version if no version is current yet, as for the first worker of a fleet.
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
		select { // Temporal has not registered this worker yet
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(minBackoff):
		}
	}
}

// Version is a version of the coordinators that Temporal knows.
type Version struct {
	ID      string `json:"id"`
	Current bool   `json:"current,omitempty"`
	Drained bool   `json:"drained,omitempty"` // no running workflow needs it
}

// Current returns the version for new workflows, or "".
func Current(versions []Version) string {
	for _, v := range versions {
		if v.Current {
			return v.ID
		}
	}
	return ""
}

// Versions returns the versions of the coordinators. The list is empty before the first coordinator has started.
func Versions(ctx context.Context, engine Engine) ([]Version, error) {
	d, err := engine.WorkerDeploymentClient().GetHandle(engine.deployment()).Describe(ctx, client.WorkerDeploymentDescribeOptions{})
	var none *serviceerror.NotFound
	if errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(pawl.ErrUnavailable, "list worker versions: %w", err)
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

// Heartbeat periodically reports this host's state to the registry until ctx ends.
func Heartbeat(ctx context.Context, s *Workspaces, version string, capacity int, log *slog.Logger) {
	tick := time.NewTicker(timingFor(s.HostTimeout).hostHeartbeat)
	defer tick.Stop()
	for {
		if err := s.heartbeat(ctx, version, capacity); err != nil && ctx.Err() == nil {
			log.Warn("cannot send a heartbeat to the host registry", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Workspaces) heartbeat(ctx context.Context, version string, capacity int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*timingFor(s.HostTimeout).hostHeartbeat)
	defer cancel()
	m := fleet.Host{Name: s.Host, Version: version, Capacity: capacity, Draining: s.isStopping()}
	m.Busy, m.Kept = s.Count()
	if s.Free != nil {
		free, err := s.Free()
		m.DiskFree, m.Full = free, err != nil || free < s.Reserve
	}
	drain, err := s.Registry.Heartbeat(ctx, m)
	if err == nil {
		s.requestDrain(drain)
	}
	return err
}
