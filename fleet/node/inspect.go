package node

import (
	"context"
	"fmt"
	"log/slog"
	"syscall"
	"time"

	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/fleet/nats"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/store/backend"
)

// QueryTimeout bounds each request to a service of the fleet.
const QueryTimeout = 5 * time.Second

const pollEvery = 250 * time.Millisecond

// Inspector looks at a fleet from outside. What it could not connect to is nil, and
// Faults says why.
type Inspector struct {
	*Connections
	Hosts   HostRegistry
	Faults  []string
	closers []func()
}

// OpenInspector connects to the services that can be reached.
func OpenInspector(ctx context.Context) (*Inspector, error) {
	i, ref, err := NewInspector()
	if err != nil {
		return nil, err
	}
	i.fault(i.OpenStore(ctx, ref))
	i.fault(i.OpenEngine(ctx))
	i.fault(i.OpenLink(ctx))
	return i, nil
}

// NewInspector reads the configuration and returns an Inspector without connections,
// and the address of the store.
func NewInspector() (*Inspector, string, error) {
	c, ref, err := LoadConnections()
	if err != nil {
		return nil, "", err
	}
	return &Inspector{Connections: c}, ref, app.RegisterSecrets(ref)
}

// OpenStore connects to the store and sets Hosts.
func (i *Inspector) OpenStore(ctx context.Context, ref string) error {
	ctx, cancel := context.WithTimeout(ctx, QueryTimeout)
	defer cancel()
	st, err := backend.Open(ctx, ref)
	if err != nil {
		return err
	}
	i.closers = append(i.closers, func() { _ = st.Close() })
	i.Hosts, err = hostRegistry(ctx, st, i.HostTimeout)
	return err
}

// OpenEngine connects to Temporal.
func (i *Inspector) OpenEngine(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, QueryTimeout)
	defer cancel()
	i.Engine, err = runner.Dial(ctx, i.Temporal, i.Namespace, slog.New(slog.DiscardHandler))
	if err == nil {
		i.closers = append(i.closers, i.Engine.Close)
	}
	return err
}

// OpenLink connects to NATS.
func (i *Inspector) OpenLink(ctx context.Context) (err error) {
	if i.Link, err = nats.Open(nats.Config{URL: i.NATS, Name: "pawl-fleet"}); err != nil {
		return err
	}
	i.closers = append(i.closers, i.Link.Close)
	ctx, cancel := context.WithTimeout(ctx, QueryTimeout)
	defer cancel()
	_ = WaitFor(ctx, i.Link.Connected)
	return i.Link.Health()
}

// Close closes the connections that were opened.
func (i *Inspector) Close() {
	for _, do := range i.closers {
		do()
	}
}

func (i *Inspector) fault(err error) {
	if err != nil {
		i.Faults = append(i.Faults, app.Secrets.Redact(err.Error()))
	}
}

// Status is the state of a fleet, as 'pawl-fleet status --json' prints it.
type Status struct {
	At       time.Time        `json:"at"`
	Hosts    []fleet.Host     `json:"hosts"`
	Sessions []fleet.Load     `json:"sessions"`
	Queues   []runner.Queue   `json:"queues"`
	Versions []runner.Version `json:"versions"`
	NATS     bool             `json:"nats"`   // it can be reached
	Lag      time.Duration    `json:"lag_ns"` // how long the oldest task of all queues has waited
	Faults   []string         `json:"faults"` // why parts of this are unknown
}

// Status reads the current state of the fleet. What cannot be read is missing and
// has an entry in Faults.
func (i *Inspector) Status(ctx context.Context) *Status {
	ctx, cancel := context.WithTimeout(ctx, QueryTimeout)
	defer cancel()
	s := &Status{At: time.Now().UTC(), Hosts: []fleet.Host{}, Sessions: []fleet.Load{}, Queues: []runner.Queue{}, Versions: []runner.Version{}}
	before := len(i.Faults)
	var err error
	if i.Hosts != nil {
		s.Hosts, err = i.Hosts.Hosts(ctx)
		i.fault(err)
		s.Sessions, err = i.Hosts.Loads(ctx)
		i.fault(err)
	}
	if i.Engine.Client != nil {
		names := make([]string, len(s.Hosts))
		for n, h := range s.Hosts {
			names[n] = h.Name
		}
		s.Queues, err = runner.Queues(ctx, i.Engine, names...)
		i.fault(err)
		s.Versions, err = runner.Versions(ctx, i.Engine)
		i.fault(err)
	}
	for _, q := range s.Queues {
		s.Lag = max(s.Lag, q.Oldest)
	}
	s.NATS = i.Link != nil && i.Link.Connected()
	s.Faults, i.Faults = append([]string{}, i.Faults...), i.Faults[:before]
	return s
}

func (s *Status) countHosts(state string) (n float64) {
	for _, h := range s.Hosts {
		if HostState(h) == state {
			n++
		}
	}
	return n
}

// load returns the sum over all tenants.
func (s *Status) load() (all fleet.Load) {
	for _, l := range s.Sessions {
		all.Working, all.Queued, all.Waiting = all.Working+l.Working, all.Queued+l.Queued, all.Waiting+l.Waiting
	}
	return all
}

func (s *Status) coordinators() float64 {
	if len(s.Queues) == 0 {
		return 0
	}
	return float64(s.Queues[0].Pollers)
}

func (s *Status) backlog() (n float64) {
	for _, q := range s.Queues {
		n += float64(q.Backlog)
	}
	return n
}

// HostState returns the state of a host: live, late, draining or full.
func HostState(h fleet.Host) string {
	switch {
	case !h.Live:
		return "late"
	case h.Draining:
		return "draining"
	case h.Full:
		return "full"
	}
	return "live"
}

// Sleep waits for d. It returns early, with the cause, if ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// WaitFor polls until condition holds or ctx ends.
func WaitFor(ctx context.Context, condition func() bool) error {
	for !condition() {
		if err := Sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
	return nil
}

// FreeBytes returns the free space of the file system that holds dir.
func FreeBytes(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("read the free disk space of %s: %w", dir, err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:gosec,unconvert // its type is another on each system
}
