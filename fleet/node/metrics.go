package node

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl/fleet/nats"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/telemetry"
)

// registerMetrics registers the metrics of a worker.
func (w *worker) registerMetrics() {
	t := w.app.Telemetry
	t.Process()
	registerLinkMetrics(t, w.connections.Link)
	if !w.has(RoleExecutor) {
		return
	}
	count := func(which func(busy, kept int) int) func() float64 {
		return func() float64 { return float64(which(w.workspaces.Count())) }
	}
	t.Gauge("pawl.workspaces.busy", "Workspaces in use.", "", count(func(busy, _ int) int { return busy }))
	t.Gauge("pawl.workspaces.kept", "Workspaces on this host.", "", count(func(_, kept int) int { return kept }))
	t.Gauge("pawl.workspaces.capacity", "Maximum number of workspaces in use at once.", "", func() float64 { return float64(w.Capacity) })
	t.Gauge("pawl.disk.free", "Free disk space for workspaces.", "By", func() float64 {
		free, _ := w.workspaces.Free()
		return float64(free)
	})
	t.Gauge("pawl.host.full", "1 if the disk is too full for work.", "", func() float64 {
		full, err := w.workspaces.Full()
		return gaugeValue(full || err != nil)
	})
	t.Gauge("pawl.host.draining", "1 if the host accepts no new workspaces.", "", func() float64 { return gaugeValue(w.workspaces.Draining()) })
	if w.keeper != nil {
		t.Counter("pawl.checkpoint.sent", "Bytes sent to the checkpoint store.", "By", func() float64 { return float64(w.keeper.sent.Load()) })
	}
}

// gaugeValue returns 1 for true and 0 for false.
func gaugeValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// registerLinkMetrics registers the metrics of the connection to NATS.
func registerLinkMetrics(t *telemetry.Telemetry, l *nats.Link) {
	t.Gauge("pawl.nats.connected", "1 if connected to NATS.", "", func() float64 { return gaugeValue(l.Connected()) })
	for _, c := range []struct {
		name, help string
		read       func(nats.Stats) int64
	}{
		{"sent", "Messages sent to NATS.", func(s nats.Stats) int64 { return s.Sent }},
		{"received", "Messages received from NATS.", func(s nats.Stats) int64 { return s.Received }},
		{"lost", "Live events that were dropped; readers use the log instead.", func(s nats.Stats) int64 { return s.Lost }},
		{"reconnects", "Reconnections to NATS.", func(s nats.Stats) int64 { return s.Reconnects }},
	} {
		t.Counter("pawl.nats."+c.name, c.help, "", func() float64 { return float64(c.read(l.Stats())) })
	}
}

// statusEvery is how often an API node reads the status of the fleet for its metrics.
const statusEvery = 15 * time.Second

// statusWatch reads the status of the fleet periodically until it is closed.
type statusWatch struct {
	last atomic.Pointer[Status]
	stop context.CancelFunc
	done sync.WaitGroup
}

// watchStatus makes an API node publish metrics about the whole fleet.
func watchStatus(a *app.App, c *Connections, log *slog.Logger) *statusWatch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &statusWatch{stop: cancel}
	w.last.Store(&Status{})
	registerLinkMetrics(a.Telemetry, c.Link)
	w.register(a.Telemetry)
	hosts, _ := a.RawStore.(HostRegistry) // OpenAPI has checked that it is one
	w.done.Go(func() {
		for ctx.Err() == nil {
			i := &Inspector{Connections: c, Hosts: hosts}
			s := i.Status(ctx)
			w.last.Store(s)
			if len(s.Faults) > 0 && ctx.Err() == nil {
				log.Warn("the status of the fleet is incomplete", "faults", s.Faults)
			}
			_ = Sleep(ctx, statusEvery) // the loop condition sees why it ended
		}
	})
	return w
}

// Close stops the watch and waits for it.
func (w *statusWatch) Close() {
	w.stop()
	w.done.Wait()
}

func (w *statusWatch) register(t *telemetry.Telemetry) {
	for _, g := range []struct {
		name, help, unit string
		read             func(*Status) float64
	}{
		{"hosts.live", "Hosts that can accept work.", "", func(s *Status) float64 { return s.countHosts("live") }},
		{"hosts.late", "Hosts without a recent heartbeat.", "", func(s *Status) float64 { return s.countHosts("late") }},
		{"hosts.draining", "Hosts that are draining.", "", func(s *Status) float64 { return s.countHosts("draining") }},
		{"hosts.full", "Hosts whose disk is full.", "", func(s *Status) float64 { return s.countHosts("full") }},
		{"sessions.working", "Sessions with an open turn.", "", func(s *Status) float64 { return float64(s.load().Working) }},
		{"sessions.queued", "Sessions whose next turn has not started.", "", func(s *Status) float64 { return float64(s.load().Queued) }},
		{"sessions.waiting", "Sessions that wait for a user.", "", func(s *Status) float64 { return float64(s.load().Waiting) }},
		{"coordinator.pollers", "Workers that poll for workflows.", "", func(s *Status) float64 { return s.coordinators() }},
		{"backlog", "Queued tasks that no worker has taken yet.", "", func(s *Status) float64 { return s.backlog() }},
		{"backlog.age", "Age of the oldest queued task.", "s", func(s *Status) float64 { return s.Lag.Seconds() }},
		{"faults", "Parts of the fleet that could not be checked.", "", func(s *Status) float64 { return float64(len(s.Faults)) }},
	} {
		t.Gauge("pawl.fleet."+g.name, g.help, g.unit, func() float64 { return g.read(w.last.Load()) })
	}
}
