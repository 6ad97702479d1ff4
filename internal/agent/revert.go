package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

const (
	// maxUndoDiff bounds the diff of a [pawl.RevertPlan], in bytes.
	maxUndoDiff = 64 << 10
	// maxRestoreTries bounds how often files are put back anew because somebody else
	// changes them at the same time.
	maxRestoreTries = 3
)

// Plan says what a Revert would do; see [pawl.Service].
func (s *Stepper) Plan(ctx context.Context, id pawl.SessionID, r pawl.Revert) (pawl.RevertPlan, error) {
	back, err := s.resolveUndo(ctx, id, r, 0)
	var fault *internalError
	switch {
	case errors.As(err, &fault):
		return pawl.RevertPlan{}, fault.err
	case err != nil || len(back.spans) == 0:
		return back.plan, err
	}
	files, err := s.planFiles(ctx, back)
	if err != nil {
		return pawl.RevertPlan{}, err
	}
	diff, lines, err := s.Snapshots.Show(ctx, files, maxUndoDiff)
	if err != nil {
		return pawl.RevertPlan{}, snapshotError(err)
	}
	back.plan.Diff = diff
	for _, f := range files.Files {
		if !f.Done && f.LeftOut == "" {
			back.plan.Files = append(back.plan.Files, pawl.FileChange{
				Path: f.Path, Kind: changeKinds[f.Kind], Added: lines[f.Path].Added, Deleted: lines[f.Path].Deleted, Conflict: f.Conflict,
			})
		}
	}
	return back.plan, nil
}

// changeKinds are the names that people know.
var changeKinds = map[snapshot.Kind]string{
	snapshot.Added: "create", snapshot.Modified: "modify", snapshot.Type: "modify", snapshot.Deleted: "delete", snapshot.Mode: "chmod",
}

// planFiles says what it takes to put the files back, or forth.
func (s *Stepper) planFiles(ctx context.Context, back undoTarget) (snapshot.Plan, error) {
	if s.Snapshots == nil {
		return snapshot.Plan{}, fmt.Errorf("the files cannot be put back: snapshots need git, and 'pawl doctor' says what is wrong with it; "+
			"the conversation can go back alone: %w", pawl.ErrUnavailable)
	}
	plan, err := s.Snapshots.Plan(ctx, back.dir, back.spans, back.plan.Redo != 0)
	if err != nil {
		return plan, snapshotError(err)
	}
	return plan, nil
}

// unreadable says what can be done if the snapshots cannot be used.
func snapshotError(err error) error {
	return fmt.Errorf("the files cannot be put back: %w; the conversation can go back alone: %w", err, pawl.ErrUnavailable)
}

// revert takes the session back to before a message, or forward again. An
// attempt that was cut short is made again: what is back already stays so, and
// the log says the same in the end.
func (s *Stepper) undo(ctx context.Context, j *journal, asked pawl.Seq, r pawl.Revert) error {
	done := pawl.Reverted{Asked: asked}
	back, err := s.resolveUndo(ctx, j.id, r, asked)
	if err == nil && len(back.spans) > 0 {
		err = s.restoreFiles(ctx, back, &done)
	}
	var fault *internalError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx) // the order stays, for whoever comes next
	case errors.As(err, &fault):
		return fault.err
	case err != nil:
		done = pawl.Reverted{Asked: asked, Refused: err.Error()}
	}
	// The files are as they should be, and the log says so even if the process is on its way out.
	_, err = j.append(context.WithoutCancel(ctx), done)
	return err
}

// putBack puts the files back, or forth, and notes what became of them.
func (s *Stepper) restoreFiles(ctx context.Context, back undoTarget, done *pawl.Reverted) error {
	how, begun := conflictsOf(back.plan.Conflicts), false
	for tries := 1; ; tries++ {
		plan, err := s.planFiles(ctx, back)
		if err != nil {
			return partlyRestored(begun, err)
		}
		report, err := s.Snapshots.Apply(ctx, plan, how)
		begun = begun || len(report.Changed) > 0
		for path, at := range report.Aside {
			if done.Aside == nil {
				done.Aside = map[string]string{}
			}
			done.Aside[path] = at
		}
		var conflict *snapshot.ConflictError
		switch {
		case err == nil:
			done.Left = report.Left
			done.Changed = restoredFiles(plan, report)
			return nil
		case errors.As(err, &conflict) && how != snapshot.Refuse && tries < maxRestoreTries:
		case errors.As(err, &conflict):
			return partlyRestored(begun, err)
		default:
			return partlyRestored(begun, fmt.Errorf("%w: see to that and order it again", err))
		}
	}
}

// putBackBy returns the files that the plan put back. An earlier attempt that
// was cut short may have done a part of it.
func restoredFiles(plan snapshot.Plan, report snapshot.Report) []string {
	var paths []string
	for _, f := range plan.Files {
		if !f.Same && !slices.Contains(report.Left, f.Path) {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// halfway says so if some of the files are back already.
func partlyRestored(begun bool, err error) error {
	if !begun {
		return err
	}
	return fmt.Errorf("%w (some files are put back already: order it again to go on)", err)
}

func conflictsOf(c pawl.Conflicts) snapshot.Conflicts {
	switch c {
	case pawl.ConflictsAside:
		return snapshot.KeepAside
	case pawl.ConflictsLeave:
		return snapshot.Leave
	default:
		return snapshot.Refuse
	}
}

// undoTarget is a Revert that was looked into.
type undoTarget struct {
	plan  pawl.RevertPlan // without its files
	dir   string
	spans []snapshot.Span // what the calls did that it takes back, or brings back
}

// look finds out what a Revert means, by the log before an event; 0 means all of it.
func (s *Stepper) resolveUndo(ctx context.Context, id pawl.SessionID, r pawl.Revert, before pawl.Seq) (undoTarget, error) {
	events, err := s.readLog(ctx, id, before)
	if err != nil {
		return undoTarget{}, err
	}
	h, err := pawl.FoldEvents(events)
	if err != nil {
		return undoTarget{}, &internalError{fmt.Errorf("read log of %s: %w", id, err)}
	}
	created := h.Created()
	if created.Parent != "" {
		return undoTarget{}, fmt.Errorf("the session %s works for %s: what it did is taken back there: %w", id, created.Parent, pawl.ErrInvalid)
	}
	to := r.To
	if r.Redo != 0 {
		gone, err := newestRevert(h, r.Redo)
		if err != nil {
			return undoTarget{}, err
		}
		// What it took back is what counted right before it.
		events = events[:gone.Seq-1]
		r.Redo, r.Scope, to = gone.Seq, gone.Revert.Scope, gone.Revert.To
	} else if to == 0 {
		if to = newestTurn(events, r.Scope); to == 0 {
			return undoTarget{}, fmt.Errorf("there is nothing to undo: %w", pawl.ErrNotFound)
		}
		r.To = to
	}
	back := undoTarget{plan: pawl.RevertPlan{Revert: r}, dir: created.Dir}
	if err := back.messages(events, to); err != nil {
		return undoTarget{}, err
	}
	if !r.Scope.Files() {
		return back, nil
	}
	d := changes{s: s, dir: created.Dir}
	if err := d.from(ctx, events, to); err != nil {
		return undoTarget{}, err
	}
	back.spans, back.plan.Blind = d.spans, d.blind
	return back, nil
}

// readLog returns the log before an event, or all of it.
func (s *Stepper) readLog(ctx context.Context, id pawl.SessionID, before pawl.Seq) ([]pawl.Event, error) {
	var events []pawl.Event
	for e, err := range s.Store.Events(ctx, id, 0) {
		if err != nil {
			return nil, &internalError{fmt.Errorf("read log of %s: %w", id, err)}
		}
		if before != 0 && e.Seq >= before {
			break
		}
		events = append(events, e)
	}
	return events, nil
}

// newestRevert is what can be taken back. Whoever names it must mean it.
func newestRevert(h *pawl.History, redo pawl.Seq) (pawl.UndoneRevert, error) {
	reverts := h.Reverts()
	if len(reverts) == 0 {
		return pawl.UndoneRevert{}, fmt.Errorf("there is nothing to redo: nothing was taken back, or the session went on since: %w", pawl.ErrNotFound)
	}
	newest := reverts[len(reverts)-1]
	if redo != pawl.LastRevert && redo != newest.Seq {
		return pawl.UndoneRevert{}, fmt.Errorf("%d is not what was taken back last, which is %d: redo that first: %w", redo, newest.Seq, pawl.ErrConflict)
	}
	return newest, nil
}

// newestTurn is where the newest turn that counts began, or a command of the
// person's after it, or 0. If only the files
// are to go back it is one whose files are not back already.
func newestTurn(events []pawl.Event, scope pawl.Scope) (newest pawl.Seq) {
	there := map[pawl.Seq]bool{}
	for e := range pawl.EffectiveEvents(pawl.SliceLog(events), pawl.ScopeFiles) {
		there[e.Seq] = true
	}
	for e := range pawl.EffectiveEvents(pawl.SliceLog(events), pawl.ScopeConversation) {
		switch e.Body.(type) {
		case pawl.TurnStarted, pawl.ShellStarted:
			if scope != pawl.ScopeFiles || there[e.Seq] {
				newest = e.Seq
			}
		default: // within one
		}
	}
	return newest
}

// messages counts the messages from a given one on, and finds the person's words
// that it brought in.
func (b *undoTarget) messages(events []pawl.Event, to pawl.Seq) error {
	words := map[pawl.Seq]pawl.Parts{}
	found := false
	for e := range pawl.EffectiveEvents(pawl.SliceLog(events), pawl.ScopeConversation) {
		var prompt pawl.Seq
		switch body := e.Body.(type) {
		case pawl.Prompted:
			words[e.Seq] = body.Parts
			continue
		case pawl.Reworded:
			words[body.Prompt] = body.Parts
			continue
		case pawl.TurnStarted:
			prompt = body.Prompt
		case pawl.Injected:
			prompt = body.Prompt
		case pawl.ShellAsked:
			words[e.Seq] = pawl.Parts{pawl.Text{Text: "!" + body.Command}}
			continue
		case pawl.ShellStarted:
			prompt = body.Asked
		case pawl.Replied:
		default:
			continue
		}
		if e.Seq == to {
			found, b.plan.Prompt = true, words[prompt]
		}
		if e.Seq >= to {
			b.plan.Messages++
		}
	}
	if !found {
		return fmt.Errorf("there is no message %d in the conversation: %w", to, pawl.ErrNotFound)
	}
	return nil
}
