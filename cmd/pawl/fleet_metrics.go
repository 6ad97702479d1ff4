//go:build fleet

package main

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl/fleet/nats"
	"github.com/pawl-dev/pawl/internal/telemetry"
)

// measure tells how the worker fares.
func (w *fleetWorker) measure() {
	t := w.app.tells
	t.Process()
	measureLink(t, w.parts.link)
	if !w.has(roleExecutor) {
		return
	}
	count := func(which func(busy, kept int) int) func() float64 {
		return func() float64 { return float64(which(w.spaces.Count())) }
	}
	t.Gauge("pawl.workspaces.busy", "Workspaces that are worked in now.", "", count(func(busy, _ int) int { return busy }))
	t.Gauge("pawl.workspaces.kept", "Workspaces that are on this host.", "", count(func(_, kept int) int { return kept }))
	t.Gauge("pawl.workspaces.capacity", "Workspaces that may be worked in at once.", "", func() float64 { return float64(w.flags.capacity) })
	t.Gauge("pawl.disk.free", "What is free for workspaces.", "By", func() float64 {
		free, _ := w.spaces.Free()
		return float64(free)
	})
	t.Gauge("pawl.host.full", "1 if the disk has too little left for work.", "", func() float64 {
		full, err := w.spaces.Full()
		return truth(full || err != nil)
	})
	t.Gauge("pawl.host.draining", "1 if the host takes no new workspaces.", "", func() float64 { return truth(w.spaces.Draining()) })
	if w.keeper != nil {
		t.Counter("pawl.checkpoint.sent", "What went to the store of checkpoints.", "By", func() float64 { return float64(w.keeper.sent.Load()) })
	}
}

func truth(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// measureLink tells how the connection to NATS fares.
func measureLink(t *telemetry.Telemetry, l *nats.Link) {
	t.Gauge("pawl.nats.connected", "1 if there is a connection to NATS.", "", func() float64 { return truth(l.Connected()) })
	for _, c := range []struct {
		name, help string
		read       func(nats.Stats) int64
	}{
		{"sent", "Messages that were given to NATS.", func(s nats.Stats) int64 { return s.Sent }},
		{"received", "Messages that came by NATS.", func(s nats.Stats) int64 { return s.Received }},
		{"lost", "Live events that were dropped: their readers look at the log.", func(s nats.Stats) int64 { return s.Lost }},
		{"reconnects", "How often the connection to NATS was made anew.", func(s nats.Stats) int64 { return s.Reconnects }},
	} {
		t.Counter("pawl.nats."+c.name, c.help, "", func() float64 { return float64(c.read(l.Stats())) })
	}
}

// gatewayRoutes are what a gateway is asked; all else is none of them.
var gatewayRoutes = []string{"/v1/stream", "/v1/check", "/v1/window", "/v1/small", "/v1/sibling", "/v1/models"}

// counted counts what a gateway is asked. A model's failure is said within an answer
// of the status 200: the host that asked counts it.
func (w *fleetWorker) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		began, s := time.Now(), &statusWriter{ResponseWriter: rw, status: http.StatusOK}
		defer func() {
			route := ""
			if slices.Contains(gatewayRoutes, r.URL.Path) {
				route = "gateway " + r.URL.Path
			}
			w.app.tells.Request(route, s.status, time.Since(began))
		}()
		next.ServeHTTP(s, r)
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// fleetLookEvery is how often an API node looks at the whole fleet, for its metrics.
const fleetLookEvery = 15 * time.Second

// fleetWatch looks at the fleet until it is closed.
type fleetWatch struct {
	parts *fleetParts
	last  atomic.Pointer[fleetStatus]
	end   context.CancelFunc
	done  sync.WaitGroup
}

// watchFleet has an API node tell how the whole fleet fares. Closing it closes the parts.
func watchFleet(a *app, p *fleetParts, log *slog.Logger) *fleetWatch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &fleetWatch{parts: p, end: cancel}
	w.last.Store(&fleetStatus{})
	measureLink(a.tells, p.link)
	w.measure(a.tells)
	roster, _ := a.tokens.(fleetStore) // openNode has looked
	w.done.Go(func() {
		for ctx.Err() == nil {
			o := &operator{parts: p, roster: roster}
			s := o.look(ctx)
			w.last.Store(s)
			if len(s.Faults) > 0 && ctx.Err() == nil {
				log.Warn("the fleet cannot be looked at", "faults", s.Faults)
			}
			_ = pause(ctx, fleetLookEvery) // what ends it is seen above
		}
	})
	return w
}

// Close ends it.
func (w *fleetWatch) Close() {
	w.end()
	w.done.Wait()
	w.parts.Close()
}

func (w *fleetWatch) measure(t *telemetry.Telemetry) {
	for _, g := range []struct {
		name, help, unit string
		read             func(*fleetStatus) float64
	}{
		{"hosts.live", "Hosts that can take work.", "", func(s *fleetStatus) float64 { return s.hosts("live") }},
		{"hosts.late", "Hosts that were not heard of lately.", "", func(s *fleetStatus) float64 { return s.hosts("late") }},
		{"hosts.draining", "Hosts that let go of their workspaces.", "", func(s *fleetStatus) float64 { return s.hosts("draining") }},
		{"hosts.full", "Hosts whose disk is full.", "", func(s *fleetStatus) float64 { return s.hosts("full") }},
		{"sessions.working", "Sessions with an open turn.", "", func(s *fleetStatus) float64 { return float64(s.load().Working) }},
		{"sessions.queued", "Sessions whose next turn has not begun.", "", func(s *fleetStatus) float64 { return float64(s.load().Queued) }},
		{"sessions.waiting", "Sessions that wait for a person.", "", func(s *fleetStatus) float64 { return float64(s.load().Waiting) }},
		{"coordinator.pollers", "Workers that ask for workflows.", "", func(s *fleetStatus) float64 { return s.coordinators() }},
		{"backlog", "Tasks of all queues that nobody has taken yet.", "", func(s *fleetStatus) float64 { return s.backlog() }},
		{"backlog.age", "How long the first of those has waited.", "s", func(s *fleetStatus) float64 { return s.Lag.Seconds() }},
		{"faults", "Parts of the fleet that could not be looked at.", "", func(s *fleetStatus) float64 { return float64(len(s.Faults)) }},
	} {
		t.Gauge("pawl.fleet."+g.name, g.help, g.unit, func() float64 { return g.read(w.last.Load()) })
	}
}
