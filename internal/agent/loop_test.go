package agent

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// trace is the loop's context in these tests: what it did, in order.
type trace []string

func (c *trace) add(format string, args ...any) { *c = append(*c, fmt.Sprintf(format, args...)) }

// plan is a set of steps that does as instructed.
type plan struct {
	replies []Reply
	settle  map[int]bool // by step: go on?
	refuse  pawl.CallID  // a call that is not permitted
	fail    string       // the step that fails, as the trace shows it
	steps   []Turn       // what the steps were given
}

var errFail = errors.New("fail")

func (p *plan) step(c *trace, t Turn, format string, args ...any) error {
	c.add(format, args...)
	p.steps = append(p.steps, t)
	if p.fail != "" && (*c)[len(*c)-1] == p.fail {
		return errFail
	}
	return nil
}

func (p *plan) Prepare(c *trace, t Turn) error { return p.step(c, t, "prepare %d", t.Step) }

func (p *plan) Generate(c *trace, t Turn) (Reply, error) {
	if err := p.step(c, t, "generate %d", t.Step); err != nil {
		return Reply{}, err
	}
	return p.replies[t.Step-1], nil
}

func (p *plan) Authorize(c *trace, t Turn, ids []pawl.CallID) (permitted []pawl.CallID, err error) {
	for _, id := range ids {
		if id != p.refuse {
			permitted = append(permitted, id)
		}
	}
	return permitted, p.step(c, t, "authorize %v", ids)
}

func (p *plan) Execute(c *trace, t Turn, ids []pawl.CallID) error {
	return p.step(c, t, "execute %v", ids)
}

func (p *plan) Settle(c *trace, t Turn) (bool, error) {
	return p.settle[t.Step], p.step(c, t, "settle %d", t.Step)
}

func TestContract_R6_Loop(t *testing.T) {
	t.Parallel()
	ends := Reply{Finish: pawl.FinishEndTurn}
	calls := func(ids ...pawl.CallID) Reply { return Reply{Finish: pawl.FinishToolUse, Calls: ids} }
	tests := []struct {
		name  string
		plan  plan
		max   int
		want  trace
		then  pawl.Reason
		fails bool
	}{
		{
			name: "a text ends the turn", plan: plan{replies: []Reply{ends}},
			want: trace{"prepare 1", "generate 1", "settle 1"}, then: pawl.ReasonEndTurn,
		},
		{
			name: "results go back to the model", plan: plan{replies: []Reply{calls("a", "b"), calls("c"), ends}},
			want: trace{
				"prepare 1", "generate 1", "authorize [a b]", "execute [a b]",
				"prepare 2", "generate 2", "authorize [c]", "execute [c]",
				"prepare 3", "generate 3", "settle 3",
			},
			then: pawl.ReasonEndTurn,
		},
		{
			name: "only permitted calls are run", plan: plan{replies: []Reply{calls("a", "b", "c"), ends}, refuse: "b"},
			want: trace{"prepare 1", "generate 1", "authorize [a b c]", "execute [a c]", "prepare 2", "generate 2", "settle 2"},
			then: pawl.ReasonEndTurn,
		},
		{
			name: "no call is permitted", plan: plan{replies: []Reply{calls("b"), ends}, refuse: "b"},
			want: trace{"prepare 1", "generate 1", "authorize [b]", "execute []", "prepare 2", "generate 2", "settle 2"},
			then: pawl.ReasonEndTurn,
		},
		{
			name: "settling lets it go on", plan: plan{replies: []Reply{ends, ends}, settle: map[int]bool{1: true}},
			want: trace{"prepare 1", "generate 1", "settle 1", "prepare 2", "generate 2", "settle 2"}, then: pawl.ReasonEndTurn,
		},
		{
			name: "max_tokens ends it", plan: plan{replies: []Reply{{Finish: pawl.FinishMaxTokens}}},
			want: trace{"prepare 1", "generate 1", "settle 1"}, then: pawl.ReasonMaxTokens,
		},
		{
			name: "max_tokens with calls: each has its result, then it ends",
			plan: plan{replies: []Reply{{Finish: pawl.FinishMaxTokens, Calls: []pawl.CallID{"a"}}}, refuse: "a"},
			want: trace{"prepare 1", "generate 1", "authorize [a]", "execute []", "settle 1"}, then: pawl.ReasonMaxTokens,
		},
		{
			name: "a canceled reply ends it", plan: plan{replies: []Reply{{Finish: pawl.FinishCanceled}}},
			want: trace{"prepare 1", "generate 1", "settle 1"}, then: pawl.ReasonCanceled,
		},
		{
			name: "the last permitted step", plan: plan{replies: []Reply{calls("a"), calls("b"), ends}}, max: 2,
			want: trace{
				"prepare 1", "generate 1", "authorize [a]", "execute [a]",
				"prepare 2", "generate 2", "authorize [b]", "execute [b]",
			},
			then: pawl.ReasonMaxSteps,
		},
		{
			name: "a text on the last permitted step", plan: plan{replies: []Reply{calls("a"), ends}}, max: 2,
			want: trace{"prepare 1", "generate 1", "authorize [a]", "execute [a]", "prepare 2", "generate 2", "settle 2"},
			then: pawl.ReasonMaxSteps,
		},
		{
			name: "settling does not go beyond the last step", plan: plan{replies: []Reply{ends}, settle: map[int]bool{1: true}}, max: 1,
			want: trace{"prepare 1", "generate 1", "settle 1"}, then: pawl.ReasonMaxSteps,
		},
		{
			name: "fewer steps than permitted", plan: plan{replies: []Reply{ends}}, max: 9,
			want: trace{"prepare 1", "generate 1", "settle 1"}, then: pawl.ReasonEndTurn,
		},
		{name: "prepare fails", plan: plan{fail: "prepare 1"}, want: trace{"prepare 1"}, fails: true},
		{name: "generate fails", plan: plan{fail: "generate 1"}, want: trace{"prepare 1", "generate 1"}, fails: true},
		{
			name: "authorize fails", plan: plan{replies: []Reply{calls("a")}, fail: "authorize [a]"},
			want: trace{"prepare 1", "generate 1", "authorize [a]"}, fails: true,
		},
		{
			name: "execute fails", plan: plan{replies: []Reply{calls("a")}, fail: "execute [a]"},
			want: trace{"prepare 1", "generate 1", "authorize [a]", "execute [a]"}, fails: true,
		},
		{
			name: "settle fails", plan: plan{replies: []Reply{ends}, fail: "settle 1"},
			want: trace{"prepare 1", "generate 1", "settle 1"}, fails: true,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var did trace
			turn := Turn{Session: "s", Number: 3, Prompt: 7, MaxSteps: test.max, Step: 99}
			reason, err := Run(&did, &test.plan, turn)
			if errors.Is(err, errFail) != test.fails || !test.fails && err != nil {
				t.Errorf("got the error %v", err)
			}
			if diff := cmp.Diff(test.then, reason); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.want, did); diff != "" {
				t.Error(diff)
			}
			for _, got := range test.plan.steps {
				want := turn
				want.Step = got.Step
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("a step was given another turn: %s", diff)
				}
			}
		})
	}
}

func TestLoopStaysSmall(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("loop.go")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(source), "\n"); lines >= 60 {
		t.Errorf("loop.go has %d lines, 60 is the limit: the loop must be readable on one screen. "+
			"Put the new thing into a step", lines)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "loop.go", source, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range file.Imports {
		if spec.Path.Value != `"github.com/pawl-dev/pawl"` {
			t.Errorf("loop.go imports %s: the loop decides and does nothing else (no I/O, no clock, no goroutine), "+
				"so that it runs unchanged inside a workflow engine. Put the effect into a step", spec.Path.Value)
		}
	}
	for _, word := range []string{"go func", "select {", "chan "} {
		if strings.Contains(string(source), word) {
			t.Errorf("loop.go has %q: a workflow engine that replays it would go another way. Put it into a step", word)
		}
	}
}
