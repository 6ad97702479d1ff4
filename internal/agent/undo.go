package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

const (
	// maxUndoDiff bounds the diff of a [pawl.UndoPlan], in bytes.
	maxUndoDiff = 64 << 10
	// maxRestoreTries bounds how often files are restored again because somebody else changes
	// them at the same time.
	maxRestoreTries = 3
)

// PlanUndo returns what an undo or redo would do; see [pawl.Service].
func (s *Stepper) PlanUndo(ctx context.Context, id pawl.SessionID, r pawl.Undo) (pawl.UndoPlan, error) {
	target, err := s.resolveUndo(ctx, id, r, 0)
	var fault *internalError
	switch {
	case errors.As(err, &fault):
		return pawl.UndoPlan{}, fault.err
	case err != nil || len(target.spans) == 0:
		return target.plan, err
	}
	for _, dir := range target.dirs() {
		files, err := s.planFiles(ctx, target, dir)
		if err != nil {
			return pawl.UndoPlan{}, err
		}
		diff, lines, err := s.Snapshots.Show(ctx, files, max(0, maxUndoDiff-len(target.plan.Diff)))
		if err != nil {
			return pawl.UndoPlan{}, snapshotError(err)
		}
		target.plan.Diff += diff
		for _, f := range files.Files {
			if !f.Done && f.LeftOut == "" {
				target.plan.Files = append(target.plan.Files, pawl.FileChange{
					Path: target.path(dir, f.Path), Kind: changeKinds[f.Kind], Added: lines[f.Path].Added, Deleted: lines[f.Path].Deleted, Conflict: f.Conflict,
				})
			}
		}
	}
	return target.plan, nil
}

// changeKinds are the names of changes for users.
var changeKinds = map[snapshot.Kind]string{
	snapshot.Added: "create", snapshot.Modified: "modify", snapshot.Type: "modify", snapshot.Deleted: "delete", snapshot.Mode: "chmod",
}

// planFiles plans how the files of a directory are restored.
func (s *Stepper) planFiles(ctx context.Context, target undoTarget, dir string) (snapshot.Plan, error) {
	if s.Snapshots == nil {
		return snapshot.Plan{}, fault.New(pawl.ErrUnavailable, "files cannot be restored: checkpoints need git").
			Hint("Run `pawl doctor`, or undo only the conversation.")
	}
	plan, err := s.Snapshots.Plan(ctx, dir, target.spans[dir], target.plan.Redo != 0)
	if err != nil {
		return plan, snapshotError(err)
	}
	if dir != target.dir {
		plan.Prefix = strings.TrimPrefix(dir, "/") + "/"
	}
	return plan, nil
}

// snapshotError adds to an error of the snapshots what the user can do instead.
func snapshotError(err error) error {
	return fault.New(pawl.ErrUnavailable, "the files cannot be restored: %w", err).Hint("Undo only the conversation instead.")
}

// undo carries out an undo or redo and logs the outcome. An attempt that was cut short is
// repeated: files that are restored already stay so, and the logged outcome is the same.
func (s *Stepper) undo(ctx context.Context, j *journal, order pawl.Seq, r pawl.Undo) error {
	done := pawl.Undone{Asked: order}
	target, err := s.resolveUndo(ctx, j.id, r, order)
	if err == nil && len(target.spans) > 0 {
		err = s.restoreFiles(ctx, target, &done)
	}
	var internal *internalError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx) // the order stays open, for whoever resumes the session
	case errors.As(err, &internal):
		return internal.err
	case err != nil:
		done = pawl.Undone{Asked: order, Refused: fault.Text(err)}
	}
	// The files are restored: that must be logged even if the process is shutting down.
	_, err = j.append(context.WithoutCancel(ctx), done)
	return err
}

// restoreFiles restores the files and records the outcome in done.
func (s *Stepper) restoreFiles(ctx context.Context, target undoTarget, done *pawl.Undone) error {
	dirs, restored := target.dirs(), false
	if len(dirs) > 1 && target.plan.Conflicts == pawl.ConflictsRefuse {
		if err := s.findConflicts(ctx, target); err != nil {
			return err
		}
	}
	for _, dir := range dirs {
		if err := s.restoreDir(ctx, target, dir, &restored, done); err != nil {
			return err
		}
	}
	return nil
}

// findConflicts returns an error if a file in one of several directories has other changes, so
// that no directory is restored without the others.
func (s *Stepper) findConflicts(ctx context.Context, target undoTarget) error {
	var all []snapshot.Restore
	for _, dir := range target.dirs() {
		plan, err := s.planFiles(ctx, target, dir)
		if err != nil {
			return err
		}
		for _, r := range plan.Conflicts() {
			r.Path = target.path(dir, r.Path)
			all = append(all, r)
		}
	}
	if len(all) > 0 {
		return fmt.Errorf("undo: %w", &snapshot.ConflictError{Files: all})
	}
	return nil
}

// restoreDir restores the files of a directory and adds the outcome to done. It sets anyRestored
// when it has restored one.
func (s *Stepper) restoreDir(ctx context.Context, target undoTarget, dir string, anyRestored *bool, done *pawl.Undone) error {
	how := conflictsOf(target.plan.Conflicts)
	for tries := 1; ; tries++ {
		plan, err := s.planFiles(ctx, target, dir)
		if err != nil {
			return partlyRestored(*anyRestored, err)
		}
		report, err := s.Snapshots.Apply(ctx, plan, how)
		*anyRestored = *anyRestored || len(report.Changed) > 0
		for path, at := range report.Aside {
			if done.Aside == nil {
				done.Aside = map[string]string{}
			}
			done.Aside[target.path(dir, path)] = at
		}
		var conflict *snapshot.ConflictError
		switch {
		case err == nil:
			for _, path := range report.Left {
				done.Left = append(done.Left, target.path(dir, path))
			}
			for _, path := range restoredFiles(plan, report) {
				done.Changed = append(done.Changed, target.path(dir, path))
			}
			return nil
		case errors.As(err, &conflict) && how != snapshot.Refuse && tries < maxRestoreTries:
		default:
			return partlyRestored(*anyRestored, err)
		}
	}
}

// restoredFiles returns the files that the plan restored, including those that an earlier
// attempt restored before it was cut short.
func restoredFiles(plan snapshot.Plan, report snapshot.Report) []string {
	var paths []string
	for _, f := range plan.Files {
		if !f.Same && !slices.Contains(report.Left, f.Path) {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// partlyRestored adds to an error that some of the files are restored, if so.
func partlyRestored(restored bool, err error) error {
	if !restored {
		return err
	}
	return fmt.Errorf("%w (some files are already restored: run it again to continue)", err)
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

// undoTarget is an undo or redo, resolved against the log.
type undoTarget struct {
	plan  pawl.UndoPlan              // without its files
	dir   string                     // the workspace
	spans map[string][]snapshot.Span // the changes to undo or redo, by directory
}

// dirs returns the directories with changes: the workspace, then the added directories.
func (u *undoTarget) dirs() []string {
	dirs := u.added()
	if _, ok := u.spans[u.dir]; ok {
		dirs = slices.Insert(dirs, 0, u.dir)
	}
	return dirs
}

// added returns the added directories with changes, sorted.
func (u *undoTarget) added() []string {
	dirs := slices.Sorted(maps.Keys(u.spans))
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == u.dir })
}

// path returns the name of a file for users: relative to the workspace, and absolute in an added
// directory.
func (u *undoTarget) path(dir, name string) string {
	if dir == u.dir {
		return name
	}
	return filepath.Join(dir, name)
}

// resolveUndo resolves an undo or redo against the log before an event; 0 means the whole log.
func (s *Stepper) resolveUndo(ctx context.Context, id pawl.SessionID, r pawl.Undo, before pawl.Seq) (undoTarget, error) {
	events, err := s.readLog(ctx, id, before)
	if err != nil {
		return undoTarget{}, err
	}
	h, err := pawl.Fold(pawl.SliceLog(events))
	if err != nil {
		return undoTarget{}, &internalError{fmt.Errorf("read log of %s: %w", id, err)}
	}
	created := h.Created()
	if created.Parent != "" {
		return undoTarget{}, fault.New(pawl.ErrInvalid, "session %s is a subagent of %s: undo there instead", id, created.Parent)
	}
	to := r.To
	if r.Redo != 0 {
		at, undone, err := newestUndo(h, r.Redo)
		if err != nil {
			return undoTarget{}, err
		}
		// The events right before it are what it undid.
		events = events[:at-1]
		r.Redo, r.Scope, to = at, undone.Scope, undone.To
	} else if to == 0 {
		if to = newestTurn(events, r.Scope); to == 0 {
			return undoTarget{}, fault.New(pawl.ErrNotFound, "nothing to undo")
		}
		r.To = to
	}
	target := undoTarget{plan: pawl.UndoPlan{Undo: r}, dir: created.Dir}
	if err := target.messages(events, to); err != nil {
		return undoTarget{}, err
	}
	if !r.Scope.Files() {
		return target, nil
	}
	d := changes{s: s, dir: created.Dir}
	if err := d.from(ctx, events, to); err != nil {
		return undoTarget{}, err
	}
	target.spans, target.plan.Blind = d.spans, d.blind
	return target, s.checkAdded(ctx, id, target)
}

// checkAdded returns an error if sessions may no longer work in the added directories of an undo:
// the log says that this one did, not that it still may.
func (s *Stepper) checkAdded(ctx context.Context, id pawl.SessionID, target undoTarget) error {
	added := target.added()
	if len(added) == 0 {
		return nil
	}
	if s.Authority == nil {
		return fault.New(pawl.ErrDenied, "files in added directories cannot be restored: no permissions are known")
	}
	if _, err := s.Authority.Policy(ctx, id, target.dir, pawl.Settings{AddDirs: added}); err != nil {
		return fault.New(pawl.ErrDenied, "files in added directories cannot be restored: %w", err).Hint("Undo only the conversation instead.")
	}
	return nil
}

// readLog returns the log before an event; 0 means the whole log.
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

// newestUndo returns the undo to redo, and the Seq of its Undone event: the newest one. A
// request for another is an error.
func newestUndo(h *pawl.History, redo pawl.Seq) (pawl.Seq, pawl.Undo, error) {
	newest, undo, ok := h.Redo()
	if !ok {
		return 0, pawl.Undo{}, fault.New(pawl.ErrNotFound, "nothing to redo: nothing was undone, or the session has continued since")
	}
	if redo != pawl.LastUndo && redo != newest {
		return 0, pawl.Undo{}, fault.New(pawl.ErrConflict, "undo %d is not the latest one, which is %d: redo that one first", redo, newest)
	}
	return newest, undo, nil
}

// newestTurn returns the Seq where the newest turn, or the newest shell command of the user
// after it, began; 0 if none did. Undone turns do not count. If only files are to be
// undone, neither do turns whose files are.
func newestTurn(events []pawl.Event, scope pawl.Scope) (newest pawl.Seq) {
	filesCount := map[pawl.Seq]bool{}
	for e := range pawl.EffectiveEvents(pawl.SliceLog(events), pawl.ScopeFiles) {
		filesCount[e.Seq] = true
	}
	for e := range pawl.EffectiveEvents(pawl.SliceLog(events), pawl.ScopeConversation) {
		switch e.Body.(type) {
		case pawl.TurnStarted, pawl.ShellStarted:
			if scope != pawl.ScopeFiles || filesCount[e.Seq] {
				newest = e.Seq
			}
		default:
		}
	}
	return newest
}

// messages counts the messages from the given one on, and finds the user's prompt that it
// began with.
func (u *undoTarget) messages(events []pawl.Event, to pawl.Seq) error {
	prompts := map[pawl.Seq]pawl.Parts{}
	found := false
	for e := range pawl.EffectiveEvents(pawl.SliceLog(events), pawl.ScopeConversation) {
		var prompt pawl.Seq
		switch body := e.Body.(type) {
		case pawl.Prompted:
			prompts[e.Seq] = body.Parts
			continue
		case pawl.Reworded:
			prompts[body.Prompt] = body.Parts
			continue
		case pawl.TurnStarted:
			prompt = body.Prompt
		case pawl.Injected:
			prompt = body.Prompt
		case pawl.ShellAsked:
			prompts[e.Seq] = pawl.Parts{pawl.Text{Text: "!" + body.Command}}
			continue
		case pawl.ShellStarted:
			prompt = body.Asked
		case pawl.Replied:
		default:
			continue
		}
		if e.Seq == to {
			found, u.plan.Prompt = true, prompts[prompt]
		}
		if e.Seq >= to {
			u.plan.Messages++
		}
	}
	if !found {
		return fault.New(pawl.ErrNotFound, "message %d not found in the conversation", to)
	}
	return nil
}
