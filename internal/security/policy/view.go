package policy

import (
	"context"
	"errors"
	"sync"

	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/workspace/transaction"
)

// views remembers for which workspaces this machine can show a copy-on-write view.
type views struct {
	mu  sync.Mutex
	why map[string]error // by workspace; nil if it can
}

// Recover completes or discards the changes of commands that a crash has interrupted.
func (s *Safety) Recover(ctx context.Context) error { return s.transactions.Recover(ctx) }

// WrapOnce puts a command of a person into the sandbox of a profile. It returns an
// error if there is no sandbox.
func (s *Safety) WrapOnce(ctx context.Context, args []string, p sandbox.Profile) (sandbox.Wrapped, error) {
	backend, _ := s.detect(ctx)
	wrap := func(p sandbox.Profile) (sandbox.Wrapped, error) { return backend.Wrap(args, p) }
	if p.ReadOnly {
		return wrap(p)
	}
	return s.withView(ctx, p, wrap)
}

// withView calls wrap with a profile whose workspace is a copy-on-write view, and lets
// the command's changes be applied when it ends. Where a view is impossible, the
// command writes to the workspace itself, and what is protected is read-only.
func (s *Safety) withView(ctx context.Context, p sandbox.Profile, wrap func(sandbox.Profile) (sandbox.Wrapped, error)) (sandbox.Wrapped, error) {
	if err := s.ViewProblem(ctx, p.Dir); err != nil {
		return s.withoutView(p, wrap)
	}
	t, err := s.transactions.Begin(ctx, p.Dir)
	if err != nil {
		return sandbox.Wrapped{}, err
	}
	p.View = viewOf(t)
	p.Committed = func(paths []string) map[string][]byte { return committed(ctx, p.Dir, paths) }
	w, err := wrap(p)
	if err != nil {
		t.Close()
		return w, err
	}
	closeSandbox := w.Close
	w.Finish = func(ctx context.Context) (sandbox.Outcome, error) { return finish(ctx, t) }
	w.Close = func() {
		closeSandbox()
		t.Close()
	}
	return w, nil
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
	closeSandbox := w.Close
	w.Close = func() {
		closeSandbox()
		leave()
	}
	return w, nil
}

func finish(ctx context.Context, t *transaction.Transaction) (sandbox.Outcome, error) {
	done, err := t.Finish(ctx)
	out := sandbox.Outcome{Applied: done.Applied}
	for _, r := range done.Refused {
		out.Refused = append(out.Refused, sandbox.Refusal(r))
	}
	return out, err
}

func viewOf(t *transaction.Transaction) *sandbox.View {
	return &sandbox.View{Mask: t.Mask(), Upper: t.Upper(), Work: t.Work(), Merged: t.Merged()}
}

var errNoViews = errors.New("this sandbox has no copy-on-write views")

// ViewProblem returns why the commands of a workspace do not run on a copy-on-write
// view, or nil if they do. It tries once for each workspace.
func (s *Safety) ViewProblem(ctx context.Context, dir string) error {
	s.views.mu.Lock()
	defer s.views.mu.Unlock()
	why, known := s.views.why[dir]
	if known {
		return why
	}
	backend, _ := s.detect(ctx)
	viewer, ok := backend.(sandbox.Viewer)
	if !ok {
		return errNoViews
	}
	t, err := s.transactions.Begin(ctx, dir)
	if err == nil {
		err = viewer.TryView(ctx, sandbox.Profile{Dir: dir, View: viewOf(t)})
		t.Close()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // a canceled test proves nothing
	}
	if s.views.why == nil {
		s.views.why = map[string]error{}
	}
	s.views.why[dir] = err
	return err
}
