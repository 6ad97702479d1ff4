// Package access restricts a pawl.Service to what each user may see and do: their own sessions, those
// shared with them, the limits of their token and tenant. A session of another user looks like one
// that does not exist, errors included. It also authenticates API tokens.
package access

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/service/access/passkey"
	"github.com/pawl-dev/pawl/internal/store"
)

// Access returns services for principals. The zero value is ready to use; one is enough for a process.
type Access struct {
	Tokens  store.Tokens     // nil means no tokens
	Tenants store.Tenants    // nil rejects the tokens of tenants
	Clock   func() time.Time // nil means time.Now

	Roots       Roots                  // the directories that sessions may work in; sessions elsewhere look as if they did not exist
	DefaultRate int                    // requests per minute of a token that has no rate of its own; 0 means no limit
	DefaultMode func() (string, error) // permission mode of prompts that name none; nil means ask

	tokens  tokenCache
	links   linkAttempts
	once    sync.Once
	checker *passkey.Checker // see passkeys
	watched watchers
	sends   lockStripes
	tenants lockStripes
}

func (a *Access) now() time.Time {
	if a.Clock == nil {
		return time.Now()
	}
	return a.Clock()
}

// For returns the service as the principal may use it: with their own sessions, those shared with them
// for reading, and within the limits of their token. The empty user, who runs the server, has all
// sessions. The log records the principal of each action. All of it is within their tenant, which
// the store enforces.
func (a *Access) For(svc pawl.Service, p api.Principal) pawl.Service {
	return &service{access: a, next: tenanted{svc, p.Tenant}, who: p}
}

// service restricts another service to one principal.
type service struct {
	access *Access
	next   pawl.Service
	who    api.Principal
}

var _ pawl.Service = (*service)(nil)

// all reports whether the principal may see every session.
func (s *service) all() bool { return s.who.User == "" }

// by adds the principal to the context, for the log.
func (s *service) by(ctx context.Context) context.Context { return WithActor(ctx, s.actor()) }

// actor returns the principal as the log names it. Who needs no token and may do everything has no scope.
func (s *service) actor() pawl.Actor {
	a := pawl.Actor{User: s.who.User, Token: s.who.Token, Scope: string(s.who.Scope)}
	if s.who.Token == "" && s.who.Scope == api.ScopeAdmin {
		a.Scope = ""
	}
	return a
}

func notFound(id pawl.SessionID) error {
	return store.NotFound(id)
}

// own returns an error unless the session belongs to the principal.
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

// get returns a session of any owner. A missing session gives the same error as one of another user.
func (s *service) get(ctx context.Context, id pawl.SessionID) (pawl.Session, error) {
	row, err := s.next.Get(ctx, id)
	if err == nil {
		var ok bool
		if ok, err = s.served(ctx, row); err == nil && !ok {
			return pawl.Session{}, notFound(id)
		}
	}
	if errors.Is(err, pawl.ErrNotFound) && !s.all() {
		err = notFound(id)
	}
	return row, err
}

// maxDepth bounds the search for a shared parent: subagents have no subagents.
const maxDepth = 8

// read returns a session that the principal may read: their own, one that is shared with them, or a
// subagent of such a session.
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
		// A session below that of another owner is not shared with it.
		if err != nil || above.Owner != row.Owner {
			break
		}
	}
	return pawl.Session{}, notFound(id)
}

// Create creates a session that the user owns.
func (s *service) Create(ctx context.Context, n pawl.NewSession) (pawl.Session, error) {
	n, err := s.newSession(ctx, n)
	if err != nil {
		return pawl.Session{}, fmt.Errorf("create session: %w", err)
	}
	return s.next.Create(s.by(ctx), n)
}

// newSession returns a session to create, with its owner: the principal, who must own its parent too.
func (s *service) newSession(ctx context.Context, n pawl.NewSession) (_ pawl.NewSession, err error) {
	if n.Owner, err = s.owner(n.Owner); err == nil && n.Parent != "" && !s.all() {
		err = s.own(ctx, n.Parent)
	}
	return n, err
}

// owner returns the owner of a session that the principal creates for a user.
func (s *service) owner(u pawl.User) (pawl.User, error) {
	switch {
	case s.all():
		return u, nil
	case u != "" && u != s.who.User:
		return "", fault.New(pawl.ErrDenied, "sessions cannot be created for another user")
	}
	return s.who.User, nil
}

// Mission returns everything about a mission.
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

// List returns the sessions that match and that the principal may read. The store filters them, so that
// no session of another user leaves it.
func (s *service) List(ctx context.Context, f pawl.Filter) (pawl.SessionPage, error) {
	switch {
	case s.all():
		return s.list(ctx, f)
	case f.Owner != nil && *f.Owner != s.who.User:
		return pawl.SessionPage{}, nil
	case f.Parent != "":
		parent, err := s.read(ctx, f.Parent)
		if errors.Is(err, pawl.ErrNotFound) {
			return pawl.SessionPage{}, nil
		}
		if err != nil {
			return pawl.SessionPage{}, err
		}
		f.Owner, f.Shared = &parent.Owner, false // readers of a session may read its subagents
	default:
		f.Shared = f.Shared || f.Owner == nil
		f.Owner = &s.who.User
	}
	return s.list(ctx, f)
}

// Usage returns the usage of the sessions that the user owns.
func (s *service) Usage(ctx context.Context, f pawl.UsageFilter) ([]pawl.UsageRow, error) {
	if s.all() {
		return s.usage(ctx, f)
	}
	if f.Owner != nil && *f.Owner != s.who.User {
		return nil, nil
	}
	f.Owner = &s.who.User
	return s.usage(ctx, f)
}

// Waiting returns the waiting prompts.
func (s *service) Waiting(ctx context.Context, id pawl.SessionID) ([]pawl.Waiting, error) {
	if _, err := s.read(ctx, id); err != nil {
		return nil, err
	}
	return s.next.Waiting(ctx, id)
}

// Preview returns what an undo or redo would do. It shows current files of the directory, which are not
// part of what is shared, so only the owner may.
func (s *service) Preview(ctx context.Context, id pawl.SessionID, r pawl.Undo) (pawl.UndoPlan, error) {
	if err := s.own(ctx, id); err != nil {
		return pawl.UndoPlan{}, err
	}
	return s.next.Preview(ctx, id, r)
}

// lookEvery is how often Events checks that its reader may still read the session.
const lookEvery = 5 * time.Second

// Events yields the events of a session while the principal may read it: until it is no longer shared,
// or the token is revoked.
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

// stillReadable returns an error if the principal may not read the session any more.
func (s *service) stillReadable(ctx context.Context, id pawl.SessionID) error {
	if err := s.access.live(ctx, s.who); err != nil {
		return err
	}
	_, err := s.read(ctx, id)
	return err
}

// Draft returns the part of the current reply that has been received so far.
func (s *service) Draft(ctx context.Context, id pawl.SessionID) (pawl.Draft, error) {
	if _, err := s.read(ctx, id); err != nil {
		return pawl.Draft{}, err
	}
	return s.next.Draft(ctx, id)
}
