package hook

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// The priorities of hooks: the lowest runs first. Hooks that rewrite run
// before guards, so that a guard sees what would really run.
const (
	PriorityEarly   = 100    // tracks, rewrites
	PriorityOutside = 1000   // commands
	PriorityGuard   = 100000 // refuses, masks
)

// Hook does one job at some points.
type Hook struct {
	Name     string
	Priority int
	Points   []Point

	// Match reports whether the hook runs for the event; nil means always.
	Match func(Event) bool

	// Run handles the event. It must return soon after ctx has ended. An error
	// or a panic blocks the call at tool.execute.before; elsewhere it is
	// reported and ignored.
	Run func(ctx context.Context, e Event) (Outcome, error)
}

// Registry runs hooks. It is immutable and safe for concurrent use. nil has no
// hooks.
type Registry struct{ hooks map[Point][]Hook }

// New returns a registry of the hooks, ordered by priority and then by name.
// It returns an error if two have the same name.
func New(hooks ...Hook) (*Registry, error) {
	hooks = slices.Clone(hooks)
	slices.SortFunc(hooks, func(a, b Hook) int { return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name)) })
	r := &Registry{hooks: map[Point][]Hook{}}
	taken := map[string]bool{}
	for _, h := range hooks {
		switch {
		case h.Name == "" || taken[h.Name]:
			return nil, fmt.Errorf("register hook %q: the name is empty or already in use", h.Name)
		case h.Run == nil || len(h.Points) == 0:
			return nil, fmt.Errorf("register hook %q: no function to run, or no point to run at", h.Name)
		}
		taken[h.Name] = true
		for _, p := range h.Points {
			if _, known := powers[p]; !known {
				return nil, fmt.Errorf("register hook %q: unknown point %q", h.Name, p)
			}
			r.hooks[p] = append(r.hooks[p], h)
		}
	}
	return r, nil
}

// Hooks returns the names of the hooks at a point, in order.
func (r *Registry) Hooks(p Point) []string {
	var names []string
	if r != nil {
		for _, h := range r.hooks[p] {
			names = append(names, h.Name)
		}
	}
	return names
}

// Run runs the hooks of the event's point. Each sees the event as the ones
// before it have changed it. The first that blocks ends the run; otherwise the
// strictest decision counts. Events about something that has already happened
// go to all hooks, even if one of them ends the turn. The error is that of
// ctx: the call must not run then.
func (r *Registry) Run(ctx context.Context, e Event) (Outcome, error) {
	all := fold{event: e}
	if _, known := powers[e.Point]; !known {
		return Outcome{Block: true, Reason: fmt.Sprintf("unknown point %q", e.Point)}, fmt.Errorf("run hooks: unknown point %q", e.Point)
	}
	if r == nil {
		return all.out, nil
	}
	for _, h := range r.hooks[e.Point] {
		if all.refresh(ctx); all.out.Block {
			break
		}
		o, err := h.run(ctx, all.event)
		if ctx.Err() != nil {
			return Outcome{Block: true, Reason: "canceled", By: h.Name}, context.Cause(ctx)
		}
		if err == nil {
			err = check(e.Point, o)
		}
		if err != nil {
			all.fail(h.Name, err)
		} else {
			all.add(h.Name, o)
		}
		if all.out.Block {
			break
		}
	}
	return all.out, nil
}

// run is Run if the hook matches; a panic becomes an error.
func (h Hook) run(ctx context.Context, e Event) (o Outcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			o, err = Outcome{}, fmt.Errorf("panic: %v", v)
		}
	}()
	if ctx.Err() != nil || h.Match != nil && !h.Match(e) {
		return Outcome{}, nil
	}
	return h.Run(ctx, e)
}
