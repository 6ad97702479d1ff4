package snapshot

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Conflicts says what Apply does with files that somebody else has changed.
type Conflicts int

// What is done with conflicts.
const (
	Refuse    Conflicts = iota // nothing at all is changed: a *ConflictError
	KeepAside                  // the file as it is now is first copied to a directory of pawl
	Leave                      // they stay as they are, the others are restored
)

// ConflictError says which files somebody else has changed.
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
	return "somebody else has changed files, choose to leave them or to keep them aside: " + strings.Join(list, "; ")
}

// Report says what Apply did.
type Report struct {
	Changed []string          // by path
	Aside   map[string]string // where the content of a conflicting file was copied to
	Left    []string          // conflicts that stay as they are, and what is left out
}

// Apply does what a plan says. It can be repeated: what is as it should be
// already is not touched, and nothing is put aside twice. All contents are at
// hand before the first file is changed; each file is looked at again right
// before. An error midway leaves some files restored and others not.
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

// applying is an Apply under way.
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
	for _, r := range slices.Backward(todo) { // what is in a directory, before the directory
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

// again looks at the files again before anything is changed.
func (a *applying) again() error {
	for i := range a.plan.Files {
		r := &a.plan.Files[i]
		if why := forbidden(r.Path); why != "" && r.LeftOut == "" {
			return fmt.Errorf("%q must not be restored: %s", r.Path, why)
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

// canKeep reports whether a conflict can be put aside.
func (r *Restore) canKeep() bool {
	now := r.now.state
	return !r.blocked && (now.covered() || now == state{} || now == state{modeOut, outIDs[outLarge]})
}

// do restores a file, unless it has changed in the last moment.
func (a *applying) do(ctx context.Context, r *Restore, restore func(*Restore) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.Conflict != "" {
		if err := a.keep(r); err != nil {
			return fmt.Errorf("keep %q aside: %w", r.Path, err)
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

// verify looks at a file right before it is replaced or removed.
func (a *applying) verify(fd int, name string, r *Restore) error {
	now, err := a.root.lookIn(fd, name)
	if err != nil && !absent(err) {
		return err
	}
	if !now.same(r.now) {
		changed := *r
		changed.Conflict = "changed just now: plan again"
		return &ConflictError{[]Restore{changed}}
	}
	return nil
}

// remove removes a file, and the directories that are empty then and did not exist
// in the snapshot that is restored.
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
			break // there is something in it
		}
	}
	return nil
}
