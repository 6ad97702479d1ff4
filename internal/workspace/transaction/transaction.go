// Package transaction lets a command change a directory in one step: the command runs
// on a copy-on-write view, and what it has changed is checked and applied when it ends.
// After a crash a transaction is completed if it had begun to apply, and otherwise
// discarded.
package transaction

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

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
	live  *live
}

// Refusal is a change that was not applied.
type Refusal struct {
	Path   string // relative to the root
	Reason string
	Kept   string // a file with the content that was not applied, or ""
}

// Outcome says what a command changed.
type Outcome struct {
	Applied []tree.Change
	Refused []Refusal
}

// The directories of a transaction.
const (
	upperName  = "upper"
	workName   = "work"
	maskName   = "mask"
	mergedName = "merged"
	applyName  = "apply" // see tree.Transaction.Dir
	lockName   = "lock"
)

// Mask returns the directory for the layer that hides files from the command.
func (t *Transaction) Mask() string { return filepath.Join(t.dir, maskName) }

// Upper returns the directory that the command writes to.
func (t *Transaction) Upper() string { return filepath.Join(t.dir, upperName) }

// Work returns the directory that the kernel uses to write to Upper.
func (t *Transaction) Work() string { return filepath.Join(t.dir, workName) }

// Merged returns the directory where the view can be mounted.
func (t *Transaction) Merged() string { return filepath.Join(t.dir, mergedName) }

// Finish applies what the command has changed. After an error nothing was applied,
// unless it wraps a failed operation: then the next start of Pawl completes it.
func (t *Transaction) Finish(ctx context.Context) (Outcome, error) {
	defer t.Close()
	view := tree.View{Upper: t.Upper(), Lower: t.root, Mask: t.Mask()}
	changes, dropped, err := tree.Scan(ctx, view)
	if err != nil {
		return Outcome{}, fmt.Errorf("read the changes of the command: %w", err)
	}
	var out Outcome
	for _, d := range dropped {
		out.Refused = append(out.Refused, Refusal{Path: d.Path, Reason: "it has a " + d.Reason + ", which Pawl does not apply"})
	}
	allowed, refused, err := protect.Check(ctx, t.root, view.Upper, view.Lower, changes)
	if err != nil {
		return out, fmt.Errorf("check the changes of the command: %w", err)
	}
	out.Refused = append(out.Refused, withoutParents(refused)...)
	if len(allowed) == 0 {
		return out, nil
	}
	return t.apply(ctx, view, allowed, out)
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
	change := tree.Transaction{Dir: dir, Root: t.root, View: view, Since: t.since, Own: t.store.own[t.root], Copy: t.live.shared()}
	result, err := change.Apply(ctx, changes)
	t.store.own[t.root] = result.Own
	out.Applied = result.Applied
	for _, c := range result.Conflicts {
		out.Refused = append(out.Refused, Refusal{Path: c.Path, Reason: c.Reason, Kept: c.Kept})
	}
	if err != nil {
		return out, fmt.Errorf("apply the changes of the command: %w", err)
	}
	return out, nil
}

// Close ends the transaction, and discards what was not applied. A second call does
// nothing.
func (t *Transaction) Close() {
	if t.lock == nil {
		return
	}
	t.live.leave()
	for _, name := range []string{upperName, workName, maskName, mergedName} {
		remove(filepath.Join(t.dir, name))
	}
	if _, err := os.Lstat(filepath.Join(t.dir, applyName)); errors.Is(err, os.ErrNotExist) {
		remove(t.dir)
	}
	_ = t.lock.Close() // which also releases it
	t.lock = nil
}
