//go:build fleet

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet"
	"github.com/pawl-dev/pawl/fleet/nats"
	"github.com/pawl-dev/pawl/fleet/runner"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/backend"
)

const (
	askTime   = 5 * time.Second // for one of the parts to answer
	lookEvery = 2 * time.Second // with --watch
	pollEvery = 250 * time.Millisecond
)

// operator looks at a fleet from outside. A part that is down is nil, and why it is
// stands with the faults.
type operator struct {
	parts  *fleetParts
	roster fleetStore
	faults []string
	closes []func()
}

// openOperator connects to what can be reached.
func openOperator(ctx context.Context) (*operator, error) {
	parts, ref, err := loadFleet()
	if err != nil {
		return nil, err
	}
	if err := holdSecrets(ref); err != nil {
		return nil, err
	}
	o := &operator{parts: parts}
	o.faulty(o.openStore(ctx, ref))
	o.faulty(o.openEngine(ctx))
	o.faulty(o.openLink(ctx))
	return o, nil
}

func (o *operator) openStore(ctx context.Context, ref string) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	st, err := backend.Open(ctx, ref)
	if err != nil {
		return err
	}
	o.closes = append(o.closes, func() { _ = st.Close() })
	o.roster, err = rosterOf(ctx, st, o.parts.hosts)
	return err
}

func (o *operator) openEngine(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	o.parts.engine, err = runner.Dial(ctx, o.parts.Temporal, o.parts.Namespace, slog.New(slog.DiscardHandler))
	if err == nil {
		o.closes = append(o.closes, o.parts.engine.Close)
	}
	return err
}

func (o *operator) openLink(ctx context.Context) (err error) {
	if o.parts.link, err = nats.Open(nats.Config{URL: o.parts.NATS, Name: "pawl fleet"}); err != nil {
		return err
	}
	o.closes = append(o.closes, o.parts.link.Close)
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	_ = until(ctx, o.parts.link.Connected)
	return o.parts.link.Health()
}

// until waits until something holds, or ctx ends.
func until(ctx context.Context, holds func() bool) error {
	for !holds() {
		if err := pause(ctx, pollEvery); err != nil {
			return err
		}
	}
	return nil
}

func (o *operator) faulty(err error) {
	if err != nil {
		o.faults = append(o.faults, secrets.Redact(err.Error()))
	}
}

func (o *operator) Close() {
	for _, do := range o.closes {
		do()
	}
}

// withOperator is for what needs the store and the engine.
func withOperator(cmd *cobra.Command, do func(ctx context.Context, o *operator) error) error {
	o, err := openOperator(cmd.Context())
	if err != nil {
		return err
	}
	defer o.Close()
	if o.roster == nil || o.parts.engine.Client == nil {
		return fmt.Errorf("%s: 'pawl fleet check' says what to do: %w", strings.Join(o.faults, "; "), pawl.ErrUnavailable)
	}
	return do(cmd.Context(), o)
}

// fleetStatus is all that 'pawl fleet status --json' prints.
type fleetStatus struct {
	At       time.Time        `json:"at"`
	Hosts    []fleet.Host     `json:"hosts"`
	Sessions []fleet.Load     `json:"sessions"`
	Queues   []runner.Queue   `json:"queues"`
	Versions []runner.Version `json:"versions"`
	NATS     bool             `json:"nats"`   // it can be reached
	Lag      time.Duration    `json:"lag_ns"` // how long the first task of all queues has waited
	Faults   []string         `json:"faults"` // why something of this is not known
}

// look returns how the fleet is now, as far as it can be known.
func (o *operator) look(ctx context.Context) *fleetStatus {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	s := &fleetStatus{At: time.Now().UTC(), Hosts: []fleet.Host{}, Sessions: []fleet.Load{}, Queues: []runner.Queue{}, Versions: []runner.Version{}}
	had := len(o.faults)
	var err error
	if o.roster != nil {
		s.Hosts, err = o.roster.Hosts(ctx)
		o.faulty(err)
		s.Sessions, err = o.roster.Loads(ctx)
		o.faulty(err)
	}
	if o.parts.engine.Client != nil {
		names := make([]string, len(s.Hosts))
		for i, h := range s.Hosts {
			names[i] = h.Name
		}
		s.Queues, err = runner.Queues(ctx, o.parts.engine, names...)
		o.faulty(err)
		s.Versions, err = runner.Versions(ctx, o.parts.engine)
		o.faulty(err)
	}
	for _, q := range s.Queues {
		s.Lag = max(s.Lag, q.Oldest)
	}
	s.NATS = o.parts.link != nil && o.parts.link.Connected()
	s.Faults, o.faults = append([]string{}, o.faults...), o.faults[:had]
	return s
}

// hosts counts those in a state.
func (s *fleetStatus) hosts(state string) (n float64) {
	for _, h := range s.Hosts {
		if hostState(h) == state {
			n++
		}
	}
	return n
}

// load is that of all tenants together.
func (s *fleetStatus) load() (all fleet.Load) {
	for _, l := range s.Sessions {
		all.Working, all.Queued, all.Waiting = all.Working+l.Working, all.Queued+l.Queued, all.Waiting+l.Waiting
	}
	return all
}

func (s *fleetStatus) coordinators() float64 {
	if len(s.Queues) == 0 {
		return 0
	}
	return float64(s.Queues[0].Pollers)
}

func (s *fleetStatus) backlog() (n float64) {
	for _, q := range s.Queues {
		n += float64(q.Backlog)
	}
	return n
}

func (f *fleetFlags) status(cmd *cobra.Command) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	o, err := openOperator(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	for {
		s := o.look(ctx)
		if f.json {
			err = writeJSON(cmd.OutOrStdout(), s)
		} else {
			err = s.print(cmd.OutOrStdout())
		}
		if err != nil {
			return err
		}
		if !f.watch && len(s.Faults) > 0 {
			return &exitError{code: exitFailed}
		}
		if !f.watch || pause(ctx, lookEvery) != nil {
			return nil
		}
	}
}

// pause waits for a while. It returns an error if ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// print shows it in tables.
func (s *fleetStatus) print(w io.Writer) error {
	for _, fault := range s.Faults {
		fmt.Fprintf(w, "fault: %s\n", sanitize.Line(fault))
	}
	connected := "no"
	if s.NATS {
		connected = "yes"
	}
	fmt.Fprintf(w, "%s  lag %s  NATS %s\n\n", s.At.Format(time.DateTime), s.Lag.Round(time.Millisecond), connected)
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "HOST\tVERSION\tSTATE\tBUSY\tCAPACITY\tKEPT\tFREE\tSEEN")
	for _, h := range s.Hosts {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\n", sanitize.Line(h.Name), sanitize.Line(h.Version), hostState(h), h.Busy, h.Capacity, h.Kept, sizeText(h.DiskFree), h.Seen.Format(time.DateTime))
	}
	fmt.Fprintln(t, "\nTENANT\tWORKING\tQUEUED\tWAITING")
	for _, l := range s.Sessions {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\n", tenantText(l.Tenant), l.Working, l.Queued, l.Waiting)
	}
	fmt.Fprintln(t, "\nQUEUE\tPOLLERS\tBACKLOG\tOLDEST\tVERSIONS")
	for _, q := range s.Queues {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\n", sanitize.Line(q.Name), q.Pollers, q.Backlog, q.Oldest.Round(time.Millisecond), sanitize.Line(strings.Join(q.Versions, " ")))
	}
	fmt.Fprintln(t, "\nCOORDINATORS\tSTATE")
	for _, v := range s.Versions {
		fmt.Fprintf(t, "%s\t%s\n", sanitize.Line(v.ID), versionState(v))
	}
	fmt.Fprintln(t)
	return t.Flush()
}

func hostState(h fleet.Host) string {
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

func versionState(v runner.Version) string {
	switch {
	case v.Current:
		return "current"
	case v.Drained:
		return "drained"
	}
	return "old"
}

func tenantText(t store.Tenant) string {
	if t == "" {
		return "(none)"
	}
	return string(t)
}

// sizeText writes a number of bytes in the largest unit of which there is one.
func sizeText(n int64) string {
	for _, s := range sizes[:3] {
		if n >= s.bytes {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(s.bytes), s.unit)
		}
	}
	return fmt.Sprintf("%d B", n)
}
