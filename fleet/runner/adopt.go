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
	"github.com/pawl-dev/pawl/internal/store"
)

// Bounds of one scan.
const (
	adoptPageSize = 200         // sessions of a tenant in one scan
	adoptTime     = time.Minute // for one scan
)

// Adopter finds sessions that have open work but no workflow, and resumes them. The workflow was lost, or never started
// because the node that accepted the prompt died first. A workflow that exists may have missed events appended while
// Temporal was down, so the Adopter signals it once for each new end of the log; signaling it more often would wake
// sessions that wait for a person.
type Adopter struct {
	Tenants     store.Tenants
	Sessions    Sessions
	HasWorkflow func(ctx context.Context, id pawl.SessionID) (bool, error) // reports whether a session has a running workflow
	// WithLock runs do unless another node holds the lock, and reports whether it ran.
	WithLock func(ctx context.Context, do func(context.Context) error) (bool, error)
	Log      *slog.Logger

	HostTimeout time.Duration // as Engine.HostTimeout; the interval between scans is 1.5 times this
	Age         time.Duration // a session is scanned when it was idle for this long; 0 means 6 host timeouts
	PageSize    int           // sessions of a tenant in one scan; 0 means 200

	signaled map[pawl.SessionID]pawl.Seq // the end of the log that each workflow was signaled for
	last     store.Tenant                // the last tenant scanned
	pages    map[store.Tenant]time.Time  // where the next page of each tenant starts
}

// Sessions is the part of pawl.Service that an Adopter uses.
type Sessions interface {
	List(ctx context.Context, f pawl.Filter) (pawl.SessionPage, error)
	Resume(ctx context.Context, id pawl.SessionID) error
}

// Run scans periodically until ctx ends.
func (a *Adopter) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := a.WithLock(ctx, a.Scan); err != nil && ctx.Err() == nil {
			a.Log.Error("cannot look for interrupted sessions", "error", err)
		}
		select {
		case <-time.After(timingFor(a.HostTimeout).adoptEvery):
		case <-ctx.Done():
		}
	}
}

// Scan goes through all tenants, one page of each. It starts after the tenant where the previous scan ended, so that
// every tenant gets its turn even if time runs out.
func (a *Adopter) Scan(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, adoptTime)
	defer cancel()
	accounts, err := a.Tenants.Tenants(ctx)
	if err != nil {
		return err
	}
	all := []store.Tenant{""} // the operator's own sessions have no tenant
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
		failed = errors.Join(failed, a.scanTenant(store.WithTenant(ctx, t)))
		a.last = t
	}
	return failed
}

// scanTenant resumes the next page of a tenant's unfinished sessions. Most of them wait for a person and have a
// workflow. A session that cannot be resumed does not keep the others from being resumed.
func (a *Adopter) scanTenant(ctx context.Context) error {
	tenant, pageSize := store.TenantOf(ctx), cmp.Or(a.PageSize, adoptPageSize)
	before := time.Now().Add(-cmp.Or(a.Age, timingFor(a.HostTimeout).adoptAge))
	if page, ok := a.pages[tenant]; ok && page.Before(before) {
		before = page
	}
	page, err := a.Sessions.List(ctx, pawl.Filter{Unfinished: true, Before: before, Limit: pageSize})
	if err != nil {
		return err
	}
	list := page.Sessions
	a.setNextPage(tenant, before, list, pageSize)
	var first error
	failed := 0
	for _, s := range list {
		err := a.resume(ctx, s)
		if err == nil || errors.Is(err, pawl.ErrNotFound) { // it was deleted in the meantime
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

// resume starts the workflow of a session, or signals the existing one if the log has grown.
func (a *Adopter) resume(ctx context.Context, s pawl.Session) error {
	works, err := a.HasWorkflow(ctx, s.ID)
	if err == nil && works && a.signaled[s.ID] == s.Head {
		return nil
	}
	if err == nil {
		err = a.Sessions.Resume(ctx, s.ID)
	}
	if err != nil {
		return fmt.Errorf("session %s: %w", s.ID, err)
	}
	a.setSignaled(s)
	if !works {
		a.Log.Info("resumed", "session", s.ID, "tenant", store.TenantOf(ctx))
	}
	return nil
}

// setNextPage notes where the next page starts: at the last session of this one, inclusively, because several sessions
// can have the same time, or at the beginning after the last page.
func (a *Adopter) setNextPage(t store.Tenant, before time.Time, list []pawl.Session, pageSize int) {
	if a.pages == nil {
		a.pages = map[store.Tenant]time.Time{}
	}
	if len(list) < pageSize {
		delete(a.pages, t)
		return
	}
	next := list[len(list)-1].Updated.Add(time.Microsecond)
	if !next.Before(before) { // the whole page has the same time
		next = list[len(list)-1].Updated
	}
	a.pages[t] = next
}

// maxSignaled bounds Adopter.signaled. When it is reached the map is cleared, and workflows are signaled once more.
const maxSignaled = 100_000

func (a *Adopter) setSignaled(s pawl.Session) {
	if a.signaled == nil || len(a.signaled) >= maxSignaled {
		a.signaled = map[pawl.SessionID]pawl.Seq{}
	}
	a.signaled[s.ID] = s.Head
}
