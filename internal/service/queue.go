package service

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// Waiting returns the waiting prompts, the oldest first.
func (s *Service) Waiting(ctx context.Context, id pawl.SessionID) ([]pawl.Waiting, error) {
	h, err := s.history(ctx, id)
	if err != nil {
		return nil, err
	}
	return slices.Clone(h.Waiting()), nil
}

// Reword replaces the parts of a waiting prompt.
func (s *Service) Reword(ctx context.Context, id pawl.SessionID, prompt pawl.Seq, parts pawl.Parts) error {
	if err := checkParts(parts); err != nil {
		return fault.New(pawl.ErrInvalid, "invalid prompt: %w", err)
	}
	return s.changePrompt(ctx, id, prompt, pawl.Reworded{Prompt: prompt, Parts: parts, By: access.ActorOf(ctx)})
}

// Withdraw withdraws a waiting prompt.
func (s *Service) Withdraw(ctx context.Context, id pawl.SessionID, prompt pawl.Seq) error {
	return s.changePrompt(ctx, id, prompt, pawl.Withdrawn{Prompt: prompt})
}

// changePrompt appends a change to a waiting prompt. Whether it still waits depends on the end of
// the log: if the log has grown in the meantime, changePrompt checks again.
func (s *Service) changePrompt(ctx context.Context, id pawl.SessionID, prompt pawl.Seq, b pawl.Body) error {
	for {
		h, err := s.history(ctx, id)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(h.Waiting(), func(w pawl.Waiting) bool { return w.Seq == prompt }) {
			return s.notWaiting(ctx, id, prompt)
		}
		_, err = s.Bus.Append(ctx, id, h.Head(), s.event(b))
		if err == nil {
			return nil
		}
		if !errors.Is(err, pawl.ErrConflict) {
			return fmt.Errorf("change prompt %d: %w", prompt, err)
		}
	}
}

// notWaiting returns why a prompt does not wait: it never existed, or it has been handled.
func (s *Service) notWaiting(ctx context.Context, id pawl.SessionID, prompt pawl.Seq) error {
	for e, err := range s.Store.Events(ctx, id, max(prompt, 1)-1) {
		if err != nil {
			return err
		}
		if _, ok := e.Body.(pawl.Prompted); ok && e.Seq == prompt {
			return fault.New(pawl.ErrConflict, "prompt %d is no longer queued", prompt)
		}
		break
	}
	return fault.New(pawl.ErrNotFound, "session %s has no prompt %d", id, prompt)
}

// history returns the session as its log describes it now.
func (s *Service) history(ctx context.Context, id pawl.SessionID) (*pawl.History, error) {
	if _, err := s.Store.Session(ctx, id); err != nil {
		return nil, err
	}
	h, err := pawl.Fold(func(after pawl.Seq) iter.Seq2[pawl.Event, error] { return s.Store.Events(ctx, id, after) })
	if err != nil {
		return nil, fmt.Errorf("read log of %s: %w", id, err)
	}
	return h, nil
}
