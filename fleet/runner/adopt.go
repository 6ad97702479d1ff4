package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
)

// The bounds of a look after sessions that nobody works on.
const (
	adoptMost = 200         // sessions of a tenant, in one look
	adoptTime = time.Minute // for one look
)

// Adopter looks after sessions that have work and no workflow: one was lost, or never
// begun, since the node that took the work in has died before it told the engine. A
// workflow that is there may have missed what was appended while the engine was down:
// it is told once of each end of the log. To tell it again and again would wake what
// waits for a person.
type Adopter struct {
	Tenants  pawl.Tenants
	Sessions Sessions
	Works    func(ctx context.Context, id pawl.SessionID) (bool, error) // whether a session has a workflow
	// Alone does something unless another node does it now, and reports whether it did.
	Alone func(ctx context.Context, do func(context.Context) error) (bool, error)
	Log   *slog.Logger

	HostTimeout time.Duration // as Engine.HostTimeout; it looks every 1.5 of these
	Age         time.Duration // for so long nothing has happened in a session; 0 means 6 host timeouts
	Most        int           // sessions of a tenant in one look; 0 means 200

	told  map[pawl.SessionID]pawl.Seq // how far the workflows were told of
	last  pawl.Tenant                 // the one that was looked after last
	pages map[pawl.Tenant]time.Time   // up to where each was looked through
}

// Sessions are what an Adopter asks of a service.
type Sessions interface {
	List(ctx context.Context, f pawl.Filter) ([]pawl.Session, error)
	Resume(ctx context.Context, id pawl.SessionID) error
}

// Run looks again and again, until ctx ends.
func (a *Adopter) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := a.Alone(ctx, a.Look); err != nil && ctx.Err() == nil {
			a.Log.Error("look for interrupted sessions", "error", err)
		}
		select {
		case <-time.After(timingFor(a.HostTimeout).adoptEvery):
		case <-ctx.Done():
		}
	}
}

// Look looks once through all tenants, a page of each. It begins after the one that
// the last look ended with, so that all have their turn even if time runs out.
func (a *Adopter) Look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, adoptTime)
	defer cancel()
	accounts, err := a.Tenants.Tenants(ctx)
	if err != nil {
		return err
	}
	all := []pawl.Tenant{""} // who runs the fleet has sessions too
	for _, t := range accounts {
		all = append(all, t.Tenant)
	}
	after, found := slices.BinarySearch(all, a.last)
	if found {
		after++
	}
	var failed error
	for _, t := range slices.Concat(all[after:], all[:after]) {
		if ctx.Err() != nil {
			break
		}
		failed = errors.Join(failed, a.lookAfter(pawl.WithTenant(ctx, t)))
		a.last = t
	}
	return failed
}

// lookAfter looks through the next page of a tenant's unfinished sessions. Most of
// them wait for a person, and have a workflow that does. One that cannot be helped
// keeps nobody from the others.
func (a *Adopter) lookAfter(ctx context.Context) error {
	tenant, most := pawl.TenantOf(ctx), cmp.Or(a.Most, adoptMost)
	before := time.Now().Add(-cmp.Or(a.Age, timingFor(a.HostTimeout).adoptAge))
	if page, ok := a.pages[tenant]; ok && page.Before(before) {
		before = page
	}
	list, err := a.Sessions.List(ctx, pawl.Filter{Unfinished: true, Before: before, Limit: most})
	if err != nil {
		return err
	}
	a.turn(tenant, before, list, most)
	var first error
	failed := 0
	for _, s := range list {
		err := a.help(ctx, s)
		if err == nil || errors.Is(err, pawl.ErrNotFound) { // it was deleted meanwhile
			continue
		}
		failed++
		first = cmp.Or(first, err)
		if ctx.Err() != nil {
			break
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d sessions could not be resumed: %w", failed, len(list), first)
	}
	return nil
}

// help begins a session's workflow if there is none, and tells one that is there that
// the log has grown.
func (a *Adopter) help(ctx context.Context, s pawl.Session) error {
	works, err := a.Works(ctx, s.ID)
	if err == nil && works && a.told[s.ID] == s.Head {
		return nil
	}
	if err == nil {
		err = a.Sessions.Resume(ctx, s.ID)
	}
	if err != nil {
		return fmt.Errorf("session %s: %w", s.ID, err)
	}
	a.tell(s)
	if !works {
		a.Log.Info("resumed", "session", s.ID, "tenant", pawl.TenantOf(ctx))
	}
	return nil
}

// turn notes where the next page begins: with the last one's end, since several
// sessions can be of the same moment, or anew after the last page.
func (a *Adopter) turn(t pawl.Tenant, before time.Time, list []pawl.Session, most int) {
	if a.pages == nil {
		a.pages = map[pawl.Tenant]time.Time{}
	}
	if len(list) < most {
		delete(a.pages, t)
		return
	}
	next := list[len(list)-1].Updated.Add(time.Microsecond)
	if !next.Before(before) { // a whole page of one moment
		next = list[len(list)-1].Updated
	}
	a.pages[t] = next
}

// mostTold bounds what is remembered of what was told: then it is told once more.
const mostTold = 100_000

func (a *Adopter) tell(s pawl.Session) {
	if a.told == nil || len(a.told) >= mostTold {
		a.told = map[pawl.SessionID]pawl.Seq{}
	}
	a.told[s.ID] = s.Head
}
