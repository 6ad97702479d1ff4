package prompt_test

import (
	"encoding/json"
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

// Whatever the log, what is made of it is what each provider takes.
func TestFittedRequestsAreTaken(t *testing.T) {
	t.Parallel()
	all := newProviders(t)
	rapid.Check(t, func(rt *rapid.T) {
		messages := drawLog(rt, 6, 8).history.Messages()
		if name, err := all.check(t.Context(), messages); err != nil {
			rt.Fatalf("%s refuses the log itself: %v", name, err)
		}
		budget := rapid.IntRange(0, prompt.Estimate(messages)+100).Draw(rt, "budget")
		cleared := prompt.ClearBefore(messages, prompt.Boundary(messages, 500, 250, rapid.IntRange(0, 2000).Draw(rt, "from")))
		fitted := cleared
		switch rapid.IntRange(0, 2).Draw(rt, "how") {
		case 0:
			fitted = prompt.DropMiddle(cleared, budget, nil)
		case 1:
			fitted = prompt.DropMiddle(messages, budget, nil)
		}
		if name, err := all.check(t.Context(), fitted); err != nil {
			rt.Fatalf("%s refuses it: %v", name, err)
		}
		if fault := unfaithful(messages, fitted); fault != "" {
			rt.Fatal(fault)
		}
	})
}

// unfaithful says what a fitted conversation has lost or changed that it must not.
func unfaithful(messages, fitted []pawl.Message) string {
	replies := map[pawl.Seq]pawl.Message{}
	for _, m := range messages {
		if m.Role == pawl.RoleAssistant {
			replies[m.Seq] = m
		}
	}
	for i, m := range fitted {
		calls := m.Parts.Calls()
		switch {
		case m.Role != pawl.RoleAssistant:
			continue
		case !cmp.Equal(m, replies[m.Seq]):
			return fmt.Sprintf("reply %d has changed", m.Seq)
		case len(calls) == 0:
			continue
		case i+1 == len(fitted) || fitted[i+1].Role != pawl.RoleTool || len(fitted[i+1].Parts) != len(calls):
			return fmt.Sprintf("reply %d has lost results", m.Seq)
		}
		for j, c := range calls {
			if r, ok := fitted[i+1].Parts[j].(pawl.ToolResult); !ok || r.Call != c.ID {
				return fmt.Sprintf("call %s has lost its result", c.ID)
			}
		}
	}
	switch last := messages[len(messages)-1]; {
	case !cmp.Equal(fitted[0], messages[0]):
		return "the first message has changed"
	case fitted[len(fitted)-1].Seq != last.Seq || fitted[len(fitted)-1].Role != last.Role:
		return "the last message is missing"
	case last.Role == pawl.RoleUser && !cmp.Equal(fitted[len(fitted)-1], last):
		return "the last message has changed"
	}
	return ""
}

// mustStay is about the least that DropMiddle can make of a conversation: the
// first message, the last turn's prompt, what was said last, the last step
// without its results' text, and the words on what is missing.
func mustStay(messages []pawl.Message) int {
	n, last := prompt.EstimateMessage(messages[0]), 0
	for i := range messages {
		if prompt.BeginsTurn(messages, i) {
			last = i
		}
	}
	prompts := last
	for ; prompts < len(messages) && messages[prompts].Role == pawl.RoleUser; prompts++ {
		n += prompt.EstimateMessage(messages[prompts])
	}
	var said, replied bool
	for i := len(messages) - 1; i >= prompts; i-- {
		switch m := messages[i]; {
		case m.Role == pawl.RoleTool && !replied:
			n += 400 * len(m.Parts)
		case m.Role == pawl.RoleAssistant && !replied:
			n += prompt.EstimateMessage(m)
			replied = true
		case m.Role == pawl.RoleUser && !said:
			n += prompt.EstimateMessage(m)
			said = true
		}
	}
	return n + 1000
}

func TestTruncateFitsTheBudget(t *testing.T) {
	t.Parallel()
	fitted := 0
	rapid.Check(t, func(t *rapid.T) {
		messages := drawLog(t, 6, 12).history.Messages()
		before := fmt.Sprint(messages)
		least, all := mustStay(messages), prompt.Estimate(messages)
		if least >= all {
			return
		}
		fitted++
		budget := rapid.IntRange(least, all).Draw(t, "budget")
		out := prompt.DropMiddle(messages, budget, nil)
		if got := prompt.Estimate(out); got > budget {
			t.Fatalf("it takes %d tokens, more than %d of %d", got, budget, all)
		}
		if !cmp.Equal(out, prompt.DropMiddle(messages, budget, nil)) {
			t.Fatal("it is another each time")
		}
		if fmt.Sprint(messages) != before {
			t.Fatal("the conversation itself has changed")
		}
	})
	if fitted < 20 {
		t.Errorf("only %d conversations were large enough to show something", fitted)
	}
}

// The place up to which results are cleared moves forward only, seldom, and
// only if that pays; between two moves requests only append.
func TestClearKeepsThePrefix(t *testing.T) {
	t.Parallel()
	moves := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawLog(t, 5, 10)
		messages := s.history.Messages()
		before := fmt.Sprint(messages)
		protect, from := rapid.IntRange(1, 3000).Draw(t, "protect"), rapid.IntRange(0, 5000).Draw(t, "from")
		stride := max(protect/2, 1)
		var place, cleared int
		for i, n := range s.asked {
			now := prompt.Boundary(messages[:n], protect, stride, from)
			switch {
			case now < place:
				t.Fatalf("request %d: the place went back from %d to %d", i, place, now)
			case now > place:
				moves++
				saved := prompt.Estimate(prompt.ClearBefore(messages[:n], place)) - prompt.Estimate(prompt.ClearBefore(messages[:n], now))
				if saved < stride {
					t.Fatalf("request %d: the move from %d to %d saves %d tokens, less than %d", i, place, now, saved, stride)
				}
				cleared += saved
			case i > 0:
				old := s.asked[i-1]
				if !reflect.DeepEqual(prompt.ClearBefore(messages[:old], place), prompt.ClearBefore(messages[:n], now)[:old]) {
					t.Fatalf("request %d begins otherwise than the one before", i)
				}
			}
			if fault := clearedTooMuch(messages[:n], now, protect, from); fault != "" {
				t.Fatalf("request %d: %s", i, fault)
			}
			place = now
		}
		if fmt.Sprint(messages) != before {
			t.Fatal("the conversation itself has changed")
		}
	})
	if moves < 20 {
		t.Errorf("the place moved %d times in all: that shows little", moves)
	}
}

// clearedTooMuch says what is cleared though it must stay.
func clearedTooMuch(messages []pawl.Message, place, protect, from int) string {
	if place > 0 && prompt.Estimate(messages) < from {
		return "the conversation is small"
	}
	newest := 0
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role != pawl.RoleTool {
			continue
		}
		if newest < protect && i < place {
			return fmt.Sprintf("message %d is among the newest %d tokens", i, protect)
		}
		newest += prompt.EstimateParts(messages[i].Parts)
	}
	return ""
}

// Clear pays off soon: what could be cleared and is not stays below a stride,
// but for results too small to be worth it.
func TestClearLeavesLittle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := drawLog(t, 1, 60).history.Messages()
		const protect, stride = 2000, 1000
		place := prompt.Boundary(messages, protect, stride, 0)
		left, newest := 0, 0
		for i, m := range slices.Backward(messages) {
			if i < place {
				break
			}
			if size := prompt.EstimateParts(m.Parts); m.Role == pawl.RoleTool {
				if newest >= protect {
					left += prompt.Estimate(messages[i:i+1]) - prompt.Estimate(prompt.ClearBefore(messages, i+1)[i:i+1])
				}
				newest += size
			}
		}
		if left >= stride+1000 {
			t.Fatalf("%d tokens could be cleared", left)
		}
	})
}

// long is a history of so many steps in so many turns, each with a result of 4,000 bytes.
func long(tb testing.TB, turns, steps int) []pawl.Message {
	tb.Helper()
	var h pawl.History
	write := func(b pawl.Body) pawl.Seq {
		e := pawl.Event{Seq: h.Head() + 1, Body: b}
		if err := h.Apply(e); err != nil {
			tb.Fatal(err)
		}
		return e.Seq
	}
	write(pawl.SessionCreated{})
	content := strings.Repeat("func main() { fmt.Println(\"hello\") }\n", 110)
	for turn := range turns {
		write(pawl.TurnStarted{Prompt: write(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "Go on, please."}}})})
		for step := range steps {
			id := pawl.CallID(fmt.Sprintf("call_%d_%d", turn, step))
			write(pawl.ReplyStarted{Step: step + 1})
			write(pawl.Replied{Step: step + 1, Parts: pawl.Parts{pawl.Text{Text: "I look."}, pawl.ToolCall{ID: id, Name: "read", Input: json.RawMessage(`{"path":"main.go"}`)}}})
			write(pawl.CallFinished{Call: id, Result: pawl.Result{Content: content}})
		}
		if turn < turns-1 {
			write(pawl.ReplyStarted{Step: steps + 1})
			write(pawl.Replied{Step: steps + 1, Parts: pawl.Parts{pawl.Text{Text: "Done."}}})
			write(pawl.TurnFinished{})
		}
	}
	return h.Messages()
}

func TestAThousandMessagesAreTaken(t *testing.T) {
	t.Parallel()
	all := newProviders(t)
	for _, test := range []struct{ turns, steps, budget int }{
		{1, 500, 100_000}, {50, 10, 100_000}, {500, 1, 30_000}, {1, 500, 6000},
	} {
		messages := long(t, test.turns, test.steps)
		if len(messages) < 1000 {
			t.Fatalf("there are %d messages", len(messages))
		}
		out := prompt.DropMiddle(prompt.Clear(messages, 40_000), test.budget, nil)
		if got := prompt.Estimate(out); got > test.budget || got < test.budget/2 {
			t.Errorf("%+v: %d tokens", test, got)
		}
		if name, err := all.check(t.Context(), out); err != nil {
			t.Errorf("%+v: %s refuses it: %v", test, name, err)
		}
	}
}

// DropMiddle moves its place seldom too: most requests extend the one before.
func TestTruncateKeepsThePrefix(t *testing.T) {
	t.Parallel()
	messages := long(t, 12, 15)
	const budget = 30_000
	var before []pawl.Message
	moves, requests := 0, 0
	for n := 3; n <= len(messages); n += 2 {
		if messages[n-1].Role == pawl.RoleAssistant {
			n++ // not where a model is asked
		}
		out := prompt.DropMiddle(messages[:min(n, len(messages))], budget, nil)
		requests++
		if len(before) > len(out) || !reflect.DeepEqual(before, out[:len(before)]) {
			moves++
		}
		before = out
	}
	total := prompt.Estimate(messages)
	if most := (total-budget)/(budget/4) + 12; moves > most || moves < 5 { // and once a turn at most
		t.Errorf("%d of %d requests begin anew, for %d tokens", moves, requests, total)
	}
}

func BenchmarkFit(b *testing.B) {
	messages := long(b, 10, 50)
	var estimated int
	run := func(name string, fit func() []pawl.Message) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				estimated += len(fit())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(messages)), "ns/message")
		})
	}
	run("Estimate", func() []pawl.Message { estimated += prompt.Estimate(messages); return nil })
	var sizes prompt.Sizes
	budget := prompt.BudgetOf(model.Window{Context: 200_000, Output: 32_000})
	run("Fit", func() []pawl.Message { return sizes.Fit(messages, budget, 5000, nil) })
	run("Size", func() []pawl.Message {
		n, _ := sizes.Size(messages, budget, 5000, prompt.Counted{Known: 1, At: messages[900].Seq})
		estimated += n
		return nil
	})
	run("DropMiddle", func() []pawl.Message { return prompt.DropMiddle(messages, 150_000, nil) })
}
