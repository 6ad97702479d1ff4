package snapshot

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Conflicts says how Apply handles files that others have changed since.
type Conflicts int

// How Apply handles conflicts.
const (
	Refuse    Conflicts = iota // change nothing and return a *ConflictError
	KeepAside                  // copy the current file to a directory of pawl, then restore it
	Leave                      // leave these files unchanged and restore the others
)

// ConflictError lists the files that others have changed.
type ConflictError struct{ Files []Restore }

func (e *ConflictError) Error() string {
	const shown = 3
	var list []string
	for _, r := range e.Files[:min(len(e.Files), shown)] {
		list = append(list, fmt.Sprintf("%q: %s", r.Path, r.Conflict))
	}
	if more := len(e.Files) - shown; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return "files were changed by someone else: " + strings.Join(list, "; ")
}

// Report is the result of Apply.
type Report struct {
	Changed []string          // paths, sorted
	Aside   map[string]string // path of the copy of each conflicting file, by its path
	Left    []string          // paths of conflicts that were left unchanged, and of files that snapshots leave out
}

// Apply carries out a plan. It is safe to repeat: it skips files that are in the
// wanted state already, and makes no second copy of a conflicting file. It fetches
// all content before it changes the first file, and checks each file again right
// before changing it. After an error some files may be restored and others not.
func (s *Store) Apply(ctx context.Context, plan Plan, how Conflicts) (Report, error) {
	if !slices.ContainsFunc(plan.Files, func(r Restore) bool { return r.open() }) {
		return Report{Left: leftOut(plan)}, nil
	}
	f, err := s.lock(ctx, plan.Dir, exists)
	if err != nil {
		return Report{}, fmt.Errorf("undo: %w", err)
	}
	defer f.unlock()
	root, err := openRoot(f.dir, f.MaxFile)
	if err != nil {
		return Report{}, fmt.Errorf("undo: %w", err)
	}
	defer root.close()
	a := &applying{folder: f, root: root, plan: plan, how: how, report: Report{Left: leftOut(plan)}}
	defer a.contents.close()
	err = a.run(ctx)
	slices.Sort(a.report.Changed)
	slices.Sort(a.report.Left)
	if err != nil {
		return a.report, fmt.Errorf("undo in %s: %w", f.dir, err)
	}
	return a.report, nil
}

func leftOut(p Plan) (paths []string) {
	for _, r := range p.Files {
		if r.LeftOut != "" {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// applying is the state of a running Apply.
type applying struct {
	*folder

	root     *root
	plan     Plan
	how      Conflicts
	contents contents
	report   Report
}

func (a *applying) run(ctx context.Context) error {
	a.plan.Files = slices.Clone(a.plan.Files)
	if err := a.again(); err != nil {
		return err
	}
	if conflicts := a.plan.Conflicts(); a.how == Refuse && len(conflicts) > 0 {
		return &ConflictError{conflicts}
	}
	var todo []*Restore
	for i := range a.plan.Files {
		switch r := &a.plan.Files[i]; {
		case !r.open():
		case r.Conflict != "" && (a.how == Leave || !r.canKeep()):
			a.report.Left = append(a.report.Left, r.Path)
		default:
			todo = append(todo, r)
		}
	}
	if err := a.contents.fetch(ctx, a.folder, todo); err != nil {
		return err
	}
	for _, r := range slices.Backward(todo) { // entries before their directory
		if !r.want.covered() {
			if err := a.do(ctx, r, a.remove); err != nil {
				return err
			}
		}
	}
	for _, r := range todo {
		if r.want.covered() {
			if err := a.do(ctx, r, a.put); err != nil {
				return err
			}
		}
	}
	return nil
}

// again inspects all files of the plan again before any is changed.
func (a *applying) again() error {
	for i := range a.plan.Files {
		r := &a.plan.Files[i]
		if why := forbidden(r.Path); why != "" && r.LeftOut == "" {
			return fmt.Errorf("%q cannot be restored: %s", r.Path, why)
		}
		if !r.open() {
			continue
		}
		now, err := a.root.look(r.Path)
		if err != nil {
			return err
		}
		switch {
		case now.same(r.now):
		case now.state == r.want:
			r.Done = true
		case r.Conflict == "":
			r.Conflict = "changed since"
		}
		r.now = now
	}
	return a.plan.obstacles(a.root)
}

// canKeep reports whether the conflicting file can be copied aside.
func (r *Restore) canKeep() bool {
	now := r.now.state
	return !r.blocked && (now.covered() || now == state{} || now == state{modeOut, outIDs[outLarge]})
}

// do restores one file, unless it has changed at the last moment.
func (a *applying) do(ctx context.Context, r *Restore, restore func(*Restore) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.Conflict != "" {
		if err := a.keep(r); err != nil {
			return fmt.Errorf("keep a copy of %q: %w", r.Path, err)
		}
	}
	err := restore(r)
	a.reach("restored " + r.Path)
	var conflict *ConflictError
	switch {
	case errors.As(err, &conflict) && a.how == Leave:
		a.report.Left = append(a.report.Left, r.Path)
		return nil
	case errors.As(err, &conflict):
		return err
	case err != nil:
		return fmt.Errorf("restore %q: %w", r.Path, err)
	}
	a.report.Changed = append(a.report.Changed, r.Path)
	return nil
}

// verify checks right before the change that the file is still in the planned
// state.
func (a *applying) verify(fd int, name string, r *Restore) error {
	now, err := a.root.lookIn(fd, name)
	if err != nil && !absent(err) {
		return err
	}
	if !now.same(r.now) {
		changed := *r
		changed.Conflict = "changed just now"
		return &ConflictError{[]Restore{changed}}
	}
	return nil
}

// remove removes a file, and then its parent directories if they are empty and did
// not exist in the snapshot that is restored.
func (a *applying) remove(r *Restore) error {
	a.reach("remove " + r.Path)
	err := a.root.in(r.Path, func(fd int, name string) error {
		if err := a.verify(fd, name, r); err != nil {
			return err
		}
		if r.now.folder || r.now.state == (state{}) {
			return nil
		}
		return unlink(fd, name, 0)
	})
	if err != nil && !absent(err) {
		return err
	}
	for dir := path.Dir(r.Path); dir != "." && !a.plan.folders[r.origin][dir]; dir = path.Dir(dir) {
		if a.root.removeFolder(dir) != nil {
			break // it is not empty
		}
	}
	return nil
}
