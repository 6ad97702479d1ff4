package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// Compact orders a compaction of the conversation.
func (s *Service) Compact(ctx context.Context, id pawl.SessionID, instructions string) (pawl.Seq, error) {
	order := func(row pawl.Session) (pawl.Body, error) {
		if row.Turns == 0 {
			return nil, fault.New(pawl.ErrInvalid, "session %s has no messages to compact", id)
		}
		return pawl.CompactionAsked{Instructions: instructions}, nil
	}
	return s.order(ctx, id, order)
}

// maxCommand bounds a shell command of the user: Linux does not pass a longer argument.
const maxCommand = 128 << 10

// Shell orders a shell command of the user.
func (s *Service) Shell(ctx context.Context, id pawl.SessionID, command string) (pawl.Seq, error) {
	switch {
	case strings.TrimSpace(command) == "":
		return 0, fault.New(pawl.ErrInvalid, "the shell command is empty")
	case len(command) > maxCommand:
		return 0, fault.New(pawl.ErrInvalid, "the shell command is too long (%d bytes, the limit is %d): put it into a file", len(command), maxCommand)
	case strings.ContainsRune(command, 0) || !utf8.ValidString(command):
		return 0, fault.New(pawl.ErrInvalid, "the shell command is not valid text")
	}
	order := func(row pawl.Session) (pawl.Body, error) {
		if err := rejectMission(row); err != nil {
			return nil, fmt.Errorf("shell: %w", err)
		}
		return pawl.ShellAsked{Command: command, By: access.ActorOf(ctx)}, nil
	}
	return s.order(ctx, id, order)
}

// Undo orders an undo to before a message, or a redo.
func (s *Service) Undo(ctx context.Context, id pawl.SessionID, r pawl.Undo) (pawl.Seq, error) {
	order := func(row pawl.Session) (pawl.Body, error) {
		if err := rejectMission(row); err != nil {
			return nil, fmt.Errorf("undo: %w", err)
		}
		if row.State() != pawl.StateIdle {
			return nil, &pawl.BusyError{Session: id}
		}
		plan, err := s.Preview(ctx, id, r)
		if err != nil {
			return nil, err
		}
		if way := plan.Conflicting(); len(way) > 0 && r.Conflicts == pawl.ConflictsRefuse && plan.Scope.Files() {
			return nil, fault.New(pawl.ErrConflict, "files also changed outside of the session: %s", strings.Join(way, ", ")).Hint("Use --keep-aside to save a copy of them first, or --leave to leave them unchanged.")
		}
		return pawl.UndoAsked{Undo: plan.Undo, By: access.ActorOf(ctx)}, nil
	}
	return s.order(ctx, id, order)
}

// Preview returns what an undo or redo would do.
func (s *Service) Preview(ctx context.Context, id pawl.SessionID, r pawl.Undo) (pawl.UndoPlan, error) {
	switch {
	case r.Scope != pawl.ScopeBoth && r.Scope != pawl.ScopeFiles && r.Scope != pawl.ScopeConversation:
		return pawl.UndoPlan{}, fault.New(pawl.ErrInvalid, "unknown undo scope %q: use files or conversation, or omit it for both", r.Scope)
	case r.Conflicts != pawl.ConflictsRefuse && r.Conflicts != pawl.ConflictsAside && r.Conflicts != pawl.ConflictsLeave:
		return pawl.UndoPlan{}, fault.New(pawl.ErrInvalid, "unknown conflict handling %q: use aside or leave, or omit it", r.Conflicts)
	case r.To != 0 && r.Redo != 0:
		return pawl.UndoPlan{}, fault.New(pawl.ErrInvalid, "undo: choose either a message or redo, not both")
	}
	row, err := s.Store.Session(ctx, id)
	if err != nil {
		return pawl.UndoPlan{}, err
	}
	if err := rejectMission(row); err != nil {
		return pawl.UndoPlan{}, fmt.Errorf("undo: %w", err)
	}
	return s.PlanUndo(ctx, id, r)
}

// Rename changes the title of the session.
func (s *Service) Rename(ctx context.Context, id pawl.SessionID, title string) error {
	if title = strings.TrimSpace(title); title == "" {
		return fault.New(pawl.ErrInvalid, "the title is empty")
	}
	_, err := s.append(ctx, id, func(pawl.Session) (pawl.Body, error) { return pawl.SessionTitled{Title: title}, nil })
	return err
}

// order appends an order and wakes the runner.
func (s *Service) order(ctx context.Context, id pawl.SessionID, body func(pawl.Session) (pawl.Body, error)) (pawl.Seq, error) {
	seq, err := s.append(ctx, id, body)
	if err != nil {
		return 0, err
	}
	if err := s.Runner.Wake(ctx, id); err != nil {
		return seq, fmt.Errorf("start session %s (the request is saved and can be resumed): %w", id, err)
	}
	return seq, nil
}

// append appends the body that the function returns for the current state of the session. If the
// log has grown in the meantime, it calls the function again.
func (s *Service) append(ctx context.Context, id pawl.SessionID, body func(pawl.Session) (pawl.Body, error)) (pawl.Seq, error) {
	for {
		row, err := s.Store.Session(ctx, id)
		if err != nil {
			return 0, err
		}
		b, err := body(row)
		if err != nil {
			return 0, err
		}
		stored, err := s.Bus.Append(ctx, id, row.Head, s.event(b))
		if err == nil {
			return stored[0].Seq, nil
		}
		if !errors.Is(err, pawl.ErrConflict) {
			return 0, fmt.Errorf("append %s: %w", pawl.KindOf(b), err)
		}
	}
}
