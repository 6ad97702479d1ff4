package access

import (
	"cmp"
	"context"
	"iter"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
)

// authorize returns an error unless the principal may have work done with these settings. Without a mode
// it is the default one.
func (s *service) authorize(dir string, settings pawl.Settings) error {
	if settings.Mode == "" && s.access.DefaultMode != nil && !operator(s.actor()) {
		var err error
		if settings.Mode, err = s.access.DefaultMode(); err != nil {
			return err
		}
	}
	return Authorize(dir, settings, s.actor())
}

// authorizePrompt authorizes a prompt with the settings that it would have. One that steers takes part in
// the open turn, with the settings of that turn.
func (s *service) authorizePrompt(ctx context.Context, row pawl.Session, p pawl.Prompt) error {
	settings := p.Settings
	settings.Model = cmp.Or(p.Model, row.Model)
	if err := s.authorize(row.Dir, settings); err != nil {
		return err
	}
	if p.Approve != nil { // who may start a mission may not approve its plan
		if err := require(s.actor(), api.ScopeApprove, "approving a plan"); err != nil {
			return err
		}
	}
	if p.Delivery != pawl.DeliverSteer || !row.TurnOpen {
		return nil
	}
	return s.authorizeLog(ctx, row, func(h *pawl.History) []pawl.Settings { return openSettings(h) })
}

// authorizeOpen authorizes everything that the session would go on with.
func (s *service) authorizeOpen(ctx context.Context, row pawl.Session) error {
	return s.authorizeLog(ctx, row, func(h *pawl.History) []pawl.Settings {
		list := openSettings(h)
		for _, w := range h.Waiting() {
			list = append(list, w.Prompt.Settings)
		}
		if len(h.Orders()) > 0 {
			list = append(list, h.Settings())
		}
		return list
	})
}

// authorizeShell authorizes a command with the settings of the newest prompt, which may be somebody else's.
func (s *service) authorizeShell(ctx context.Context, row pawl.Session) error {
	return s.authorizeLog(ctx, row, func(h *pawl.History) []pawl.Settings {
		settings := h.Settings()
		settings.Model = "" // no model is called
		return []pawl.Settings{settings}
	})
}

// authorizeReword authorizes the settings of a waiting prompt, which keeps them. A prompt that does not
// wait is left to the service.
func (s *service) authorizeReword(ctx context.Context, row pawl.Session, prompt pawl.Seq) error {
	return s.authorizeLog(ctx, row, func(h *pawl.History) (list []pawl.Settings) {
		for _, w := range h.Waiting() {
			if w.Seq == prompt {
				list = append(list, w.Prompt.Settings)
			}
		}
		return list
	})
}

// authorizeAnswer authorizes an answer. An ask that does not exist is left to the service.
func (s *service) authorizeAnswer(ctx context.Context, row pawl.Session, ask pawl.Seq, a pawl.Answer) error {
	if operator(s.actor()) || ask < 1 || ask > row.Head {
		return AuthorizeAnswer(s.actor(), "", a)
	}
	for e, err := range s.next.Events(ctx, row.ID, ask-1) {
		if err != nil {
			return err
		}
		if asked, ok := e.Body.(pawl.Asked); ok && e.Seq == ask {
			return AuthorizeAnswer(s.actor(), asked.Kind, a)
		}
		if e.Seq != 0 {
			break
		}
	}
	return AuthorizeAnswer(s.actor(), "", a)
}

// openSettings returns the settings of the open turn, if any.
func openSettings(h *pawl.History) []pawl.Settings {
	if open := h.Open(); open != nil {
		return []pawl.Settings{open.Settings}
	}
	return nil
}

// authorizeLog authorizes settings that the log of a session has. For the operator it does not read it.
func (s *service) authorizeLog(ctx context.Context, row pawl.Session, of func(*pawl.History) []pawl.Settings) error {
	if operator(s.actor()) {
		return nil
	}
	h, err := pawl.Fold(func(after pawl.Seq) iter.Seq2[pawl.Event, error] { return s.past(ctx, row, after) })
	if err != nil {
		return err
	}
	for _, settings := range of(h) {
		if err := s.authorize(row.Dir, settings); err != nil {
			return err
		}
	}
	return nil
}

// past yields the events that a session has so far.
func (s *service) past(ctx context.Context, row pawl.Session, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		if row.Head == 0 {
			return
		}
		for e, err := range s.next.Events(ctx, row.ID, after) {
			if err == nil && e.Seq == 0 {
				continue // not in the log
			}
			if !yield(e, err) || err != nil || e.Seq >= row.Head {
				return
			}
		}
	}
}
