package access

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/store"
)

// bounds limits the cost of new work: of its turn, and of the session including its earlier cost. 0 means
// no limit.
type bounds struct{ turn, session pawl.Money }

// lockStripes serializes the requests of one user or tenant, so that two at once do not both pass as the
// last one within a limit. It does not lock across processes.
type lockStripes struct {
	seed  maphash.Seed
	once  sync.Once
	locks [64]sync.Mutex
}

func (s *lockStripes) of(name string) *sync.Mutex {
	s.once.Do(func() { s.seed = maphash.MakeSeed() })
	return &s.locks[maphash.String(s.seed, name)%uint64(len(s.locks))]
}

// runLimited calls do for a session that the principal owns, if the limits allow more work.
func (s *service) runLimited(ctx context.Context, id pawl.SessionID, do func(context.Context, pawl.Session, bounds) error) error {
	row, err := s.owned(ctx, id)
	if err != nil {
		return err
	}
	return s.limited(ctx, row, do)
}

// limit is a limit of the principal: of the token, over the sessions of its user, or of the tenant, over
// all of its sessions.
type limit struct {
	store.Limits
	whose string
	owner *pawl.User // nil means all of the tenant
}

// limits returns the limits that have to be counted in the store.
func (s *service) limits() (all []limit) {
	for _, l := range []limit{{s.who.Limits, "token", &s.who.User}, {s.who.Shared, "tenant", nil}} {
		if l.Budget > 0 || l.Parallel > 0 {
			all = append(all, l)
		}
	}
	return all
}

// limited calls do for a session, or for a new one without id, if the limits allow more work.
func (s *service) limited(ctx context.Context, row pawl.Session, do func(context.Context, pawl.Session, bounds) error) error {
	limits := s.limits()
	if len(limits) > 0 {
		defer s.lock()()
	}
	var left bounds
	for _, l := range limits {
		if err := s.checkParallel(ctx, l, row); err != nil {
			return err
		}
		more, err := s.remaining(ctx, l, row.ID)
		if err != nil {
			return err
		}
		left = bounds{least(left.turn, more.turn), least(left.session, more.session)}
	}
	return do(s.by(ctx), row, left)
}

// lock waits until no other request that the same limits count is under way, and returns the unlock
// function. The tenant is always locked before the user, to prevent deadlocks.
func (s *service) lock() (done func()) {
	locks := []*sync.Mutex{s.access.sends.of(string(s.who.User))}
	if s.who.Shared.Budget > 0 || s.who.Shared.Parallel > 0 {
		locks = append([]*sync.Mutex{s.access.tenants.of(string(s.who.Tenant))}, locks...)
	}
	for _, l := range locks {
		l.Lock()
	}
	return func() {
		for _, l := range locks {
			l.Unlock()
		}
	}
}

// checkParallel returns an error if one more busy session would exceed the limit.
func (s *service) checkParallel(ctx context.Context, l limit, row pawl.Session) error {
	switch {
	case l.Parallel == 0:
		return nil
	case row.Parent != "": // subagents are not counted
		return fault.New(pawl.ErrDenied, "session %s is a subagent: send the prompt to its parent", row.ID)
	}
	busy, err := s.next.List(ctx, pawl.Filter{Owner: l.owner, Unfinished: true, Limit: l.Parallel + 1})
	if err != nil {
		return err
	}
	others := 0
	for _, b := range busy.Sessions {
		if b.ID != row.ID {
			others++
		}
	}
	if others >= l.Parallel {
		return &api.LimitError{What: fmt.Sprintf("%s already running, the limit of the %s: try again when one has ended", humanize.Plural(others, "session"), l.whose), After: time.Second}
	}
	return nil
}

// remaining returns what a turn and its session may still cost today. All costs since the beginning of the
// UTC day count, including those of subagents.
func (s *service) remaining(ctx context.Context, l limit, id pawl.SessionID) (bounds, error) {
	if l.Budget == 0 {
		return bounds{}, nil
	}
	now := s.access.now()
	var before pawl.Money
	if id != "" { // read first, so that a cost between the two reads is counted
		var err error
		if before, err = s.cost(ctx, pawl.UsageFilter{Session: id}); err != nil {
			return bounds{}, err
		}
	}
	today, err := s.cost(ctx, pawl.UsageFilter{Owner: l.owner, Since: now})
	if err != nil {
		return bounds{}, err
	}
	if today >= l.Budget {
		next := tomorrow(now)
		return bounds{}, &api.LimitError{
			What:  fmt.Sprintf("the daily budget of the %s ($%.2f) is spent: try again after %s", l.whose, l.Budget.Dollars(), next.Format("2006-01-02 15:04 MST")),
			After: next.Sub(now),
		}
	}
	return bounds{turn: l.Budget - today, session: before + l.Budget - today}, nil
}

// checkDelete returns an error if the session's cost counts toward the day's budget.
func (s *service) checkDelete(ctx context.Context, id pawl.SessionID) error {
	if s.who.Limits.Budget == 0 && s.who.Shared.Budget == 0 {
		return nil
	}
	now := s.access.now()
	today, err := s.cost(ctx, pawl.UsageFilter{Session: id, Since: now})
	if err != nil || today == 0 {
		return err
	}
	next := tomorrow(now)
	return &api.LimitError{
		What:  "the session's cost counts toward today's budget: delete it after " + next.Format("2006-01-02 15:04 MST"),
		After: next.Sub(now),
	}
}

func (s *service) cost(ctx context.Context, f pawl.UsageFilter) (sum pawl.Money, err error) {
	rows, err := s.next.Usage(ctx, f)
	for _, r := range rows {
		sum += r.Cost
	}
	return sum, err
}

// tomorrow returns the end of the UTC day.
func tomorrow(now time.Time) time.Time {
	return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
}
