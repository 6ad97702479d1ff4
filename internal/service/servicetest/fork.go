package servicetest

import (
	"context"
	"fmt"
	"io"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
)

func (b *testEnv) fork(id pawl.SessionID, at pawl.Seq) pawl.Session {
	b.Helper()
	s, err := b.Fork(b.Context(), id, at)
	if err != nil {
		b.Fatal(err)
	}
	check(b, pawl.StateIdle, s.State())
	check(b, pawl.SessionID(""), s.Parent)
	check(b, pawl.Usage{}, s.Usage)
	created := b.log(s.ID)[0].Body.(pawl.SessionCreated)
	check(b, id, created.Forked.Session)
	return s
}

// goOn runs a turn and checks that it continues the conversation that the session
// has.
func (b *testEnv) goOn(id pawl.SessionID) {
	b.Helper()
	remembered := b.conversation(id)
	var replies int
	for _, e := range b.log(id) {
		if is[pawl.Replied](e) {
			replies++
		}
	}
	var lines []string
	for range replies {
		lines = append(lines, `{"text":"It was said before."}`)
	}
	on := prompt("on", b.script(append(lines, reply(bash("printf on > on")), `{"text":"Went on."}`)...), pawl.DeliverNow)
	on.Mode = "guard" // it may have been ask
	b.send(id, on)
	b.idle(id)
	talk := b.conversation(id)
	check(b, remembered, talk[:len(remembered)], cmpopts.EquateEmpty())
	check(b, says(pawl.RoleUser, "on"), talk[len(remembered)])
	check(b, says(pawl.RoleAssistant, "Went on."), talk[len(talk)-1])
}

// remove deletes a session once it is idle.
func (b *testEnv) remove(id pawl.SessionID) {
	b.Helper()
	b.eventually("the session is deleted", func(ctx context.Context) bool { return b.Delete(ctx, id) == nil })
}

// totals returns the sum of all usage.
func (b *testEnv) totals() (u pawl.Usage, replies int) {
	b.Helper()
	rows, err := b.Usage(b.Context(), pawl.UsageFilter{})
	b.ok(err)
	for _, r := range rows {
		u, replies = u.Add(r.Usage), replies+r.Replies
	}
	return u, replies
}

// testFork checks that a fork has the history of its origin, continues independently,
// and outlives it, with snapshots and large outputs. No usage is counted twice.
func testFork(b *testEnv) {
	id, states := b.twoTurns(reply(bash("seq 100000")), `{"text":"Three."}`)
	b.send(id, prompt("three", "", pawl.DeliverNow))
	b.idle(id)
	b.ok(b.Rename(b.Context(), id, "The parser"))
	usage, replies := b.totals()
	origin, talk := b.log(id), b.conversation(id)

	fork := b.fork(id, 0)
	check(b, talk, b.conversation(fork.ID))
	check(b, b.get(id).Turns, fork.Turns)
	check(b, []string{b.dir, "The parser"}, []string{fork.Dir, fork.Title})
	gotUsage, gotReplies := b.totals()
	check(b, usage, gotUsage)
	check(b, replies, gotReplies)
	check(b, origin, b.log(id))

	b.goOn(fork.ID)
	check(b, talk, b.conversation(id))
	_, gotReplies = b.totals()
	check(b, replies+2, gotReplies)
	b.remove(id)
	truncated := b.only(fork.ID, "call_5_1").Result.Full
	r, err := b.store.OpenBlob(b.Context(), fork.ID, truncated.ID)
	b.ok(err)
	text, err := io.ReadAll(r)
	b.ok(err)
	check(b, truncated.Size, int64(len(text)))
	b.ok(r.Close())
	for i := range 4 { // the fork's own turn, and three of its origin
		b.undo(fork.ID, pawl.Undo{})
		check(b, states[max(0, min(2, 3-i))], b.files())
	}
}

// testForkAtAnyPoint forks before each event.
func testForkAtAnyPoint(b *testEnv) {
	id, _ := b.twoTurns()
	b.undo(id, pawl.Undo{Scope: pawl.ScopeConversation})
	head := b.get(id).Head
	for at := pawl.Seq(2); at <= head+1; at++ {
		want, err := pawl.Conversation(b.log(id)[:at-1])
		b.ok(err)
		got := b.conversation(b.fork(id, at).ID)
		for i, m := range want {
			m.Seq = 0
			if m.Role == pawl.RoleTool {
				check(b, pawl.RoleTool, got[i].Role)
				continue // calls without a result have one in the fork
			}
			check(b, m, got[i])
		}
	}
	for _, at := range []pawl.Seq{-1, 1, head + 2} {
		_, err := b.Fork(b.Context(), id, at)
		b.code(pawl.CodeNotFound, err)
	}
	_, err := b.Fork(b.Context(), "01JD0000000000000000000000", 0)
	b.code(pawl.CodeNotFound, err)
}

// testForkOfABusySession checks that an open turn ends in the fork and continues in
// the origin.
func testForkOfABusySession(b *testEnv) {
	id, model := b.busy(`{"text":"Done."}`, `{"text":"Second."}`)
	b.send(id, prompt("second", model, pawl.DeliverQueue))
	fork := b.fork(id, 0)
	check(b, map[pawl.CallID]pawl.CallStatus{"call_1_1": pawl.CallCanceled}, b.statuses(fork.ID))
	check(b, []pawl.Reason{pawl.ReasonCanceled}, b.reasons(fork.ID))
	waiting, err := b.Waiting(b.Context(), fork.ID)
	b.ok(err)
	check(b, 0, len(waiting))
	b.goOn(fork.ID)
	b.release("go")
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn, pawl.ReasonEndTurn}, b.reasons(id))
}

func testForkWithAnAsk(b *testEnv) {
	id := b.create()
	b.send(id, inMode("ask", b.script(reply(bash("touch a")), `{"text":"Done."}`)))
	ask, _ := b.permission(id, 1)
	fork := b.fork(id, 0)
	b.code(pawl.CodeConflict, b.Answer(b.Context(), fork.ID, ask, pawl.Answer{Outcome: pawl.OutcomeAnswered}))
	b.goOn(fork.ID)
	b.allow(id, 1)
	b.idle(id)
	check(b, true, b.exists("a"))
}

// testForkWithOrders checks that pending requests of an interrupted session are not
// carried out in its fork.
func testForkWithOrders(b *testEnv) {
	model := b.script(`{"text":"One."}`)
	for name, order := range map[string]pawl.Body{"compact": pawl.CompactionAsked{}, "undo": pawl.UndoAsked{Undo: pawl.Undo{To: 3}}, "shell": pawl.ShellAsked{Command: "true"}} {
		log := b.events(
			pawl.SessionCreated{Dir: b.dir},
			pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "one"}}, Settings: pawl.Settings{Model: model}},
			pawl.TurnStarted{Prompt: 2},
			pawl.ReplyStarted{Step: 1, Model: model},
			pawl.Replied{Step: 1, Finish: pawl.FinishEndTurn, Parts: pawl.Parts{pawl.Text{Text: "One."}}},
			pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 1},
			order,
		)
		for i := range log {
			log[i].Session = pawl.SessionID(fmt.Sprintf("01JD000000000000000000000%d", len(name)))
		}
		s := b.storeLog(log)
		fork := b.fork(s.ID, 0)
		check(b, 2, len(b.conversation(fork.ID)))
		b.goOn(fork.ID)
		check(b, pawl.StateQueued, b.get(s.ID).State())
	}
}

// testForkOfAFork checks that a fork can redo what was undone in its origin and can
// be forked again, and that a subagent can be forked.
func testForkOfAFork(b *testEnv) {
	id, states := b.twoTurns()
	talk := b.conversation(id)
	b.undo(id, pawl.Undo{})
	first := b.fork(id, 0)
	check(b, talk[:4], b.conversation(first.ID))
	second := b.fork(first.ID, 0)
	b.undo(second.ID, pawl.Undo{Redo: pawl.LastUndo})
	check(b, talk, b.conversation(second.ID))
	check(b, states[2], b.files())
	check(b, talk[:4], b.conversation(first.ID))
	b.goOn(first.ID)

	parent := b.create()
	b.send(parent, prompt("go", b.script(
		reply(task("general", "x", "")), `{"text":"Ok."}`,
		`{"agent":"general",`+reply(write("by a child", "x"))[1:], `{"agent":"general","text":"Done."}`,
	), pawl.DeliverNow))
	b.idle(parent)
	sub := b.fork(b.subagents(parent)[0].ID, 0)
	b.goOn(sub.ID)
	b.undo(sub.ID, pawl.Undo{})
	b.undo(sub.ID, pawl.Undo{}) // which is not allowed in its origin
	check(b, false, b.exists("by a child"))
}
