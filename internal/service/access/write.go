package access

import (
	"context"
	"fmt"
	"iter"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/store"
)

// Send gives a session of the user's own a prompt, within the limits.
func (s *service) Send(ctx context.Context, id pawl.SessionID, p pawl.Prompt) (seq pawl.Seq, err error) {
	err = s.runLimited(ctx, id, func(ctx context.Context, left bounds) error {
		p.MaxCost, p.MaxSessionCost = least(p.MaxCost, left.turn), least(p.MaxSessionCost, left.session)
		seq, err = s.next.Send(ctx, id, p)
		return err
	})
	return seq, err
}

// StartMission begins a mission of the user's own, within the limits.
func (s *service) StartMission(ctx context.Context, n pawl.NewMission) (row pawl.Session, err error) {
	if n.Owner, err = s.owner(n.Owner); err != nil {
		return row, fmt.Errorf("start mission: %w", err)
	}
	err = s.limited(ctx, pawl.Session{}, func(ctx context.Context, left bounds) error {
		n.Settings.MaxCost, n.Settings.MaxSessionCost = least(n.Settings.MaxCost, left.turn), least(n.Settings.MaxSessionCost, left.session)
		row, err = s.next.StartMission(ctx, n)
		return err
	})
	return row, err
}

// least is the smaller of two bounds, of which 0 is none.
func least(a, b pawl.Money) pawl.Money {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Compact orders the conversation to be made smaller, within the limits.
func (s *service) Compact(ctx context.Context, id pawl.SessionID, instructions string) (seq pawl.Seq, err error) {
	err = s.runLimited(ctx, id, func(ctx context.Context, _ bounds) error {
		seq, err = s.next.Compact(ctx, id, instructions)
		return err
	})
	return seq, err
}

// Reword replaces the words of a prompt that waits.
func (s *service) Reword(ctx context.Context, id pawl.SessionID, prompt pawl.Seq, parts pawl.Parts) error {
	if err := s.own(ctx, id); err != nil {
		return err
	}
	return s.next.Reword(s.by(ctx), id, prompt, parts)
}

// Withdraw takes back a prompt that waits.
func (s *service) Withdraw(ctx context.Context, id pawl.SessionID, prompt pawl.Seq) error {
	if err := s.own(ctx, id); err != nil {
		return err
	}
	return s.next.Withdraw(s.by(ctx), id, prompt)
}

// Resume goes on with a session that was interrupted, within the limits.
func (s *service) Resume(ctx context.Context, id pawl.SessionID) error {
	return s.runLimited(ctx, id, func(ctx context.Context, _ bounds) error { return s.next.Resume(ctx, id) })
}

// Answer answers what the session asked. What is permitted for good holds for all
// sessions of the directory, those of other users too: that is not a user's to give.
func (s *service) Answer(ctx context.Context, id pawl.SessionID, ask pawl.Seq, a pawl.Answer) error {
	if err := s.own(ctx, id); err != nil {
		return err
	}
	if len(a.Always) > 0 && !s.who.Scope.Covers(api.ScopeAdmin) {
		return fmt.Errorf("to permit it for good needs the scope %q: permit it once, or decline: %w", api.ScopeAdmin, pawl.ErrDenied)
	}
	return s.next.Answer(s.by(ctx), id, ask, a)
}

// Cancel ends the open turn.
func (s *service) Cancel(ctx context.Context, id pawl.SessionID) error {
	if err := s.own(ctx, id); err != nil {
		return err
	}
	return s.next.Cancel(s.by(ctx), id)
}

// Shell runs a command of the user's in a session of their own, within the limits.
func (s *service) Shell(ctx context.Context, id pawl.SessionID, command string) (seq pawl.Seq, err error) {
	err = s.runLimited(ctx, id, func(ctx context.Context, _ bounds) error {
		seq, err = s.next.Shell(ctx, id, command)
		return err
	})
	return seq, err
}

// Undo orders to go back to before a message, or forward again.
func (s *service) Undo(ctx context.Context, id pawl.SessionID, r pawl.Undo) (pawl.Seq, error) {
	if err := s.own(ctx, id); err != nil {
		return 0, err
	}
	return s.next.Undo(s.by(ctx), id, r)
}

// Fork makes a session that begins as this one was, of the same owner. So it is
// the owner's to make.
func (s *service) Fork(ctx context.Context, id pawl.SessionID, at pawl.Seq) (pawl.Session, error) {
	if err := s.own(ctx, id); err != nil {
		return pawl.Session{}, err
	}
	return s.next.Fork(s.by(ctx), id, at)
}

// Rename gives the session another title.
func (s *service) Rename(ctx context.Context, id pawl.SessionID, title string) error {
	if err := s.own(ctx, id); err != nil {
		return err
	}
	return s.next.Rename(s.by(ctx), id, title)
}

// Share says who may read the session beside its owner.
func (s *service) Share(ctx context.Context, id pawl.SessionID, with []pawl.User) error {
	if err := s.own(ctx, id); err != nil {
		return err
	}
	return s.next.Share(s.by(ctx), id, with)
}

// Delete removes a session. What it has cost is removed with it, so that one who
// has a budget cannot do so on the same day.
func (s *service) Delete(ctx context.Context, id pawl.SessionID) error {
	if err := s.own(ctx, id); err != nil {
		return err
	}
	if err := s.checkDelete(ctx, id); err != nil {
		return err
	}
	return s.next.Delete(s.by(ctx), id)
}

// Import makes a session of the user's own from events, whoever wrote them.
func (s *service) Import(ctx context.Context, events iter.Seq2[pawl.Event, error]) (pawl.Session, error) {
	ctx = s.by(ctx)
	if s.all() {
		return s.next.Import(ctx, events)
	}
	return s.next.Import(ctx, func(yield func(pawl.Event, error) bool) {
		for e, err := range events {
			if err == nil {
				e.Body, err = s.importedBody(ctx, e)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	})
}

// claimed is the body of an event as a user may bring it in: it is theirs, shared
// with nobody, said by nobody else, and has not earned them anything.
func (s *service) importedBody(ctx context.Context, e pawl.Event) (pawl.Body, error) {
	for _, r := range store.UsageOf([]pawl.Event{e}) {
		if u := r.Usage; min(u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite, int64(u.Cost)) < 0 {
			return nil, fmt.Errorf("event %d has used less than nothing: %w", e.Seq, pawl.ErrInvalid)
		}
	}
	switch b := e.Body.(type) {
	case pawl.SessionCreated:
		b.Owner = s.who.User
		if b.Parent != "" {
			return b, s.own(ctx, b.Parent)
		}
		return b, nil
	case pawl.SessionShared:
		b.With, b.By = nil, ActorOf(ctx)
		return b, nil
	case pawl.MissionStarted:
		b.By = ActorOf(ctx)
		return b, nil
	case pawl.Prompted:
		b.By = ActorOf(ctx)
		return b, nil
	case pawl.Answered:
		b.By = ActorOf(ctx)
		return b, nil
	case pawl.UndoAsked:
		b.By = ActorOf(ctx)
		return b, nil
	case pawl.ShellAsked:
		b.By = ActorOf(ctx)
		return b, nil
	default:
		return b, nil
	}
}
