package servicetest

import (
	"context"
	"iter"
	"time"

	"github.com/pawl-dev/pawl"
)

const imported pawl.SessionID = "01JD0000000000000000000007"

// events returns a log of these bodies, as an export would.
func (b *testEnv) events(bodies ...pawl.Body) []pawl.Event {
	var events []pawl.Event
	turn := 0
	for i, body := range bodies {
		e := pawl.Event{Session: imported, Seq: pawl.Seq(i + 1), At: time.Unix(1_700_000_000+int64(i), 0).UTC(), Body: body}
		switch body.(type) {
		case pawl.SessionCreated, pawl.SessionTitled, pawl.Prompted:
		case pawl.TurnStarted:
			turn++
			e.Turn = turn
		default:
			e.Turn = turn
		}
		events = append(events, e)
	}
	return events
}

// interruptedIn returns the log of a process that crashed during a call.
func (b *testEnv) interruptedIn(model string) []pawl.Event {
	return b.events(
		pawl.SessionCreated{Dir: b.dir},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: model}},
		pawl.TurnStarted{Prompt: 2},
		pawl.ReplyStarted{Step: 1, Model: model},
		pawl.Replied{Step: 1, Finish: pawl.FinishToolUse, Parts: pawl.Parts{
			pawl.ToolCall{ID: "a", Name: "bash", Input: []byte(`{"command":"touch a"}`)},
			pawl.ToolCall{ID: "b", Name: "list", Input: []byte(`{}`)},
		}},
		pawl.CallStarted{Call: "a", Tool: "bash", Access: []pawl.Access{{Kind: pawl.AccessExec, Target: "touch a"}}},
	)
}

func all(events []pawl.Event) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// storeLog stores a session with these events, as another process would have left it.
func (b *testEnv) storeLog(events []pawl.Event) pawl.Session {
	b.Helper()
	id := events[0].Session
	if _, err := b.store.Append(b.Context(), id, 0, events...); err != nil {
		b.Fatal(err)
	}
	return b.get(id)
}

func testResume(b *testEnv) {
	s := b.storeLog(b.interruptedIn(b.script(`{"text":"x"}`, `{"expect":"unknown","text":"Done."}`)))
	check(b, pawl.StateRunning, s.State())
	b.ok(b.Resume(b.Context(), s.ID))
	b.idle(s.ID)
	statuses := map[pawl.CallID]pawl.CallStatus{}
	for _, e := range b.log(s.ID) {
		if f, ok := e.Body.(pawl.CallFinished); ok {
			statuses[f.Call] = f.Status
		}
	}
	check(b, map[pawl.CallID]pawl.CallStatus{"a": pawl.CallUnknown, "b": pawl.CallDone}, statuses)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(s.ID))
}

func testResumeIdle(b *testEnv) {
	id := b.create()
	b.ok(b.Resume(b.Context(), id))
	check(b, 1, len(b.log(id)))
}

// testCancel checks that a cancel ends the current turn and the prompts accepted
// before it, not later ones.
func testCancel(b *testEnv) {
	id := b.create()
	model := b.script(`{"fault":"hang","text":"half of it"}`, `{"text":"New."}`)
	b.untilOnce(id, func() { b.send(id, prompt("one", model, pawl.DeliverNow)) }, is[pawl.Delta])
	b.send(id, prompt("two", model, pawl.DeliverQueue))
	b.ok(b.Cancel(b.Context(), id))
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonCanceled, pawl.ReasonCanceled}, b.reasons(id))
	check(b, []pawl.Message{
		says(pawl.RoleUser, "one"), says(pawl.RoleAssistant, "half "), says(pawl.RoleUser, "two"),
	}, b.conversation(id))

	b.send(id, prompt("three", model, pawl.DeliverNow))
	b.idle(id)
	check(b, says(pawl.RoleAssistant, "New."), b.conversation(id)[4])
}

func testCancelIdle(b *testEnv) {
	id := b.create()
	b.ok(b.Cancel(b.Context(), id))
	check(b, 1, len(b.log(id)))
}

func testCancelInterrupted(b *testEnv) {
	s := b.storeLog(b.interruptedIn(b.script(`{"text":"went on"}`)))
	b.ok(b.Cancel(b.Context(), s.ID))
	b.idle(s.ID)
	check(b, []pawl.Reason{pawl.ReasonCanceled}, b.reasons(s.ID))
}

// testEvents checks that a reader that starts at any time sees every durable event
// once, in order.
func testEvents(b *testEnv) {
	id, _ := b.busy(`{"text":"Done.","deltas":3}`)
	type watched struct {
		after  pawl.Seq
		events []pawl.Event
	}
	head := b.get(id).Head
	results := make(chan watched)
	live := make(chan struct{}, head+1)
	for after := range head + 1 {
		go func() {
			w := watched{after: after}
			defer func() { results <- w }()
			ctx, cancel := context.WithTimeout(b.Context(), patience)
			defer cancel()
			if after == head {
				live <- struct{}{} // nothing to replay
			}
			for e, err := range b.Events(ctx, id, after) {
				b.ok(err)
				w.events = append(w.events, e)
				if e.Seq == head {
					live <- struct{}{}
				}
				if err != nil || is[pawl.TurnFinished](e) {
					return
				}
			}
		}()
	}
	for range head + 1 {
		<-live
	}
	b.release("go")
	b.idle(id)
	want := b.log(id)
	for range head + 1 {
		w := <-results
		var durable []pawl.Event
		text := ""
		for _, e := range w.events {
			if d, ok := e.Body.(pawl.Delta); ok {
				text += d.Text
			}
			if e.Seq != 0 {
				durable = append(durable, e)
			}
		}
		check(b, want[w.after:], durable)
		if w.after < head && text != "Done." {
			b.Errorf("the watcher from %d on saw the reply grow to %q", w.after, text)
		}
	}
}

func testEventsEnd(b *testEnv) {
	id := b.create()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	n := 0
	for e, err := range b.Events(ctx, id, 0) {
		if n++; err != nil || e.Seq != 1 {
			b.Errorf("%v, %v", e, err)
		}
		cancel() // no more events: the loop ends without an error
	}
	check(b, 1, n)
}

func testDraft(b *testEnv) {
	id := b.create()
	_, err := b.Draft(b.Context(), id)
	b.code(pawl.CodeNotFound, err)
	// Each chunk comes so late that the draft is saved with it.
	b.send(id, prompt("go", b.script(`{"fault":"hang","reasoning":"hm","text":"half of it","delay_ms":300}`), pawl.DeliverNow))
	events := b.until(id, 0, is[pawl.ReplyStarted])
	reply := events[len(events)-1].Seq
	var got pawl.Draft
	b.eventually("the draft holds the text", func(ctx context.Context) bool {
		got, err = b.Draft(ctx, id)
		if err != nil {
			b.code(pawl.CodeNotFound, err)
		}
		return got.Text != ""
	})
	check(b, pawl.Draft{Reply: reply, Text: "half ", Reasoning: "hm"}, got)
	b.ok(b.Cancel(b.Context(), id))
	b.idle(id)
	_, err = b.Draft(b.Context(), id) // its reply has ended
	b.code(pawl.CodeNotFound, err)
}
