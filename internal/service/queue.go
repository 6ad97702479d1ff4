package service

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/pawl-dev/pawl"
)

// Waiting returns the prompts that wait, the oldest first.
func (s *Service) Waiting(ctx context.Context, id pawl.SessionID) ([]pawl.Waiting, error) {
	h, err := s.history(ctx, id)
	if err != nil {
		return nil, err
	}
	return slices.Clone(h.Waiting()), nil
}

// Reword replaces the words of a prompt that waits.
func (s *Service) Reword(ctx context.Context, id pawl.SessionID, prompt pawl.Seq, parts pawl.Parts) error {
	if err := checkParts(parts); err != nil {
		return fmt.Errorf("reword: %w: %w", err, pawl.ErrInvalid)
	}
	return s.change(ctx, id, prompt, pawl.Reworded{Prompt: prompt, Parts: parts})
}

// Withdraw takes back a prompt that waits.
func (s *Service) Withdraw(ctx context.Context, id pawl.SessionID, prompt pawl.Seq) error {
	return s.change(ctx, id, prompt, pawl.Withdrawn{Prompt: prompt})
}

// change appends what becomes of a prompt that waits. That it does is decided at
// the log's end: if the log moved on meanwhile, it is decided anew.
func (s *Service) change(ctx context.Context, id pawl.SessionID, prompt pawl.Seq, b pawl.Body) error {
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

// notWaiting says why a prompt does not wait: it never was, or it is over.
func (s *Service) notWaiting(ctx context.Context, id pawl.SessionID, prompt pawl.Seq) error {
	for e, err := range s.Store.Events(ctx, id, max(prompt, 1)-1) {
		if err != nil {
			return err
		}
		if _, ok := e.Body.(pawl.Prompted); ok && e.Seq == prompt {
			return fmt.Errorf("the prompt %d does not wait any more: %w", prompt, pawl.ErrConflict)
		}
		break
	}
	return fmt.Errorf("session %s has no prompt %d: %w", id, prompt, pawl.ErrNotFound)
}

// history is the session as its log tells it now.
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
