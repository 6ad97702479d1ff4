package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
)

// pathOf tells what a call of write would touch.
func pathOf(_ context.Context, input json.RawMessage) ([]pawl.Access, error) {
	var in struct{ Path string }
	if err := json.Unmarshal(input, &in); err != nil || in.Path == "" {
		return nil, errors.New("it has no path")
	}
	return []pawl.Access{{Kind: pawl.AccessWrite, Target: in.Path}}, nil
}

// TestAccessAfterChange: a hook that checks by what a call would touch checks
// the call that would run, whatever hooks before it have made of it.
func TestAccessAfterChange(t *testing.T) {
	t.Parallel()
	roles := map[string]hook.Role{"planner": {Tools: []string{"write"}, Writes: []string{"docs/**"}}}
	for _, test := range []struct {
		name    string
		from    string
		changes []string // inputs, one a hook
		blind   bool     // nobody can tell what another input touches
		saw     []string // by the hook before the guard
		want    string   // part of why it is refused; "" means that it is not
	}{
		{name: "as it is", from: "docs/a", saw: []string{"docs/a"}},
		{name: "out of the role", from: "docs/a", changes: []string{`{"path":"main.go"}`}, saw: []string{"main.go"}, want: "may not write main.go"},
		{name: "into the role", from: "main.go", changes: []string{`{"path":"docs/a"}`}, saw: []string{"docs/a"}},
		{name: "twice", from: "docs/a", changes: []string{`{"path":"docs/b"}`, `{"path":"main.go"}`}, saw: []string{"main.go"}, want: "may not write main.go"},
		{name: "to nonsense", from: "docs/a", changes: []string{`{"word":1}`}, want: "invalid changed input {\"word\":1}: it has no path"},
		{name: "nobody can tell", from: "docs/a", changes: []string{`{"path":"docs/b"}`}, blind: true, want: "the accesses of the changed call are unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newEnv(t)
			var saw []string
			look := hook.Hook{Name: "look", Priority: hook.PriorityOutside, Points: []hook.Point{hook.ToolBefore}, Run: func(_ context.Context, e hook.Event) (hook.Outcome, error) {
				for _, a := range e.Access {
					saw = append(saw, a.Target)
				}
				return hook.Outcome{}, nil
			}}
			hooks := []hook.Hook{look, hook.StrictRoleGuard(roles)}
			for i, input := range test.changes {
				hooks = append(hooks, does("change"+string(rune('0'+i)), i, hook.ToolBefore, hook.Outcome{Input: json.RawMessage(input)}))
			}
			e := hook.Event{Point: hook.ToolBefore, Dir: w.dir, Agent: "planner", Tool: "write", Access: []pawl.Access{{Kind: pawl.AccessWrite, Target: test.from}}, Touches: pathOf}
			if test.blind {
				e.Touches = nil
			}
			o := w.run(e, hooks...)
			if o.Block != (test.want != "") || !strings.Contains(o.Reason, test.want) {
				t.Errorf("refused %v: %q, want %q", o.Block, o.Reason, test.want)
			}
			if diff := cmp.Diff(test.saw, saw); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestStopReachesAll: what has happened is reported to every hook, though one before
// it ends the turn: nobody can keep a call from an administrator's eyes, or a
// result from the one that masks it. The first reason counts.
func TestStopReachesAll(t *testing.T) {
	t.Parallel()
	for p, want := range map[hook.Point]int{hook.ToolAfter: 3, hook.AssistantDone: 3, hook.CompactionAfter: 3, hook.SessionEnd: 3, hook.ToolBefore: 1, hook.ChatMessage: 1} {
		ran := 0
		stops := func(name string, priority int) hook.Hook {
			return hook.Hook{Name: name, Priority: priority, Points: []hook.Point{p}, Run: func(context.Context, hook.Event) (hook.Outcome, error) {
				ran++
				return hook.Outcome{Stop: true, StopReason: name}, nil
			}}
		}
		o := newEnv(t).run(hook.Event{Point: p}, stops("first", 1), stops("second", 2), stops("third", 3))
		if ran != want || !o.Stop || o.StopReason != "first" || o.By != "first" {
			t.Errorf("%s: %d hooks were run, want %d: %+v", p, ran, want, o)
		}
	}
}
