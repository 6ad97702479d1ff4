package policy

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/workspace/transaction"
)

// Recover completes or discards the changes of commands that a crash has interrupted.
func (s *Safety) Recover(ctx context.Context) error { return s.transactions.Recover(ctx) }

// WrapOnce puts a command of a person into the sandbox of a profile. It returns an
// error if there is no sandbox.
func (s *Safety) WrapOnce(ctx context.Context, args []string, p sandbox.Profile) (sandbox.Wrapped, error) {
	backend, _ := s.detect(ctx)
	wrap := func(p sandbox.Profile) (sandbox.Wrapped, error) {
		return s.withCaches(ctx, p, true, func(p sandbox.Profile) (sandbox.Wrapped, error) { return backend.Wrap(args, p) })
	}
	if p.ReadOnly {
		return wrap(p)
	}
	w, _, err := s.withView(ctx, p, wrap)
	return w, err
}

// Commands knows the outcomes of the commands that ran on views.
func (s *Safety) Commands() *transaction.Store { return s.transactions }

// withView calls wrap with a profile whose directories are copy-on-write views, and lets
// the command's changes be applied when it ends. Where a view of the workspace is
// impossible, the command writes to the workspace itself, and what is protected is
// read-only, and there are no transactions. Further directories without a view are
// read-only.
func (s *Safety) withView(ctx context.Context, p sandbox.Profile, wrap func(sandbox.Profile) (sandbox.Wrapped, error)) (sandbox.Wrapped, []*transaction.Transaction, error) {
	kind, err := s.View(ctx, p.Dir)
	switch {
	case err != nil:
		return sandbox.Wrapped{}, nil, err
	case kind.Name == ViewNone:
		w, err := s.withoutView(p, wrap)
		w.Notice = kind.notice()
		return w, nil, err
	}
	all, err := s.beginAll(ctx, &p)
	closeAll := func() {
		for _, t := range all {
			t.Close()
		}
	}
	if err != nil {
		closeAll()
		return sandbox.Wrapped{}, nil, err
	}
	p.Indexed = func(dir string, paths []string) map[string][]byte { return indexed(ctx, dir, paths) }
	follow, err := follower(ctx, p, all)
	if err != nil {
		closeAll()
		return sandbox.Wrapped{}, nil, err
	}
	w, err := wrap(p)
	if err != nil {
		closeAll()
		s.views.forget(err, p.Views)
		return w, nil, err
	}
	w.Follow, w.Notice = follow, kind.notice()
	w.Finish = func(ctx context.Context, review func([]sandbox.Changes) error) (sandbox.Outcome, error) {
		return finishAll(ctx, p.Views, all, review)
	}
	w.OnClose(closeAll)
	return w, all, nil
}

// withDroppedView calls wrap with a profile whose workspace is a copy-on-write view that is dropped when the command
// ends, so that a reviewer can run tests that write files. Where a view is impossible, the workspace is read-only.
func (s *Safety) withDroppedView(ctx context.Context, p sandbox.Profile, wrap func(sandbox.Profile) (sandbox.Wrapped, error)) (sandbox.Wrapped, error) {
	kind, err := s.View(ctx, p.Dir)
	if err != nil || kind.Name == ViewNone {
		return wrap(p)
	}
	p.ReadOnly = false
	w, _, err := s.withView(ctx, p, wrap)
	if err != nil {
		return w, err
	}
	w.Follow = nil
	w.Finish = func(context.Context, func([]sandbox.Changes) error) (sandbox.Outcome, error) {
		return sandbox.Outcome{}, nil
	}
	return w, nil
}

// follower returns a function that keeps the views of a job up to date, or nil if one of
// them is a copy.
func follower(ctx context.Context, p sandbox.Profile, all []*transaction.Transaction) (func(pid int), error) {
	ctx = context.WithoutCancel(ctx)
	var hidden []func(string) bool
	for _, view := range p.Views {
		if view.Fill != nil {
			return nil, nil
		}
		hides, err := p.Hides(view.Dir)
		if err != nil {
			return nil, err
		}
		hidden = append(hidden, hides)
	}
	return func(pid int) {
		for i, t := range all {
			if p.Views[i].Dir != p.Dir && !slices.Contains(p.Dirs, p.Views[i].Dir) {
				continue // a repository, which is applied at the end
			}
			t.Follow(transaction.Following{
				Mounted: filepath.Join("/proc", strconv.Itoa(pid), "root", t.Merged()),
				Hidden:  hidden[i], Ignored: func() []string { return ignoredDirs(ctx, p.Views[i].Dir) },
			})
		}
	}, nil
}

// beginAll begins the transactions of a profile's directories and adds their views. A
// further directory that cannot be shown as a view gets none. After an error the caller
// closes those that were begun.
func (s *Safety) beginAll(ctx context.Context, p *sandbox.Profile) (all []*transaction.Transaction, err error) {
	for _, dir := range append([]string{p.Dir}, p.Dirs...) {
		kind, err := s.View(ctx, dir)
		if err != nil {
			return all, err
		}
		if kind.Name == ViewNone {
			continue
		}
		t, err := s.transactions.Begin(ctx, dir)
		if err != nil {
			return all, err
		}
		all = append(all, t)
		p.Views = append(p.Views, viewOf(ctx, t, dir, kind.Name))
	}
	t, kind, err := s.beginRepository(ctx, *p)
	if err == nil && t != nil {
		all = append(all, t)
		p.Views = append(p.Views, viewOf(ctx, t, t.Root(), kind.Name))
	}
	return all, err
}

// sharedParts are the parts of a repository that all worktrees share and that commands in
// a linked worktree may change. What the main worktree has for itself is beside them.
var sharedParts = []string{"objects", "refs", "logs", "packed-refs", "config", "info", "shallow", "rr-cache", "lfs", "gc.log"}

// beginRepository begins the transaction of the repository that the workspace is a linked
// worktree of. It returns nil if the workspace is something else, or a view is impossible.
func (s *Safety) beginRepository(ctx context.Context, p sandbox.Profile) (*transaction.Transaction, View, error) {
	common, own := sandbox.Repository(p.Dir)
	closed := func(path string) bool { return filepath.IsAbs(path) && overlap(common, path) }
	if common == "" || slices.ContainsFunc(slices.Concat(p.Apart, p.Hidden, p.Dirs, []string{p.Dir}), closed) {
		return nil, View{}, nil
	}
	kind, err := s.View(ctx, common)
	if err != nil || kind.Name == ViewNone {
		return nil, kind, err
	}
	t, err := s.transactions.Begin(ctx, common)
	if err != nil {
		return nil, kind, err
	}
	name := path.Join("worktrees", filepath.Base(own))
	t.Restrict(func(file string) bool {
		first, _, _ := strings.Cut(file, "/")
		return slices.Contains(sharedParts, first) || file == "worktrees" || file == name || strings.HasPrefix(file, name+"/")
	}, "it belongs to another worktree of the repository")
	return t, kind, nil
}

// withoutView calls wrap, and lets transactions know that the command writes to the
// workspace.
func (s *Safety) withoutView(p sandbox.Profile, wrap func(sandbox.Profile) (sandbox.Wrapped, error)) (sandbox.Wrapped, error) {
	leave := s.transactions.Share(p.Dir)
	w, err := wrap(p)
	if err != nil {
		leave()
		return w, err
	}
	w.OnClose(leave)
	return w, nil
}

// finishAll applies what a command has changed in its views, if review, unless it is nil,
// returns no error. Paths of the workspace are relative, others absolute.
func finishAll(ctx context.Context, views []sandbox.View, all []*transaction.Transaction, review func([]sandbox.Changes) error) (sandbox.Outcome, error) {
	finish := func(i int) (transaction.Outcome, error) { return all[i].Finish(ctx) }
	if review != nil {
		sets, err := reviewAll(ctx, views, all, review)
		if err != nil {
			return sandbox.Outcome{}, err
		}
		finish = func(i int) (transaction.Outcome, error) { return all[i].Apply(ctx, sets[i]) }
	}
	var out sandbox.Outcome
	var errs []error
	for i := range all {
		done, err := finish(i)
		errs = append(errs, err)
		named := func(path string) string { return path }
		if i > 0 {
			named = func(path string) string { return filepath.Join(views[i].Dir, path) }
		}
		for _, c := range done.Applied {
			c.Path = named(c.Path)
			out.Applied = append(out.Applied, c)
		}
		for _, r := range done.Refused {
			r.Path = named(r.Path)
			out.Refused = append(out.Refused, sandbox.Refusal(r))
		}
	}
	return out, errors.Join(errs...)
}

// reviewAll checks what a command has changed in its views, and lets it be reviewed unless
// there is nothing to apply.
func reviewAll(ctx context.Context, views []sandbox.View, all []*transaction.Transaction, review func([]sandbox.Changes) error) ([]transaction.ChangeSet, error) {
	var sets []transaction.ChangeSet
	var list []sandbox.Changes
	needed := false
	for i, t := range all {
		set, err := t.Check(ctx)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
		needed = needed || len(set.Changes) > 0
		c := sandbox.Changes{List: set.Changes, Old: set.View.Lower, New: set.View.Upper}
		if i > 0 {
			c.Dir = views[i].Dir
		}
		for _, r := range set.Refused {
			c.Refused = append(c.Refused, sandbox.Refusal(r))
		}
		list = append(list, c)
	}
	if !needed {
		return sets, nil
	}
	return sets, review(list)
}

var errUnreviewable = errors.New("it can write or connect to more than views of the project directories")

// reviewProblem returns why a command in project directories, the workspace first, can have
// effects that are not among the changes of its views, so that a person must be asked
// before it runs.
func (s *Safety) reviewProblem(ctx context.Context, dirs []string, c config.Sandbox) error {
	if len(existing(c.Writable)) > 0 || len(c.Network) > 0 {
		return errUnreviewable
	}
	if common, _ := sandbox.Repository(dirs[0]); common != "" {
		if kind, err := s.View(ctx, common); kind.Name == ViewNone || err != nil {
			return errUnreviewable // its commands write to the repository, which is elsewhere
		}
	}
	kind, err := s.View(ctx, dirs[0])
	if err == nil && kind.Name == ViewNone {
		err = kind.Reason
	}
	return err
}

// ignoredDirs returns the directories in a workspace that git ignores.
func ignoredDirs(ctx context.Context, dir string) []string {
	repo, err := openRepo(ctx, dir)
	if err != nil || repo == nil {
		return nil
	}
	out, err := repo.Run(ctx, git.Call{Args: []string{"ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"}})
	if err != nil {
		return nil
	}
	var dirs []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		path, isDir := strings.CutSuffix(entry, "/")
		if rel, err := filepath.Rel(dir, filepath.Join(repo.Top, path)); isDir && err == nil && filepath.IsLocal(rel) {
			dirs = append(dirs, filepath.ToSlash(rel))
		}
	}
	return dirs
}
