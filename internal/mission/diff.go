package mission

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/workspace/worktree"
)

// Span is a part of a mission's work: the changes from Base to Commit.
type Span struct {
	Base   string `json:"base"`
	Commit string `json:"commit"`
	Merged bool   `json:"merged"` // it is on the mission's branch
}

// Whole returns the changes of a whole mission: those that are merged.
func Whole(m *pawl.Mission) (Span, error) {
	if m.Criteria == nil {
		return Span{}, fault.New(pawl.ErrNotFound, "the mission has no changes yet: no task has started").Hint("Run `pawl mission status` to see its progress.")
	}
	return Span{Base: m.Criteria.Base, Commit: m.Tip, Merged: true}, nil
}

// FindTask returns a task of a mission, also one that was dropped.
func FindTask(m *pawl.Mission, id string) (pawl.TaskState, error) {
	var ids []string
	for _, t := range m.Tasks {
		if t.Task.ID == id {
			return t, nil
		}
		ids = append(ids, t.Task.ID)
	}
	return pawl.TaskState{}, fault.New(pawl.ErrNotFound, "the mission has no task %q: its tasks are %s", id, strings.Join(ids, ", ")).Hint("Run `pawl mission status` to see them.")
}

// MergedCommit returns the commit with which a task was merged. It is "" if the task is not merged, or had nothing to
// merge: then the recorded commit is the base, or that of a task that was merged before.
func MergedCommit(m *pawl.Mission, t pawl.TaskState) string {
	if t.Phase != pawl.PhaseMerged || m.Criteria == nil || t.Commit == m.Criteria.Base {
		return ""
	}
	for _, o := range m.Tasks {
		if o.Phase == pawl.PhaseMerged && o.Commit == t.Commit && o.Ended.Before(t.Ended) {
			return ""
		}
	}
	return t.Commit
}

// TaskSpan returns the changes of a task: what was merged for it or, before that, what its worker has done so far. The
// commits are equal if there is nothing.
func TaskSpan(ctx context.Context, trees *worktree.Trees, s pawl.SessionID, m *pawl.Mission, t pawl.TaskState) (Span, error) {
	if t.Phase == pawl.PhaseMerged {
		commit := MergedCommit(m, t)
		if commit == "" {
			return Span{Base: t.Commit, Commit: t.Commit, Merged: true}, nil
		}
		parent, err := trees.Parent(ctx, commit)
		return Span{Base: parent, Commit: commit, Merged: true}, err
	}
	if t.Base == "" { // not started, or its last attempt has left nothing
		return Span{}, fault.New(pawl.ErrNotFound, "task %s has no changes: it is %s", t.Task.ID, t.Phase).Hint("Run `pawl mission status` to see its progress.")
	}
	span := Span{Base: t.Base, Commit: t.From}
	if _, err := os.Lstat(trees.Path(worktreeName(t.Worker))); errors.Is(err, fs.ErrNotExist) {
		return span, nil // the last attempt has ended, or works on another host
	}
	got, err := trees.Collect(ctx, worktreeName(t.Worker), t.Base, labelOf(s, t, turnEnd{}))
	if span.Commit = got.Commit; got.Commit == "" {
		span.Commit = t.Base
	}
	return span, err
}
