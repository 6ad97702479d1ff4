package pawl

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// scribe generates logs that Pawl could have written. It has its own model of what
// may come next.
type scribe struct {
	log     []Event
	waiting []Seq
	turn    bool // a turn is open
	step    int
	asked   bool // the step waits for its reply
	calls   []CallID
	ids     int
	results map[CallID]string
}

func (s *scribe) write(b Body) { s.log = append(s.log, Event{Seq: Seq(len(s.log) + 1), Body: b}) }

// drawLog generates a log that may end anywhere, even within a turn, and the results
// of its calls.
func drawLog(t *rapid.T) ([]Event, map[CallID]string) {
	s := &scribe{results: map[CallID]string{}}
	s.write(SessionCreated{Dir: "/project"})
	for range rapid.IntRange(0, 40).Draw(t, "events") {
		rapid.SampledFrom(s.moves()).Draw(t, "move")(t)
	}
	return s.log, s.results
}

// moves returns generators of the events that may come next.
func (s *scribe) moves() []func(*rapid.T) {
	moves := []func(*rapid.T){s.title, s.prompt}
	add := func(possible bool, more ...func(*rapid.T)) {
		if possible {
			moves = append(moves, more...)
		}
	}
	between := s.turn && !s.asked && len(s.calls) == 0
	add(len(s.waiting) > 0, s.reword, s.withdraw)
	add(!s.turn && len(s.waiting) > 0, s.startTurn, s.startTurn, s.startTurn)
	add(between, s.ask, s.ask, s.ask, s.ask, s.hint, s.finishTurn)
	add(between && len(s.waiting) > 0, s.steer)
	add(s.asked, s.reply, s.reply, s.reply, s.reply, s.reply, s.finishTurn) // a turn may end without the reply
	add(len(s.calls) > 0, s.startCall, s.finishCall, s.finishCall, s.finishCall)
	return moves
}

func (s *scribe) title(*rapid.T) { s.write(SessionTitled{Title: "a title"}) }

func (s *scribe) prompt(t *rapid.T) {
	s.write(Prompted{
		Parts:    drawParts(t),
		Delivery: rapid.SampledFrom([]Delivery{DeliverNow, DeliverQueue, DeliverSteer}).Draw(t, "delivery"),
		Settings: Settings{Model: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "model")},
	})
	s.waiting = append(s.waiting, Seq(len(s.log)))
}

func drawParts(t *rapid.T) Parts {
	parts := Parts{}
	for _, text := range rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b"}), 0, 2).Draw(t, "texts") {
		parts = append(parts, Text{text})
	}
	return parts
}

func (s *scribe) reword(t *rapid.T) {
	s.write(Reworded{Prompt: rapid.SampledFrom(s.waiting).Draw(t, "prompt"), Parts: drawParts(t)})
}

func (s *scribe) withdraw(t *rapid.T) { s.write(Withdrawn{Prompt: s.take(t)}) }

// take draws one of the queued prompts.
func (s *scribe) take(t *rapid.T) Seq {
	i := rapid.IntRange(0, len(s.waiting)-1).Draw(t, "prompt")
	seq := s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return seq
}

func (s *scribe) startTurn(t *rapid.T) {
	s.write(TurnStarted{Prompt: s.take(t)})
	s.turn, s.step = true, 0
}

func (s *scribe) hint(*rapid.T)    { s.write(Injected{Source: "max_steps", Text: "wrap up"}) }
func (s *scribe) steer(t *rapid.T) { s.write(Injected{Source: "user", Prompt: s.take(t)}) }

func (s *scribe) ask(*rapid.T) {
	s.step++
	s.write(ReplyStarted{Step: s.step, Model: "m"})
	s.asked = true
}

func (s *scribe) reply(t *rapid.T) {
	parts := drawParts(t)
	for range rapid.IntRange(0, 3).Draw(t, "calls") {
		s.ids++
		id := CallID(fmt.Sprintf("call_%d", s.ids))
		parts = append(parts, call(id))
		s.calls = append(s.calls, id)
	}
	s.write(Replied{Step: s.step, Parts: parts, Finish: FinishEndTurn, Usage: Usage{Input: int64(s.step)}})
	s.asked = false
}

func (s *scribe) startCall(t *rapid.T) {
	s.write(CallStarted{Call: rapid.SampledFrom(s.calls).Draw(t, "call")})
}

func (s *scribe) finishCall(t *rapid.T) {
	i := rapid.IntRange(0, len(s.calls)-1).Draw(t, "call")
	id := s.calls[i]
	s.calls = slices.Delete(s.calls, i, i+1)
	s.results[id] = fmt.Sprintf("result %d", len(s.log))
	s.write(finished(id, s.results[id]))
}

func (s *scribe) finishTurn(*rapid.T) {
	s.write(TurnFinished{Reason: ReasonEndTurn, Steps: s.step})
	s.turn, s.asked = false, false
}

func TestHistoryGrowsAsItFolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		log, _ := drawLog(t)
		var h History
		for i, e := range log {
			if err := h.Apply(e); err != nil {
				t.Fatal(err)
			}
			want, err := Conversation(log[:i+1])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, h.Messages()); diff != "" {
				t.Fatalf("after event %d: %s", e.Seq, diff)
			}
		}
	})
}

// TestEachCallHasItsResult checks that each assistant message with calls is followed
// by a tool message with the results so far, in call order. Only at the end can one
// be missing.
func TestEachCallHasItsResult(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		log, results := drawLog(t)
		messages, err := Conversation(log)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range messages {
			calls := m.Parts.Calls()
			if len(calls) == 0 {
				continue
			}
			want := Parts{}
			for _, c := range calls {
				if content, ok := results[c.ID]; ok {
					want = append(want, result(c.ID, content))
				}
			}
			newest := i >= len(messages)-2
			if len(want) < len(calls) && !newest {
				t.Fatalf("message %d went on without the results of %v", i, calls)
			}
			if len(want) == 0 {
				continue // then it must be the newest message, or a tool message would follow
			}
			if diff := cmp.Diff(Message{m.Seq, RoleTool, want}, messages[i+1]); diff != "" {
				t.Fatalf("message %d: %s", i+1, diff)
			}
		}
	})
}
