package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// command is a tool that runs commands on a view. It notes what it applied.
func command(applied *[]pawl.CallID) toolapi.Tool {
	t := newTool("bash", pawl.AccessExec, func(ctx context.Context, c toolapi.Call) (pawl.Result, error) {
		if c.Review != nil {
			if err := c.Review(ctx, toolapi.Changes{Summary: "1 file changed", Files: []string{"A x"}}); err != nil {
				return pawl.Result{Content: err.Error(), IsError: true}, ctx.Err()
			}
		}
		*applied = append(*applied, c.ID)
		return pawl.Result{Content: "done"}, nil
	})
	t.Risk = toolapi.RiskDangerous
	t.Access = func(context.Context, toolapi.Call) ([]pawl.Access, error) {
		return []pawl.Access{{Kind: pawl.AccessExec, Target: "touch x"}}, nil
	}
	t.OnView = func(toolapi.Call) bool { return true }
	return t
}

func newReviewEnv(t *testing.T, applied *[]pawl.CallID, script ...string) *testEnv {
	t.Helper()
	w := newEnv(t, setup{tools: []toolapi.Tool{command(applied)}, script: append([]string{`{"calls":[{"name":"bash"}]}`}, script...)})
	w.authority().Review()
	return w
}

// TestReview: in ask mode a command runs, and then the user decides about its changes.
func TestReview(t *testing.T) {
	t.Parallel()
	always := pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: []json.RawMessage{json.RawMessage(`{"tool":"bash","pattern":"touch x","decision":"allow"}`)}}
	for name, c := range map[string]struct {
		answer  pawl.Answer
		change  func(*testEnv)
		absent  bool
		script  []string
		reason  pawl.Reason
		applied int
		asks    int
		before  bool // asked before it starts
	}{
		"allowed":             {answer: pawl.Answer{Outcome: pawl.OutcomeAnswered}, script: []string{`{"expect":"^done","text":"Ok."}`}, reason: pawl.ReasonEndTurn, applied: 1, asks: 1},
		"always allowed":      {answer: always, script: []string{`{"calls":[{"name":"bash"}]}`, `{"text":"Ok."}`}, reason: pawl.ReasonEndTurn, applied: 2, asks: 1},
		"denied":              {answer: pawl.Answer{Outcome: pawl.OutcomeDenied}, reason: pawl.ReasonPermissionDenied, asks: 1},
		"denied with a text":  {answer: pawl.Answer{Outcome: pawl.OutcomeDenied, Text: "no"}, script: []string{`{"expect":"discarded its changes and said: no","text":"Ok."}`}, reason: pawl.ReasonEndTurn, asks: 1},
		"nobody is there":     {absent: true, script: []string{`{"expect":"no user is present","text":"Ok."}`}, reason: pawl.ReasonEndTurn, asks: 1},
		"a rule asks":         {change: asks, answer: pawl.Answer{Outcome: pawl.OutcomeAnswered}, script: []string{`{"text":"Ok."}`}, reason: pawl.ReasonEndTurn, applied: 1, asks: 1, before: true},
		"a rule, nobody":      {change: asks, absent: true, script: []string{`{"expect":"^not permitted","text":"Ok."}`}, reason: pawl.ReasonEndTurn},
		"without the sandbox": {change: func(w *testEnv) { w.authority().Unbox() }, answer: pawl.Answer{Outcome: pawl.OutcomeDenied}, reason: pawl.ReasonPermissionDenied, asks: 1, before: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var applied []pawl.CallID
			w := newReviewEnv(t, &applied, c.script...)
			if c.change != nil {
				c.change(w)
			}
			w.prompt("go", inMode("ask"), func(p *pawl.Prompted) { p.Absent = c.absent })
			if !c.absent {
				go w.answerAll(t.Context(), c.answer)
			}
			w.mustTurn(c.reason)
			check(t, []int{c.applied, c.asks}, []int{len(applied), len(w.bodies(pawl.Asked{}))})
			started := false
			for _, e := range w.events() {
				switch b := e.Body.(type) {
				case pawl.CallStarted:
					started = true
				case pawl.Asked:
					check(t, []bool{!c.before, !c.before}, []bool{started, strings.HasPrefix(b.Text, "Apply the changes of this command?\n  | touch x\n1 file changed\n  | A x\n")})
				default: // not about the question
				}
			}
		})
	}
}

func asks(w *testEnv) {
	w.authority().Rule(permission.Rule{Tool: "bash", Pattern: "touch x", Decision: permission.Ask})
}

// TestInterruptedReview: changes that nobody has decided about when Pawl stops are not applied afterwards, whatever is
// answered then.
func TestInterruptedReview(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"open": false, "answered meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var applied []pawl.CallID
			w := newReviewEnv(t, &applied, `{"text":"Ok."}`)
			w.prompt("go", inMode("ask"))
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				for e, err := range w.bus.Events(ctx, session, 0) {
					if _, ok := e.Body.(pawl.Asked); ok || err != nil {
						cancel(errTaken)
						return
					}
				}
			}()
			if _, err := w.turn(ctx); !errors.Is(err, errTaken) {
				t.Fatal(err)
			}
			asked := w.bodies(pawl.Asked{})
			check(t, 1, len(asked))
			if late {
				for _, e := range w.events() {
					if _, ok := e.Body.(pawl.Asked); ok {
						w.append(pawl.Answered{Ask: e.Seq, Answer: pawl.Answer{Outcome: pawl.OutcomeAnswered}})
					}
				}
			}
			w.mustTurn(pawl.ReasonEndTurn)
			check(t, []int{0, 1, 1}, []int{len(applied), len(w.bodies(pawl.Asked{})), len(w.bodies(pawl.Answered{}))})
			result := w.results()[0]
			check(t, []any{pawl.CallUnknown, !late}, []any{result.Status, strings.Contains(result.Result.Content, "they were discarded")})
		})
	}
}

// TestHooksInReview: a hook can allow, deny or ask before the command, and changes nothing if it says nothing.
func TestHooksInReview(t *testing.T) {
	t.Parallel()
	offer := []permission.Rule{{Tool: "bash", Pattern: "make", Decision: permission.Allow}}
	for _, c := range []struct {
		says  hook.Decision
		offer []permission.Rule
		want  permission.Decision
	}{
		{"", offer, permission.Review}, {hook.Allow, offer, permission.Allow}, {hook.Ask, offer, permission.Ask}, {hook.Deny, offer, permission.Deny},
		{"", nil, permission.Review}, {hook.Allow, nil, permission.Review}, {hook.Ask, nil, permission.Ask},
	} {
		got := hookRuling{decision: c.says}.apply(permission.Verdict{Decision: permission.Review, Offer: c.offer})
		if got.Decision != c.want {
			t.Errorf("%q, offer %v: %s, want %s", c.says, c.offer, got.Decision, c.want)
		}
	}
}
