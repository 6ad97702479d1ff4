package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
)

// does is a hook at a point that does one thing, always.
func does(name string, priority int, p hook.Point, o hook.Outcome) hook.Hook {
	return hook.Hook{Name: name, Priority: priority, Points: []hook.Point{p}, Run: func(context.Context, hook.Event) (hook.Outcome, error) { return o, nil }}
}

func TestNew(t *testing.T) {
	t.Parallel()
	run := func(context.Context, hook.Event) (hook.Outcome, error) { return hook.Outcome{}, nil }
	before := []hook.Point{hook.ToolBefore}
	for _, test := range []struct {
		name  string
		hooks []hook.Hook
		want  string
	}{
		{"none", nil, ""},
		{"two of one name", []hook.Hook{{Name: "a", Points: before, Run: run}, {Name: "a", Priority: 2, Points: before, Run: run}}, "already in use"},
		{"no name", []hook.Hook{{Points: before, Run: run}}, "empty"},
		{"nothing to run", []hook.Hook{{Name: "a", Points: before}}, "no function to run"},
		{"no point", []hook.Hook{{Name: "a", Run: run}}, "no point"},
		{"unknown point", []hook.Hook{{Name: "a", Points: []hook.Point{"PreToolUse"}, Run: run}}, "unknown point"},
	} {
		_, err := hook.New(test.hooks...)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	none := hook.Outcome{}
	r, err := hook.New(does("c", 2, hook.ToolBefore, none), does("b", 1, hook.ToolBefore, none), does("a", 2, hook.ToolBefore, none), does("d", 0, hook.ToolAfter, none))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b", "a", "c"}, r.Hooks(hook.ToolBefore)); diff != "" {
		t.Error(diff)
	}
}

// TestChain: the result of several hooks together.
func TestChain(t *testing.T) {
	t.Parallel()
	input := func(text string) hook.Outcome { return hook.Outcome{Input: json.RawMessage(text)} }
	seen := func(h hook.Hook, got *[]string) hook.Hook {
		run := h.Run
		h.Run = func(ctx context.Context, e hook.Event) (hook.Outcome, error) {
			*got = append(*got, string(e.Input)+e.Parts.Text()+e.Result.Content)
			return run(ctx, e)
		}
		return h
	}
	for _, test := range []struct {
		name  string
		point hook.Point
		does  []hook.Outcome
		want  hook.Outcome
		saw   []string
	}{
		{"nobody says anything", hook.ToolBefore, []hook.Outcome{{}, {}}, hook.Outcome{}, []string{"{}", "{}"}},
		{"a changed input is passed on", hook.ToolBefore, []hook.Outcome{input(`{"a":1}`), {}}, input(`{"a":1}`), []string{"{}", `{"a":1}`}},
		{"a block ends it", hook.ToolBefore, []hook.Outcome{{Block: true, Reason: "no"}, {}}, hook.Outcome{Block: true, Reason: "no", By: "0", Decision: hook.Deny}, []string{"{}"}},
		{"deny is a block", hook.ToolBefore, []hook.Outcome{{Decision: hook.Allow}, {Decision: hook.Deny}}, hook.Outcome{Block: true, Reason: "no reason given", By: "1", Decision: hook.Deny}, []string{"{}", "{}"}},
		{"ask is stricter than allow", hook.ToolBefore, []hook.Outcome{{Decision: hook.Ask}, {Decision: hook.Allow}}, hook.Outcome{Decision: hook.Ask}, []string{"{}", "{}"}},
		{"an allow is for the input that it saw", hook.ToolBefore, []hook.Outcome{{Decision: hook.Allow}, input(`{"a":1}`)}, input(`{"a":1}`), []string{"{}", "{}"}},
		{"an ask stays with another input", hook.ToolBefore, []hook.Outcome{{Decision: hook.Ask}, input(`{"a":1}`)}, hook.Outcome{Decision: hook.Ask, Input: json.RawMessage(`{"a":1}`)}, []string{"{}", "{}"}},
		{"a changed prompt is passed on", hook.ChatMessage, []hook.Outcome{{Parts: pawl.Parts{pawl.Text{Text: "x"}}}, {}}, hook.Outcome{Parts: pawl.Parts{pawl.Text{Text: "x"}}}, []string{"{}", "{}x"}},
		{"a changed result is passed on", hook.ToolAfter, []hook.Outcome{{Result: &pawl.Result{Content: "x"}}, {}}, hook.Outcome{Result: &pawl.Result{Content: "x"}}, []string{"{}", "{}x"}},
		{"injections add up", hook.AssistantDone, []hook.Outcome{{Continue: true, Injection: "a"}, {Continue: true, Injection: "b"}}, hook.Outcome{Continue: true, Injection: "a\n\nb"}, []string{"{}", "{}"}},
		{"stop wins over continue", hook.AssistantDone, []hook.Outcome{{Continue: true, Injection: "a"}, {Stop: true, StopReason: "b"}}, hook.Outcome{Stop: true, StopReason: "b", By: "1"}, []string{"{}", "{}"}},
		{"context and messages add up", hook.SessionStart, []hook.Outcome{{Context: []string{"a"}, Messages: []string{"m"}}, {Context: []string{"b", ""}}}, hook.Outcome{Context: []string{"a", "b"}, Messages: []string{"m"}}, []string{"{}", "{}"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var saw []string
			var hooks []hook.Hook
			for i, o := range test.does {
				hooks = append(hooks, seen(does(string(rune('0'+i)), i, test.point, o), &saw))
			}
			r, err := hook.New(hooks...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Run(t.Context(), hook.Event{Point: test.point, Input: json.RawMessage("{}")})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("outcome: %s", diff)
			}
			if diff := cmp.Diff(test.saw, saw); diff != "" {
				t.Errorf("seen: %s", diff)
			}
		})
	}
}

// TestFailure: a hook that fails before a call refuses it, and elsewhere is reported
// and passed over.
func TestFailure(t *testing.T) {
	t.Parallel()
	failures := map[string]hook.Hook{
		"error":            {Run: func(context.Context, hook.Event) (hook.Outcome, error) { return hook.Outcome{}, errors.New("broken") }},
		"panic":            {Run: func(context.Context, hook.Event) (hook.Outcome, error) { panic("broken") }},
		"panic of Match":   {Match: func(hook.Event) bool { panic("broken") }, Run: func(context.Context, hook.Event) (hook.Outcome, error) { return hook.Outcome{}, nil }},
		"no such decision": does("", 0, "", hook.Outcome{Decision: "broken"}),
		"no such power":    does("", 0, "", hook.Outcome{Continue: true, Parts: pawl.Parts{}, Result: &pawl.Result{}}),
		"no object":        does("", 0, "", hook.Outcome{Input: json.RawMessage(`["broken"]`)}),
		"a huge object":    does("", 0, "", hook.Outcome{Input: json.RawMessage(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`)}),
	}
	for name, h := range failures {
		for _, p := range []hook.Point{hook.ToolBefore, hook.SessionStart, hook.Notification} {
			h.Name, h.Points = "guard", []hook.Point{p}
			r, err := hook.New(h, does("later", 1, p, hook.Outcome{Messages: []string{"later"}}))
			if err != nil {
				t.Fatal(err)
			}
			o, err := r.Run(t.Context(), hook.Event{Point: p})
			if err != nil {
				t.Fatal(err)
			}
			if len(o.Faults) != 1 || o.Faults[0].Hook != "guard" {
				t.Errorf("%s at %s: faults %v", name, p, o.Faults)
			}
			if blocked := o.Block && o.Decision == hook.Deny && strings.Contains(o.Reason, "hook guard failed"); blocked != (p == hook.ToolBefore) {
				t.Errorf("%s at %s: %+v", name, p, o)
			}
			if ran := len(o.Messages) == 1; ran != (p != hook.ToolBefore) {
				t.Errorf("%s at %s: the next hook has run: %v", name, p, ran)
			}
		}
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	h := does("a", 0, hook.ToolBefore, hook.Outcome{Decision: hook.Allow})
	h.Match = func(hook.Event) bool { cancel(why); return true }
	r, err := hook.New(h)
	if err != nil {
		t.Fatal(err)
	}
	o, err := r.Run(ctx, hook.Event{Point: hook.ToolBefore})
	if !errors.Is(err, why) || !o.Block || o.Decision == hook.Allow {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestUnknownPoint(t *testing.T) {
	t.Parallel()
	var none *hook.Registry
	if o, err := none.Run(t.Context(), hook.Event{Point: "x"}); err == nil || !o.Block {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err := none.Run(t.Context(), hook.Event{Point: hook.ToolBefore}); err != nil || o.Block {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestBounds: whatever hooks add, the sum is bounded and whole runes.
func TestBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom([]string{"a", "é", "€", "😀"}).Draw(t, "rune"), rapid.IntRange(0, 20000).Draw(t, "n"))
		}), 0, 40).Draw(t, "texts")
		var hooks []hook.Hook
		for i, text := range texts {
			hooks = append(hooks, does(string(rune('A'+i)), i, hook.AssistantDone, hook.Outcome{Context: []string{text}, Messages: []string{text}, Continue: true, Injection: text}))
		}
		r, err := hook.New(hooks...)
		if err != nil {
			t.Fatal(err)
		}
		o, err := r.Run(context.Background(), hook.Event{Point: hook.AssistantDone})
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(o.Context, "") + strings.ReplaceAll(o.Injection, "\n\n", "")
		if len(all) > 32<<10 || len(o.Context) > 16 || len(o.Messages) > 16 || len(o.Faults) > 32 || strings.ToValidUTF8(all, "") != all {
			t.Fatalf("%d bytes, %d texts, %d messages, %d faults", len(all), len(o.Context), len(o.Messages), len(o.Faults))
		}
		if whole := strings.Join(texts, ""); 2*len(whole) <= 32<<10 && len(texts) <= 16 && len(o.Faults) > 0 {
			t.Fatalf("cut without need: %v", o.Faults)
		}
	})
}

// TestRuling: hooks tighten, and an allow of theirs only answers an ask.
func TestRuling(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		ruling   hook.Ruling
		proposed hook.Decision
		want     hook.Decision
	}{
		{hook.Ruling{Decision: hook.Allow}, "", hook.Allow},
		{hook.Ruling{Decision: hook.Allow}, hook.Allow, hook.Allow},
		{hook.Ruling{Decision: hook.Allow}, hook.Ask, hook.Ask},
		{hook.Ruling{Decision: hook.Allow}, hook.Deny, hook.Deny},
		{hook.Ruling{Decision: hook.Ask}, "", hook.Ask},
		{hook.Ruling{Decision: hook.Ask}, hook.Allow, hook.Allow},
		{hook.Ruling{Decision: hook.Ask, Firm: true}, hook.Allow, hook.Ask},
		{hook.Ruling{Decision: hook.Ask}, hook.Deny, hook.Deny},
		{hook.Ruling{Decision: hook.Deny}, hook.Allow, hook.Deny},
		{hook.Ruling{Decision: hook.Deny}, hook.Ask, hook.Deny},
		{hook.Ruling{}, hook.Allow, hook.Deny},
		{hook.Ruling{Decision: hook.Allow}, "odd", hook.Deny},
	} {
		if got := test.ruling.With(test.proposed); got != test.want {
			t.Errorf("%+v with %q: %q, want %q", test.ruling, test.proposed, got, test.want)
		}
	}
}
