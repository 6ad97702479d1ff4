package servicetest

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

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

func (b *testEnv) importLog(events []pawl.Event) pawl.Session {
	b.Helper()
	s, err := b.Import(b.Context(), all(events))
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func testResume(b *testEnv) {
	s := b.importLog(b.interruptedIn(b.script(`{"text":"x"}`, `{"expect":"unknown","text":"Done."}`)))
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
	s := b.importLog(b.interruptedIn(b.script(`{"text":"went on"}`)))
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

var errBroken = errors.New("the file is broken")

func testImport(b *testEnv) {
	id, model := b.busy(`{"text":"Done."}`)
	b.send(id, prompt("next", model, pawl.DeliverSteer))
	b.release("go")
	b.idle(id)
	exported := b.log(id)

	h := b.open(b.T)
	other := &testEnv{T: b.T, Service: h.Service, store: h.Store, dir: b.dir, open: b.open}
	row := other.importLog(exported)
	check(b, b.get(id), row)
	check(b, exported, other.log(id))

	_, err := b.Import(b.Context(), all(exported)) // it already exists
	b.code(pawl.CodeConflict, err)
	check(b, exported, b.log(id))
}

// testImportOpen checks that a log that ends within a turn becomes an interrupted
// session.
func testImportOpen(b *testEnv) {
	events := b.interruptedIn("script:nowhere.jsonl")
	for n := 1; n <= len(events); n++ {
		h := b.open(b.T)
		other := &testEnv{T: b.T, Service: h.Service, store: h.Store, dir: b.dir}
		other.importLog(events[:n])
		check(b, events[:n], other.log(imported))
	}
}

func testImportRefuses(b *testEnv) {
	created, prompted := pawl.SessionCreated{Dir: b.dir}, pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "x"}}}
	good := b.interruptedIn("script:x")
	change := func(i int, change func(*pawl.Event)) []pawl.Event {
		events := append([]pawl.Event(nil), good...)
		change(&events[i])
		return events
	}
	for name, events := range map[string][]pawl.Event{
		"nothing":                 nil,
		"no beginning":            good[1:],
		"another beginning":       b.events(prompted),
		"two beginnings":          b.events(created, created),
		"a gap":                   append(append([]pawl.Event(nil), good[:2]...), good[3:]...),
		"an event twice":          append(append([]pawl.Event(nil), good[:2]...), good[1:]...),
		"an event of another":     change(2, func(e *pawl.Event) { e.Session = "01JD0000000000000000000008" }),
		"no session":              change(0, func(e *pawl.Event) { e.Session = "" }),
		"an id that is a path":    change(0, func(e *pawl.Event) { e.Session = "../../../etc/passwd" }),
		"a turn without a prompt": b.events(created, pawl.TurnStarted{Prompt: 2}),
		"two turns at once":       b.events(created, prompted, prompted, pawl.TurnStarted{Prompt: 2}, pawl.TurnStarted{Prompt: 3}),
		"a reply to nothing":      b.events(created, prompted, pawl.TurnStarted{Prompt: 2}, pawl.Replied{Step: 1}),
		"a result of no call":     b.events(created, prompted, pawl.TurnStarted{Prompt: 2}, pawl.CallFinished{Call: "x"}),
		"an end with open calls":  append(append([]pawl.Event(nil), good...), b.events(append(bodies(good), pawl.TurnFinished{})...)[len(good)]),
		"an unsaved event":        b.events(created, pawl.Delta{Reply: 1, Text: "x"}),
	} {
		if _, err := b.Import(b.Context(), all(events)); pawl.CodeOf(orElse(err)) != pawl.CodeInvalid {
			b.Errorf("%s: %v", name, err)
		}
	}
	list, err := b.List(b.Context(), pawl.Filter{})
	b.ok(err)
	check(b, nil, list, cmpopts.EquateEmpty())
}

func bodies(events []pawl.Event) []pawl.Body {
	var list []pawl.Body
	for _, e := range events {
		list = append(list, e.Body)
	}
	return list
}

// testImportBreaksOff checks that a log that cannot be read to its end is not
// imported at all.
func testImportBreaksOff(b *testEnv) {
	good := b.interruptedIn("script:x")
	_, err := b.Import(b.Context(), func(yield func(pawl.Event, error) bool) {
		for _, e := range good[:3] {
			if !yield(e, nil) {
				return
			}
		}
		yield(pawl.Event{}, errBroken)
	})
	if err == nil {
		b.Error("half a log was imported")
	}
	_, err = b.Get(b.Context(), imported)
	b.code(pawl.CodeNotFound, err)
}
