// Package access shows each user the sessions that are theirs to see. What is
// another's is not there: not even an error tells that it is.
package access

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/store"
)

// Access makes services for those who ask. The zero value is ready; one is enough
// for a process.
type Access struct {
	Tokens  store.Tokens     // nil means that there are none
	Tenants store.Tenants    // nil means that there are none: the token of one is refused
	Clock   func() time.Time // nil means time.Now

	tokens  tokenCache
	sends   lockStripes
	tenants lockStripes
}

func (a *Access) now() time.Time {
	if a.Clock == nil {
		return time.Now()
	}
	return a.Clock()
}

// For returns the service as one who asks may use it: with their own sessions,
// those that are shared with them, to read, and within the limits of their token.
// The empty user, who runs the server, has all of them. What they do says in the
// log who it was. All of it is within their tenant, which the store holds them to.
func (a *Access) For(svc pawl.Service, p api.Principal) pawl.Service {
	return &service{access: a, next: tenanted{svc, p.Tenant}, who: p}
}

// service is another one for a single user.
type service struct {
	access *Access
	next   pawl.Service
	who    api.Principal
}

var _ pawl.Service = (*service)(nil)

// all reports whether the one who asks may see every session.
func (s *service) all() bool { return s.who.User == "" }

// by says who asks, for the log.
func (s *service) by(ctx context.Context) context.Context {
	return WithActor(ctx, pawl.Actor{User: s.who.User, Token: s.who.Token})
}

func notFound(id pawl.SessionID) error {
	return fmt.Errorf("there is no session %.40q: %w", id, pawl.ErrNotFound)
}

// own returns an error unless the session belongs to the one who asks.
func (s *service) own(ctx context.Context, id pawl.SessionID) error {
	_, err := s.owned(ctx, id)
	return err
}

func (s *service) owned(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	row, err := s.get(ctx, id)
	if err == nil && !s.all() && row.Owner != s.who.User {
		err = notFound(id)
	}
	return row, err
}

// get reads a session, whoever's it is. That there is none is said in the same
// words as that it is another's.
func (s *service) get(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	row, err := s.next.Get(ctx, id)
	if errors.Is(err, pawl.ErrNotFound) && !s.all() {
		err = notFound(id)
	}
	return row, err
}

// maxDepth bounds how far up it is looked for whether a session is shared: pawl's
// subagents have no subagents.
const maxDepth = 8

// read returns a session that the one who asks may read: their own, one that is
// shared with them, or a subagent of such a one.
func (s *service) read(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	row, err := s.get(ctx, id)
	if err != nil || s.all() || row.Owner == s.who.User {
		return row, err
	}
	for above, depth := row, 0; depth < maxDepth; depth++ {
		if slices.Contains(above.Shared, s.who.User) {
			return row, nil
		}
		if above.Parent == "" {
			break
		}
		above, err = s.get(ctx, above.Parent)
		if err != nil && !errors.Is(err, pawl.ErrNotFound) {
			return pawl.Session{}, err
		}
		// What somebody has put below another's session is not that other's to show.
		if err != nil || above.Owner != row.Owner {
			break
		}
	}
	return pawl.Session{}, notFound(id)
}

// Create makes a session of the user's own.
func (s *service) Create(ctx context.Context, n pawl.NewSession) (pawl.Session, error) {
	var err error
	if n.Owner, err = s.owner(n.Owner); err == nil && n.Parent != "" && !s.all() {
		err = s.own(ctx, n.Parent)
	}
	if err != nil {
		return pawl.Session{}, fmt.Errorf("create session: %w", err)
	}
	return s.next.Create(s.by(ctx), n)
}

// owner says whose a session becomes that one who asks makes for a user.
func (s *service) owner(u pawl.User) (pawl.User, error) {
	switch {
	case s.all():
		return u, nil
	case u != "" && u != s.who.User:
		return "", fmt.Errorf("it cannot be made for somebody else: %w", pawl.ErrDenied)
	}
	return s.who.User, nil
}

// Mission returns all that can be seen of a mission.
func (s *service) Mission(ctx context.Context, id pawl.SessionID) (pawl.Board, error) {
	if _, err := s.read(ctx, id); err != nil {
		return pawl.Board{}, err
	}
	return s.next.Mission(ctx, id)
}

// Get returns one session.
func (s *service) Get(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	return s.read(ctx, id)
}

// List returns the sessions that match and that may be read. The store picks
// them: none that is another's leaves it.
func (s *service) List(ctx context.Context, f pawl.Filter) ([]pawl.Session, error) {
	switch {
	case s.all():
		return s.next.List(ctx, f)
	case f.Owner != nil && *f.Owner != s.who.User:
		return nil, nil
	case f.Parent != "":
		parent, err := s.read(ctx, f.Parent)
		if errors.Is(err, pawl.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		f.Owner, f.Shared = &parent.Owner, false // who may read a session may read its subagents
	default:
		f.Shared = f.Shared || f.Owner == nil
		f.Owner = &s.who.User
	}
	return s.next.List(ctx, f)
}

// Usage returns what the user's own sessions consumed.
func (s *service) Usage(ctx context.Context, f pawl.UsageFilter) ([]pawl.UsageRow, error) {
	if s.all() {
		return s.next.Usage(ctx, f)
	}
	if f.Owner != nil && *f.Owner != s.who.User {
		return nil, nil
	}
	f.Owner = &s.who.User
	return s.next.Usage(ctx, f)
}

// Waiting returns the prompts that wait.
func (s *service) Waiting(ctx context.Context, id pawl.SessionID) ([]pawl.Waiting, error) {
	if _, err := s.read(ctx, id); err != nil {
		return nil, err
	}
	return s.next.Waiting(ctx, id)
}

// Preview says what a Undo would do. It shows files of the directory as they are
// now, which are not part of what is shared.
func (s *service) Preview(ctx context.Context, id pawl.SessionID, r pawl.Undo) (pawl.UndoPlan, error) {
	if err := s.own(ctx, id); err != nil {
		return pawl.UndoPlan{}, err
	}
	return s.next.Preview(ctx, id, r)
}

// lookEvery is how often it is asked whether one who watches still may.
const lookEvery = 5 * time.Second

// Events yields the events of a session that may be read, as long as it may: until
// it is no longer shared, or the token is revoked.
func (s *service) Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		if _, err := s.read(ctx, id); err != nil {
			yield(pawl.Event{}, err)
			return
		}
		looked := s.access.now()
		for e, err := range s.next.Events(ctx, id, after) {
			_, shared := e.Body.(pawl.SessionShared)
			if now := s.access.now(); shared || now.Sub(looked) >= lookEvery {
				looked = now
				if err := s.stillReadable(ctx, id); err != nil {
					yield(pawl.Event{}, err)
					return
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// still returns an error if the one who asks may not read the session any more.
func (s *service) stillReadable(ctx context.Context, id pawl.SessionID) error {
	if err := s.access.live(ctx, s.who); err != nil {
		return err
	}
	_, err := s.read(ctx, id)
	return err
}

// Draft returns what has come so far of the reply that is being written.
func (s *service) Draft(ctx context.Context, id pawl.SessionID) (pawl.Draft, error) {
	if _, err := s.read(ctx, id); err != nil {
		return pawl.Draft{}, err
	}
	return s.next.Draft(ctx, id)
}
