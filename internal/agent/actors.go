package agent

import (
	"context"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// actors returns who asked for the work of the open turn: by its prompt, and by those that steered it.
func (j *journal) actors() []pawl.Actor {
	j.mu.Lock()
	defer j.mu.Unlock()
	open := j.history.Open()
	if open == nil {
		return nil
	}
	list := []pawl.Actor{open.By}
	for _, w := range open.Steered {
		list = append(list, w.Prompt.By)
	}
	return list
}

// authorizeActors returns an error unless all actors may have work done with these settings, now: when
// the prompt was accepted, the default mode, the queue or the session may have been others.
func (s *Stepper) authorizeActors(ctx context.Context, j *journal, settings pawl.Settings, by ...pawl.Actor) error {
	dir := j.history.Created().Dir
	if settings.Mode == "" && s.Authority != nil {
		p, err := s.Authority.Policy(ctx, j.id, dir, settings)
		if err != nil {
			return nil //nolint:nilerr // a policy that cannot be read denies every call
		}
		settings.Mode = string(p.Mode)
	}
	return access.Authorize(dir, settings, by...)
}

// authorizeTurn returns the Stop that ends the turn if somebody who asked for it may not have it done.
func (s *Stepper) authorizeTurn(ctx context.Context, j *journal) error {
	if err := s.authorizeActors(ctx, j, j.settings(), j.actors()...); err != nil {
		return &Stop{Reason: pawl.ReasonPermissionDenied, Message: err.Error()}
	}
	return nil
}

// steersOpenTurn reports whether a waiting prompt may take part in the open turn: whoever sent it may have
// work done with the settings of the turn. Otherwise it waits for a turn of its own.
func (j *journal) steersOpenTurn(w pawl.Waiting) bool {
	return access.Authorize(j.history.Created().Dir, j.history.Open().Settings, w.Prompt.By) == nil
}
