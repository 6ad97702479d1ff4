// Package transaction lets a command change a directory in one step: the command runs
// on a copy-on-write view, and what it has changed is checked and applied when it ends.
// After a crash a transaction is completed if it had begun to apply, and otherwise
// discarded.
package transaction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pawl-dev/pawl/internal/security/protect"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// Transaction is the change of a directory by one command. Finish or Close must be
// called when the command has ended.
type Transaction struct {
	store *Store
	root  string
	dir   string
	lock  *os.File
	since int64
	self  *writer

	record     *Record  // nil if it belongs to no call, or to a job
	outcome    *Outcome // set by a successful Finish or Apply
	unfinished bool     // Apply failed: all is kept for Recover

	only   func(path string) bool // see Restrict
	reason string

	copied *tree.Copy // in Merged, if the command has no overlay

	mu       sync.Mutex
	ended    bool
	follower *follower // of a job, or nil

	// Of changes that were collected from a job:
	own     []tree.Identity // what the job has seen or changed
	private bool            // no other process could open files in the upper directory
	mask    string          // of the job
}

// Refusal is a change that was not applied.
type Refusal struct {
	Path   string // relative to the root
	Reason string
	Kept   string // a file with the content that was not applied, or ""
}

// ChangeSet is what a command has changed in its view, after the checks.
type ChangeSet struct {
	Changes []tree.Change // that can be applied
	Refused []Refusal
	View    tree.View // where the old and the new contents are
}

// Outcome says what a command changed.
type Outcome struct {
	Applied []tree.Change
	Refused []Refusal

	own []tree.Identity // what was applied, as it is now
}

// The directories of a transaction.
const (
	upperName  = "upper"
	workName   = "work"
	maskName   = "mask"
	mergedName = "merged"
	copyName   = "copy"  // see tree.Detach
	applyName  = "apply" // see tree.Transaction.Dir
	lockName   = "lock"
)

// Root returns the directory that the transaction changes.
func (t *Transaction) Root() string { return t.root }

// Mask returns the directory for the layer that hides files from the command.
func (t *Transaction) Mask() string { return cmp.Or(t.mask, filepath.Join(t.dir, maskName)) }

// Upper returns the directory that the command writes to.
func (t *Transaction) Upper() string { return filepath.Join(t.dir, upperName) }

// Work returns the directory that the kernel uses to write to Upper.
func (t *Transaction) Work() string { return filepath.Join(t.dir, workName) }

// Merged returns the directory where the view can be mounted.
func (t *Transaction) Merged() string { return filepath.Join(t.dir, mergedName) }

// Fill copies the directory to Merged, without what Mask hides, for a command that cannot
// have an overlay. It returns the mount points in the directory, which are not copied.
func (t *Transaction) Fill(ctx context.Context) (mounts []string, err error) {
	if t.copied, err = tree.NewCopy(ctx, t.view(), t.Merged()); err != nil {
		return nil, err
	}
	return t.copied.Mounts, nil
}

// Cloned reports whether all files in Merged share their blocks with those of the directory.
func (t *Transaction) Cloned() bool { return t.copied != nil && t.copied.Cloned }

// Finish applies what the command has changed. If it fails half-way, the next command or
// the next start of Pawl completes it.
func (t *Transaction) Finish(ctx context.Context) (Outcome, error) {
	f := t.unfollow()
	if f == nil {
		return t.finish(ctx, nil)
	}
	if f.mirror != nil {
		t.own = f.mirror.Own()
	}
	done, err := t.finish(ctx, f)
	return merge(f.outcome, done), errors.Join(err, f.failure)
}

// Restrict lets nothing be applied, for a reason, if a command has changed a path for which
// only returns false.
func (t *Transaction) Restrict(only func(path string) bool, reason string) {
	t.only, t.reason = only, reason
}

// restrict drops all changes of a set if it has one that must not be applied.
func (t *Transaction) restrict(set *ChangeSet) {
	if t.only == nil {
		return
	}
	var refused []Refusal
	for _, c := range set.Changes {
		if !t.only(c.Path) {
			refused = append(refused, Refusal{Path: c.Path, Reason: t.reason})
		}
	}
	if len(refused) > 0 {
		set.Changes, set.Refused = nil, append(set.Refused, refused...)
	}
}

// Check returns what a command that has ended would change, for somebody to review, which
// may take long. Apply or Close must follow. The changes stay as they are meanwhile:
// they are copied, because another sandbox may still have access to the view.
func (t *Transaction) Check(ctx context.Context) (set ChangeSet, err error) {
	t.self.leave()
	set.View = t.view()
	if err := t.collectCopy(ctx); err != nil {
		return set, err
	}
	changes, dropped, err := tree.Scan(ctx, set.View)
	if err == nil {
		set.View.Upper = filepath.Join(t.dir, copyName)
		err = os.Mkdir(set.View.Upper, 0o700)
	}
	if err == nil {
		changes, err = tree.Detach(ctx, t.Upper(), changes, set.View.Upper)
	}
	if err != nil {
		return set, fmt.Errorf("read the changes of the command: %w", err)
	}
	set.Changes, set.Refused, err = check(ctx, set.View, changes, dropped)
	t.restrict(&set)
	return set, err
}

// Apply applies what Check has returned.
func (t *Transaction) Apply(ctx context.Context, set ChangeSet) (Outcome, error) {
	defer t.Close()
	return t.applySet(ctx, set, nil)
}

// finish applies the changes, without those that a follower made in the view.
func (t *Transaction) finish(ctx context.Context, f *follower) (Outcome, error) {
	defer t.Close()
	set := ChangeSet{View: t.view()}
	keep := func(changes []tree.Change) []tree.Change { return changes }
	if f != nil && f.t == t && f.mirror != nil {
		keep = f.mirror.Foreign
	}
	err := t.collectCopy(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if set.Changes, set.Refused, err = Changes(ctx, set.View, keep); err != nil {
		return Outcome{Refused: set.Refused}, err
	}
	t.restrict(&set)
	return t.applySet(ctx, set, f)
}

func (t *Transaction) view() tree.View {
	v := tree.View{Upper: t.Upper(), Lower: t.root, Mask: t.Mask()}
	if t.copied != nil {
		v = t.copied.Complete(v)
	}
	return v
}

// collectCopy moves what the command has changed in a copy to Upper, as if it had had an
// overlay.
func (t *Transaction) collectCopy(ctx context.Context) error {
	if t.copied == nil {
		return nil
	}
	if err := t.copied.Collect(ctx, t.Upper()); err != nil {
		return fmt.Errorf("read the changes of the command: %w", err)
	}
	return nil
}

// applySet applies the changes of a set, and shows them to the views of jobs.
func (t *Transaction) applySet(ctx context.Context, set ChangeSet, f *follower) (out Outcome, err error) {
	defer func() {
		if err == nil {
			t.outcome = &out
		}
	}()
	out.Refused = set.Refused
	if len(set.Changes) == 0 {
		return out, nil
	}
	if err := t.recordRefused(out.Refused); err != nil {
		return out, err
	}
	out, err = t.apply(ctx, set.View, set.Changes, out)
	t.store.show(t.root, out.Applied, f)
	return out, err
}

// Changes returns what a command has changed in a view, and what of that is not applied.
// keep returns the changes to consider.
func Changes(ctx context.Context, view tree.View, keep func([]tree.Change) []tree.Change) (allowed []tree.Change, refused []Refusal, err error) {
	changes, dropped, err := tree.Scan(ctx, view)
	if err != nil {
		return nil, nil, fmt.Errorf("read the changes of the command: %w", err)
	}
	return check(ctx, view, keep(changes), dropped)
}

// check returns which changes can be applied, and why not the others.
func check(ctx context.Context, view tree.View, changes []tree.Change, dropped []tree.Dropped) (allowed []tree.Change, refused []Refusal, err error) {
	for _, d := range dropped {
		refused = append(refused, Refusal{Path: d.Path, Reason: "Pawl never applies this: " + d.Reason})
	}
	allowed, others, err := protect.Check(ctx, view.Lower, view.Upper, view.Lower, changes)
	if err != nil {
		return nil, refused, fmt.Errorf("check the changes of the command: %w", err)
	}
	return allowed, append(refused, withoutParents(others)...), nil
}

// withoutParents returns the refusals, without those of directories that have another one
// in them for the same reason.
func withoutParents(refused []protect.Refusal) (list []Refusal) {
	parents := map[Refusal]bool{}
	for _, r := range refused {
		for dir := path.Dir(r.Path); dir != "."; dir = path.Dir(dir) {
			parents[Refusal{Path: dir, Reason: r.Reason}] = true
		}
	}
	for _, r := range refused {
		if refusal := (Refusal{Path: r.Path, Reason: r.Reason}); !parents[refusal] {
			list = append(list, refusal)
		}
	}
	return list
}

// apply applies the changes and adds the result to out.
func (t *Transaction) apply(ctx context.Context, view tree.View, changes []tree.Change, out Outcome) (Outcome, error) {
	t.store.applying.Lock()
	defer t.store.applying.Unlock()
	dir := filepath.Join(t.dir, applyName)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return out, err
	}
	change := tree.Transaction{Dir: dir, Root: t.root, View: view, Since: t.since, Own: slices.Concat(t.store.own[t.root], t.own), Copy: !t.private && t.self.shared() && view.Upper == t.Upper()}
	result, err := change.Apply(ctx, changes)
	t.store.own[t.root] = result.Own
	out.Applied, out.own = result.Applied, result.Own
	out.Refused = append(out.Refused, conflicts(result)...)
	if err != nil {
		t.unfinished = true
		return out, fmt.Errorf("apply the changes of the command: %w", err)
	}
	return out, nil
}

// conflicts returns the changes that were not applied because of a conflict.
func conflicts(result tree.Result) (list []Refusal) {
	for _, c := range result.Conflicts {
		list = append(list, Refusal{Path: c.Path, Reason: c.Reason, Kept: c.Kept})
	}
	return list
}

// Close ends the transaction, and discards what was not applied. A second call does
// nothing.
func (t *Transaction) Close() {
	if t.lock == nil {
		return
	}
	t.unfollow()
	defer func() {
		_ = t.lock.Close() // which also releases it
		t.lock = nil
	}()
	t.self.leave()
	if t.unfinished {
		t.store.recoverAgain()
		return
	}
	t.closeRecord()
	removeView(t.dir)
	if _, err := os.Lstat(filepath.Join(t.dir, applyName)); errors.Is(err, os.ErrNotExist) {
		tree.RemoveAll(t.dir)
	}
}

// removeView removes the directories that only a running command needs.
func removeView(dir string) {
	for _, name := range []string{upperName, workName, maskName, mergedName, copyName} {
		tree.RemoveAll(filepath.Join(dir, name))
	}
}
