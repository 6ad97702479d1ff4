package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"syscall"

	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/workspace/transaction"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

// How a command gets a view of a workspace, in the order in which they are tried.
const (
	ViewOverlay = "overlay"
	ViewClone   = "clone" // a copy of the workspace that shares its blocks
	ViewCopy    = "copy"
	ViewNone    = "none" // commands write to the workspace itself
)

// View tells how commands get a view of a workspace.
type View struct {
	Name   string
	Reason error // why none of the better ones is used; of an overlay, why commands cannot change all files
}

// Fix returns what a user can do to get an overlay.
func (v View) Fix() string {
	if v.Reason == nil {
		return ""
	}
	return "See \"Where an overlay is impossible\" in docs/explanation/sandbox.md."
}

// String describes the view for a user.
func (v View) String() string {
	switch {
	case v.Name == ViewOverlay && v.Reason != nil:
		return "overlay: commands run on a copy-on-write view, and cannot change all files (" + v.Reason.Error() + ")"
	case v.Name == ViewOverlay:
		return "overlay: commands run on a copy-on-write view, and Pawl applies their changes"
	case v.Name == ViewNone:
		return "none: commands write to the directory directly, where only known names are protected, and each needs permission (" + v.Reason.Error() + ")"
	default:
		return v.Name + ": commands run on a copy of the directory, and Pawl applies their changes (no overlay: " + v.Reason.Error() + ")"
	}
}

// notice returns what a user must know about the view. Where no sandbox has views, there is
// nothing to do about it.
func (v View) notice() string {
	if v.Reason == nil || errors.Is(v.Reason, errNoViews) && runtime.GOOS != "linux" {
		return ""
	}
	return "transactions: " + v.String() + ". Run `pawl doctor` for help."
}

// views remembers how commands get a view of workspaces.
type views struct {
	mu     sync.Mutex
	known  map[string]View // by workspace
	caches map[string]bool // by the paths of caches, whether this machine can show views of them
	first  string          // for tests: the first kind of view to try; "" is an overlay
}

// forget lets the next command choose again, after copying a workspace has failed with an
// error because it has become too large.
func (vs *views) forget(err error, list []sandbox.View) {
	var limit *tree.LimitError
	if !errors.As(err, &limit) {
		return
	}
	vs.mu.Lock()
	defer vs.mu.Unlock()
	for _, v := range list {
		delete(vs.known, v.Dir)
	}
}

var errNoViews = errors.New("this sandbox has no copy-on-write views")

// View returns how commands get a view of a workspace. It tries once for each workspace.
// After an error it is unknown, and commands must not run.
func (s *Safety) View(ctx context.Context, dir string) (View, error) {
	s.views.mu.Lock()
	defer s.views.mu.Unlock()
	if v, known := s.views.known[dir]; known {
		return v, nil
	}
	backend, _ := s.detect(ctx)
	viewer, ok := backend.(sandbox.Viewer)
	if !ok {
		return View{Name: ViewNone, Reason: errNoViews}, nil
	}
	v, err := s.chooseView(ctx, viewer, dir)
	if ctx.Err() != nil {
		return View{}, context.Cause(ctx) // a canceled test proves nothing
	}
	if err != nil {
		return View{}, err
	}
	if s.views.known == nil {
		s.views.known = map[string]View{}
	}
	s.views.known[dir] = v
	return v, nil
}

// direct reports whether commands write to a workspace itself although its sandbox has
// views, so that each needs permission.
func (s *Safety) direct(ctx context.Context, dir string) bool {
	v, err := s.View(ctx, dir)
	return err != nil || v.Name == ViewNone && !errors.Is(v.Reason, errNoViews)
}

// chooseView tries an overlay, then a copy.
func (s *Safety) chooseView(ctx context.Context, viewer sandbox.Viewer, dir string) (v View, err error) {
	if s.views.first != ViewCopy {
		if _, v.Reason, err = s.tryView(ctx, viewer, dir, ViewOverlay); err != nil || v.Reason == nil {
			return View{Name: ViewOverlay}, err
		}
	} else {
		v.Reason = errors.New("a copy was requested")
	}
	cloned, problem, err := s.tryView(ctx, viewer, dir, ViewCopy)
	switch {
	case err != nil:
		return View{}, err
	case problem != nil && errors.Is(v.Reason, sandbox.ErrForeign):
		v.Name = ViewOverlay // the rest can be changed
	case problem != nil:
		return View{Name: ViewNone, Reason: fmt.Errorf("no overlay: %w; no copy: %w", v.Reason, problem)}, nil
	case cloned:
		v.Name = ViewClone
	default:
		v.Name = ViewCopy
	}
	return v, nil
}

// tryView returns why a kind of view is impossible, and whether it is a copy of which all
// files are clones.
func (s *Safety) tryView(ctx context.Context, viewer sandbox.Viewer, dir, kind string) (cloned bool, problem, err error) {
	t, err := s.transactions.Begin(ctx, dir)
	switch {
	case impossible(err):
		return false, err, nil
	case err != nil:
		return false, nil, err
	}
	defer t.Close()
	v := viewOf(ctx, t, dir, kind)
	if fill := v.Fill; fill != nil {
		v.Fill = func() ([]string, error) {
			mounts, err := fill()
			cloned = err == nil && t.Cloned()
			return mounts, err
		}
	}
	problem = viewer.TryView(ctx, sandbox.Profile{Dir: dir, Views: []sandbox.View{v}})
	return cloned, problem, nil
}

// withJobView is withView for a background job. A copy of the workspace cannot be kept up
// to date while a job runs, so the job writes to the workspace itself instead.
func (s *Safety) withJobView(ctx context.Context, p sandbox.Profile, wrap func(sandbox.Profile) (sandbox.Wrapped, error)) (sandbox.Wrapped, []*transaction.Transaction, error) {
	v, err := s.View(ctx, p.Dir)
	if err != nil {
		return sandbox.Wrapped{}, nil, err
	}
	if v.Name != ViewClone && v.Name != ViewCopy {
		return s.withView(ctx, p, wrap)
	}
	w, err := s.withoutView(p, wrap)
	w.Notice = "transactions: background jobs write to the directory directly, where only known names are protected, because commands run on a copy of it. Run `pawl doctor` for help."
	return w, nil, err
}

// viewOf returns the view of a transaction.
func viewOf(ctx context.Context, t *transaction.Transaction, dir, kind string) sandbox.View {
	v := sandbox.View{Dir: dir, Mask: t.Mask(), Upper: t.Upper(), Work: t.Work(), Merged: t.Merged()}
	if kind != ViewOverlay {
		v.Fill = func() ([]string, error) { return t.Fill(ctx) }
	}
	return v
}

// impossible reports whether a transaction failed to begin because the file system of the
// workspace has no transactions, not because of a fault that may pass.
func impossible(err error) bool {
	for _, reason := range []error{errors.ErrUnsupported, syscall.EISDIR, syscall.EROFS, fs.ErrPermission} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}
