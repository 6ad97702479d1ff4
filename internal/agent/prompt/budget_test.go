package prompt_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/prompt"
	"github.com/pawl-dev/pawl/internal/model"
)

func TestBudgetOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		window model.Window
		want   prompt.Budget
	}{
		{model.Window{}, prompt.Budget{}},
		{model.Window{Output: 5}, prompt.Budget{}},
		{model.Window{Context: 200_000, Output: 64_000}, prompt.Budget{Context: 200_000, Input: 119_000}},
		{model.Window{Context: 128_000}, prompt.Budget{Context: 128_000, Input: 98_000}},
		{model.Window{Context: 128_000, Output: 128_000}, prompt.Budget{Context: 128_000, Input: 56_000}},
	} {
		if got := prompt.BudgetOf(test.window); got != test.want {
			t.Errorf("%+v: got %+v", test.window, got)
		}
	}
	known := prompt.Budget{Context: 100, Input: 80}
	for _, test := range []struct {
		budget   prompt.Budget
		overflow int
		want     prompt.Budget
	}{
		{known, 90, prompt.Budget{Context: 100, Input: 64}},
		{known, 50, prompt.Budget{Context: 100, Input: 40}}, // it takes less than it says
		{prompt.Budget{}, 50, prompt.Budget{Input: 40}},
	} {
		if got := test.budget.After(test.overflow); got != test.want {
			t.Errorf("%+v after %d: got %+v", test.budget, test.overflow, got)
		}
	}
}

// Whatever the log, summarized and undone at times, the request is one that
// each provider takes, fits the budget, and is the same for a process that is new
// to the session.
func TestRequestsFitWhateverTheLog(t *testing.T) {
	t.Parallel()
	all := newProviders(t)
	did := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		window := rapid.IntRange(500, 6000).Draw(rt, "window")
		budget := prompt.Budget{Context: window, Input: window * 3 / 4}
		s := drawChangedLog(rt, 6, 12, budget)
		messages := s.history.Messages()
		var fresh prompt.Sizes
		if !reflect.DeepEqual(s.fitted, fresh.Fit(messages, budget, 0, nil)) {
			rt.Fatal("what was known of earlier requests makes a difference")
		}
		if name, err := all.check(t.Context(), s.fitted); err != nil {
			rt.Fatalf("%s refuses it: %v", name, err)
		}
		if fault := unfaithful(messages, s.fitted); fault != "" {
			rt.Fatal(fault)
		}
		if s.fitted[0].Role != pawl.RoleUser {
			rt.Fatalf("it begins with %s", s.fitted[0].Role)
		}
		if got := prompt.Estimate(s.fitted); got > budget.Input && mustStay(messages) < budget.Input {
			rt.Fatalf("%d tokens, more than %d", got, budget.Input)
		}
		if !slices.EqualFunc(s.fitted, messages, func(a, b pawl.Message) bool { return a.Seq == b.Seq && reflect.DeepEqual(a, b) }) {
			did["fitted"]++
		}
		for what, n := range s.did {
			did[what] += n
		}
	})
	for _, what := range []string{"compacted", "undone", "fitted"} {
		if did[what] < 20 {
			t.Errorf("%s %d times: that shows little", what, did[what])
		}
	}
}

// Over a thousand messages each request fits, and most begin as the one before.
func TestAThousandMessagesFit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ turns, steps int }{{1, 500}, {50, 10}} {
		messages := long(t, test.turns, test.steps)
		budget := prompt.BudgetOf(model.Window{Context: 200_000, Output: 32_000})
		var s prompt.Sizes
		var before []pawl.Message
		moves, left, results := 0, 0, 0
		for n, m := range messages {
			if m.Role == pawl.RoleTool {
				results += prompt.EstimateParts(m.Parts)
			}
			if m.Role == pawl.RoleAssistant {
				continue // nobody is asked here
			}
			out := s.Fit(messages[:n+1], budget, 5000, nil)
			// To weigh all of it anew takes a while, so not each time.
			if n%9 == 0 && 5000+prompt.Estimate(out) > budget.Input {
				t.Fatalf("%d messages take %d tokens", n+1, prompt.Estimate(out))
			}
			if len(out) < n+1 {
				left++
			}
			if len(before) > len(out) || !reflect.DeepEqual(before, out[:len(before)]) {
				moves++
			}
			before = out
		}
		if most := results/20_000 + 5; moves > most || moves < 10 {
			t.Errorf("%+v: %d requests begin anew for %d tokens of results, want %d at most", test, moves, results, most)
		}
		if left > 0 {
			t.Errorf("%+v: %d requests leave something out, where results could be cleared", test, left)
		}
		t.Logf("%+v: %d tokens, %d requests begin anew, %d leave something out", test, results, moves, left)
	}
}

// Below half of the budget nothing changes, whatever the results.
func TestSmallConversationsStay(t *testing.T) {
	t.Parallel()
	messages := long(t, 1, 20)
	var s prompt.Sizes
	size := prompt.Estimate(messages)
	for _, budget := range []prompt.Budget{{Context: size, Input: 2*size + 2}, {}} {
		if !cmp.Equal(s.Fit(messages, budget, 0, nil), messages) {
			t.Errorf("%+v: it has changed", budget)
		}
	}
	if budget := (prompt.Budget{Context: size, Input: size}); cmp.Equal(s.Fit(messages, budget, 0, nil), messages) {
		t.Error("nothing is ever cleared")
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := drawLog(t, 4, 6).history.Messages()
		var s prompt.Sizes
		must := rapid.IntRange(0, len(messages)).Draw(t, "must")
		for must < len(messages) && messages[must].Role == pawl.RoleTool {
			must++
		}
		most := rapid.IntRange(0, prompt.Estimate(messages)).Draw(t, "most")
		from, tokens := s.Keep(messages, most, must)
		switch stays := prompt.Estimate(messages[from:]); {
		case from > must:
			t.Fatalf("%d stays from %d on, not %d", stays, from, must)
		case from < len(messages) && messages[from].Role == pawl.RoleTool:
			t.Fatal("results stay without their calls")
		case stays != tokens:
			t.Fatalf("%d tokens stay, not %d", stays, tokens)
		case stays > most && from < must:
			t.Fatalf("%d tokens stay, more than %d", stays, most)
		}
		next := from - 1
		for next > 0 && messages[next].Role == pawl.RoleTool {
			next--
		}
		if next >= 0 && prompt.Estimate(messages[next:]) <= most {
			t.Fatal("more could stay")
		}
	})
}

func TestTranscriptFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := drawLog(t, 4, 6).history.Messages()
		least := prompt.EstimateText(prompt.Transcript(messages[:1], 1<<30)) + 100
		most := rapid.IntRange(least, least+8000).Draw(t, "most")
		text := prompt.Transcript(messages, most)
		if got := prompt.EstimateText(text); got > most {
			t.Fatalf("%d tokens, more than %d", got, most)
		}
		for line := range strings.Lines(text) {
			own := strings.HasPrefix(line, "user:") || strings.HasPrefix(line, "assistant:") || strings.HasPrefix(line, "call of ") ||
				strings.HasPrefix(line, "result of ") || strings.HasPrefix(line, "error of ") || strings.HasPrefix(line, "file:") || strings.HasPrefix(line, "(")
			if !own && !strings.HasPrefix(line, "  ") {
				t.Fatalf("a line of its own: %q", line)
			}
		}
		if !strings.Contains(text, "Please.") {
			t.Fatal("nobody knows what it was about")
		}
	})
}

// A digest is bounded, whatever goes in.
func TestDigestIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("words and words ", 10_000)
	d := prompt.Digest{Task: "task " + long, Prompt: "prompt " + long, Summary: "summary " + long}
	for i := range 500 {
		d.Files = append(d.Files, fmt.Sprintf("file %d", i))
		d.Todos = append(d.Todos, pawl.Todo{Content: fmt.Sprintf("todo %d", i), Status: pawl.TodoPending})
		d.Skills = append(d.Skills, prompt.Skill{Name: fmt.Sprintf("skill-%d", i), Text: strings.Repeat("follow ", 20)})
	}
	d.Todos = append([]pawl.Todo{{Content: "over", Status: pawl.TodoCompleted}, {Content: "off", Status: pawl.TodoCanceled}}, d.Todos...)
	for _, test := range []struct {
		budget prompt.Budget
		most   int // tokens
	}{{prompt.Budget{}, 18_000}, {prompt.Budget{Input: 100_000}, 18_000}, {prompt.Budget{Input: 10_000}, 4000}, {prompt.Budget{Input: 1000}, 700}} {
		bound := d.Bound(test.budget)
		text := bound.Text()
		if got := prompt.EstimateText(text); got > test.most || got < test.most/5 {
			t.Errorf("%+v: %d tokens", test.budget, got)
		}
		for _, want := range []string{prompt.DigestHead, "task ", "prompt ", "summary ", `"todo 0"`, `"file 499"`, `"skill-499"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%+v: there is no %q", test.budget, want)
			}
		}
		for _, not := range []string{`"over"`, `"off"`, `"todo 499"`, `"file 0"`, `"skill-0"`} {
			if strings.Contains(text, not) {
				t.Errorf("%+v: there is %s", test.budget, not)
			}
		}
		if again := bound.Bound(test.budget); !cmp.Equal(bound, again) {
			t.Errorf("%+v: it changes when it is bound again", test.budget)
		}
	}
}
