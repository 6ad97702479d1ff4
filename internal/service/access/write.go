package access

import (
	"context"
	"fmt"
	"iter"

	"github.com/pawl-dev/pawl"
)

// Send sends a prompt to a session that the principal owns, within the limits.
func (s *service) Send(ctx context.Context, id pawl.SessionID, p pawl.Prompt) (seq pawl.Seq, err error) {
	err = s.runLimited(ctx, id, func(ctx context.Context, row pawl.Session, left bounds) error {
		if err := s.authorizePrompt(ctx, row, p); err != nil {
			return err
		}
		p.MaxCost, p.MaxSessionCost = least(p.MaxCost, left.turn), least(p.MaxSessionCost, left.session)
		seq, err = s.next.Send(ctx, id, p)
		return err
	})
	return seq, err
}

// StartMission starts a mission that the principal owns, within the limits.
func (s *service) StartMission(ctx context.Context, n pawl.NewMission) (row pawl.Session, err error) {
	if n.Owner, err = s.owner(n.Owner); err == nil {
		err = s.authorize(n.Dir, n.Settings)
	}
	if err == nil {
		err = authorizeOrder(s.actor(), n.Dir, n.Order)
	}
	if err != nil {
		return row, fmt.Errorf("start mission: %w", err)
	}
	err = s.limited(ctx, pawl.Session{}, func(ctx context.Context, _ pawl.Session, left bounds) error {
		n.Settings.MaxCost, n.Settings.MaxSessionCost = least(n.Settings.MaxCost, left.turn), least(n.Settings.MaxSessionCost, left.session)
		row, err = s.next.StartMission(ctx, n)
		return err
	})
	return row, err
}

// least returns the smaller of two limits; 0 means none.
func least(a, b pawl.Money) pawl.Money {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Compact orders a compaction, within the limits.
func (s *service) Compact(ctx context.Context, id pawl.SessionID, instructions string) (seq pawl.Seq, err error) {
	err = s.runLimited(ctx, id, func(ctx context.Context, row pawl.Session, _ bounds) error {
		if err := authorizeModel(s.actor(), row.Dir, row.Model); err != nil {
			return err
		}
		seq, err = s.next.Compact(ctx, id, instructions)
		return err
	})
	return seq, err
}

// Reword replaces the parts of a waiting prompt.
func (s *service) Reword(ctx context.Context, id pawl.SessionID, prompt pawl.Seq, parts pawl.Parts) error {
	row, err := s.owned(ctx, id)
	if err == nil {
		err = s.authorizeReword(ctx, row, prompt)
	}
	if err != nil {
		return err
	}
	return s.next.Reword(s.by(ctx), id, prompt, parts)
}

// Withdraw withdraws a waiting prompt.
func (s *service) Withdraw(ctx context.Context, id pawl.SessionID, prompt pawl.Seq) error {
	if err := s.own(ctx, id); err != nil {
		return err
	}
	return s.next.Withdraw(s.by(ctx), id, prompt)
}

// Resume resumes an interrupted session, within the limits.
func (s *service) Resume(ctx context.Context, id pawl.SessionID) error {
	return s.runLimited(ctx, id, func(ctx context.Context, row pawl.Session, _ bounds) error {
		if err := s.authorizeOpen(ctx, row); err != nil {
			return err
		}
		return s.next.Resume(ctx, id)
	})
}

// Answer answers an ask of the session, within the scope; see AuthorizeAnswer. "Always allow" applies to
// all sessions of the directory, also to those of other users.
func (s *service) Answer(ctx context.Context, id pawl.SessionID, ask pawl.Seq, a pawl.Answer) error {
	row, err := s.owned(ctx, id)
	if err == nil {
		err = s.authorizeAnswer(ctx, row, ask, a)
	}
	if err != nil {
		return err
	}
	return s.next.Answer(s.by(ctx), id, ask, a)
}

// Cancel cancels the open turn.
func (s *service) Cancel(ctx context.Context, id pawl.SessionID) error {
	if err := s.own(ctx, id); err != nil {
		return err
	}
	return s.next.Cancel(s.by(ctx), id)
}

// Shell runs a shell command in a session that the principal owns, within the limits.
func (s *service) Shell(ctx context.Context, id pawl.SessionID, command string) (seq pawl.Seq, err error) {
	err = s.runLimited(ctx, id, func(ctx context.Context, row pawl.Session, _ bounds) error {
		if err := s.authorizeShell(ctx, row); err != nil {
			return err
		}
		seq, err = s.next.Shell(ctx, id, command)
		return err
	})
	return seq, err
}

// Undo orders an undo to before a message, or a redo.
func (s *service) Undo(ctx context.Context, id pawl.SessionID, r pawl.Undo) (pawl.Seq, error) {
	if err := s.own(ctx, id); err != nil {
		return 0, err
	}
	return s.next.Undo(s.by(ctx), id, r)
}

// Fork creates a session that begins as this one was, with the same owner. So only the owner may.
func (s *service) Fork(ctx context.Context, id pawl.SessionID, at pawl.Seq) (pawl.Session, error) {
	if err := s.own(ctx, id); err != nil {
		return pawl.Session{}, err
	}
	return s.next.Fork(s.by(ctx), id, at)
}

// Rename changes the title of the session.
func (s *service) Rename(ctx context.Context, id pawl.SessionID, title string) error {
	if err := s.own(ctx, id); err != nil {
		return err
	}
	return s.next.Rename(s.by(ctx), id, title)
}

// Share sets the users who may read the session besides its owner.
func (s *service) Share(ctx context.Context, id pawl.SessionID, with []pawl.User) error {
	if err := s.own(ctx, id); err != nil {
		return err
	}
	return s.next.Share(s.by(ctx), id, with)
}

// Delete deletes a session. Its cost is deleted with it, so a user with a budget cannot do so on the same
// day.
func (s *service) Delete(ctx context.Context, id pawl.SessionID) error {
	if err := s.own(ctx, id); err != nil {
		return err
	}
	if err := s.checkDelete(ctx, id); err != nil {
		return err
	}
	return s.next.Delete(s.by(ctx), id)
}

// Import creates a session that the user owns from events, whoever wrote them.
func (s *service) Import(ctx context.Context, n pawl.NewSession, events iter.Seq2[pawl.Event, error]) (pawl.Session, error) {
	n, err := s.newSession(ctx, n)
	if err != nil {
		return pawl.Session{}, fmt.Errorf("import: %w", err)
	}
	return s.next.Import(s.by(ctx), n, events)
}
