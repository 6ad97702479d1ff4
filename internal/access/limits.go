package access

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
)

// bounds are what new work may cost: its turn, and the session with all that it
// has cost before. 0 is no bound.
type bounds struct{ turn, session pawl.Money }

// stripes let one user's orders through one after the other, so that two at once
// are not both the last that a limit permits. Other processes do not wait.
type stripes struct {
	seed  maphash.Seed
	once  sync.Once
	locks [64]sync.Mutex
}

func (s *stripes) of(u pawl.User) *sync.Mutex {
	s.once.Do(func() { s.seed = maphash.MakeSeed() })
	return &s.locks[maphash.String(s.seed, string(u))%uint64(len(s.locks))]
}

// within gives work to a session of the user's own, if the limits permit it.
func (s *service) within(ctx context.Context, id pawl.SessionID, do func(context.Context, bounds) error) error {
	row, err := s.owned(ctx, id)
	if err != nil {
		return err
	}
	return s.limited(ctx, row, do)
}

// limited gives work to a session, or to one that is not there yet and has no id.
func (s *service) limited(ctx context.Context, row pawl.Session, do func(context.Context, bounds) error) (err error) {
	var left bounds
	if limits := s.who.Limits; limits.Budget > 0 || limits.Parallel > 0 {
		lock := s.access.sends.of(s.who.User)
		lock.Lock()
		defer lock.Unlock()
		if err := s.mayBegin(ctx, row); err != nil {
			return err
		}
		if left, err = s.left(ctx, row.ID); err != nil {
			return err
		}
	}
	return do(s.by(ctx), left)
}

// mayBegin refuses a session that would be one too many at work.
func (s *service) mayBegin(ctx context.Context, row pawl.Session) error {
	limit := s.who.Limits.Parallel
	switch {
	case limit == 0:
		return nil
	case row.Parent != "": // it is not among those that are counted
		return fmt.Errorf("session %s works for another: give that one the work: %w", row.ID, pawl.ErrDenied)
	}
	busy, err := s.next.List(ctx, pawl.Filter{Owner: &s.who.User, Unfinished: true, Limit: limit + 1})
	if err != nil {
		return err
	}
	others := 0
	for _, b := range busy {
		if b.ID != row.ID {
			others++
		}
	}
	if others >= limit {
		return &api.LimitError{What: fmt.Sprintf("%d sessions work already, as many as the token permits: try again when one has ended", others), After: time.Second}
	}
	return nil
}

// left returns what may still be spent today, by a turn and by its session. What
// the sessions of the user have cost since the UTC day's begin counts, children
// included.
func (s *service) left(ctx context.Context, id pawl.SessionID) (bounds, error) {
	budget := s.who.Limits.Budget
	if budget == 0 {
		return bounds{}, nil
	}
	now := s.access.now()
	var before pawl.Money
	if id != "" { // first: what comes between the two is then counted
		var err error
		if before, err = s.cost(ctx, pawl.UsageFilter{Session: id}); err != nil {
			return bounds{}, err
		}
	}
	today, err := s.cost(ctx, pawl.UsageFilter{Owner: &s.who.User, Since: now})
	if err != nil {
		return bounds{}, err
	}
	if today >= budget {
		next := tomorrow(now)
		return bounds{}, &api.LimitError{
			What:  fmt.Sprintf("the day's budget of $%.2f is spent: try again after %s", budget.Dollars(), next.Format("2006-01-02 15:04 MST")),
			After: next.Sub(now),
		}
	}
	return bounds{turn: budget - today, session: before + budget - today}, nil
}

// mayForget refuses to delete what counts toward the day's budget.
func (s *service) mayForget(ctx context.Context, id pawl.SessionID) error {
	if s.who.Limits.Budget == 0 {
		return nil
	}
	now := s.access.now()
	today, err := s.cost(ctx, pawl.UsageFilter{Session: id, Since: now})
	if err != nil || today == 0 {
		return err
	}
	next := tomorrow(now)
	return &api.LimitError{
		What:  "what it has cost counts toward the day's budget: delete it after " + next.Format("2006-01-02 15:04 MST"),
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

// tomorrow is when the UTC day ends.
func tomorrow(now time.Time) time.Time {
	return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
}
