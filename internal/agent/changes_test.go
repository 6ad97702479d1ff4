package agent

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

const subagentSession pawl.SessionID = "01JD0000000000000000000009"

// at is a time of a test, in minutes.
func at(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }

// timed is a body and when it happened.
type timed struct {
	minute int
	body   pawl.Body
}

// logAt appends to the log of a session.
func (w *testEnv) logAt(id pawl.SessionID, all ...timed) {
	w.t.Helper()
	row, err := w.Store.Session(context.Background(), id)
	if err != nil && !errors.Is(err, pawl.ErrNotFound) {
		w.t.Fatal(err)
	}
	var events []pawl.Event
	for _, b := range all {
		events = append(events, pawl.Event{At: at(b.minute), Body: b.body})
	}
	if _, err := w.Store.Append(context.Background(), id, row.Head, events...); err != nil {
		w.t.Fatal(err)
	}
}

func calls(ids ...pawl.CallID) pawl.Parts {
	var parts pawl.Parts
	for _, id := range ids {
		parts = append(parts, pawl.ToolCall{ID: id, Name: "bash", Input: []byte(`{}`)})
	}
	return parts
}

// What was done from a message on: by the session's calls, from right before
// their snapshot on, and by its subagents. What nobody can tell is said.
func TestChanges(t *testing.T) {
	t.Parallel()
	w := newEnv(t, setup{script: []string{`{"text":"Ok."}`}})
	w.logAt(session,
		timed{1, pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: modelRef}}},
		timed{2, pawl.TurnStarted{Prompt: 2}},
		timed{3, pawl.ReplyStarted{Step: 1}},
		timed{4, pawl.Replied{Step: 1, Finish: pawl.FinishToolUse, Parts: calls("early", "behind", "waited")}},
		timed{6, pawl.CallStarted{Call: "early", Snapshot: "e0"}},
		timed{7, pawl.CallFinished{Call: "early", Snapshot: "e1"}},
		timed{8, pawl.CallStarted{Call: "behind", ReadOnly: true}},
		timed{9, pawl.Spawned{Call: "behind", Subagent: subagentSession, Background: true}},
		timed{10, pawl.CallFinished{Call: "behind"}},
		timed{10, pawl.CallStarted{Call: "waited", ReadOnly: true}},
		timed{10, pawl.Spawned{Call: "waited", Subagent: "01JD000000000000000000000G"}}, // it does not exist
		timed{11, pawl.CallFinished{Call: "waited"}},
		timed{20, pawl.ReplyStarted{Step: 2}},
		timed{21, pawl.Replied{Step: 2, Finish: pawl.FinishToolUse, Parts: calls("one", "two", "three", "four", "five")}},
		timed{23, pawl.CallStarted{Call: "one", Snapshot: "o0"}},
		timed{24, pawl.CallFinished{Call: "one", Snapshot: "o1"}},
		timed{25, pawl.CallStarted{Call: "two", Unsafe: "too large"}},
		timed{26, pawl.CallFinished{Call: "two"}},
		timed{27, pawl.CallStarted{Call: "three", Snapshot: "t0"}},
		timed{28, pawl.CallFinished{Call: "three"}},
		timed{29, pawl.CallStarted{Call: "four", ReadOnly: true}},
		timed{30, pawl.CallFinished{Call: "four"}},
		timed{5, pawl.CallStarted{Call: "five", Snapshot: "f0"}}, // the clock was set back
		timed{6, pawl.CallFinished{Call: "five", Snapshot: "f1"}},
		timed{31, pawl.TurnFinished{}},
	)
	w.logAt(subagentSession,
		timed{9, pawl.SessionCreated{Dir: w.dir, Parent: session, ParentCall: "behind"}},
		timed{9, pawl.Prompted{}},
		timed{9, pawl.TurnStarted{Prompt: 2}},
		timed{9, pawl.ReplyStarted{Step: 1}},
		timed{9, pawl.Replied{Step: 1, Finish: pawl.FinishToolUse, Parts: calls("one", "two", "three")}},
		timed{12, pawl.CallStarted{Call: "one", Snapshot: "c0"}},
		timed{13, pawl.CallFinished{Call: "one", Snapshot: "c1"}},
		timed{22, pawl.CallStarted{Call: "two", Snapshot: "d0"}},
		timed{23, pawl.CallFinished{Call: "two", Snapshot: "d1"}},
		timed{24, pawl.CallStarted{Call: "three", Unsafe: "the disk is full"}},
		timed{25, pawl.CallFinished{Call: "three"}},
		timed{25, pawl.TurnFinished{}},
	)
	span := func(before, after string, from, to int) snapshot.Span {
		return snapshot.Span{Before: snapshot.ID(before), After: snapshot.ID(after), From: at(from), To: at(to)}
	}
	for _, tt := range []struct {
		to    pawl.Seq
		spans []snapshot.Span
		blind []pawl.CallID
	}{
		{
			3, []snapshot.Span{span("e0", "e1", 4, 7), span("c0", "c1", 9, 13), span("d0", "d1", 13, 23), span("o0", "o1", 21, 24), span("f0", "f1", 30, 30)},
			[]pawl.CallID{"behind", "waited", "two", "three"},
		},
		{
			15, []snapshot.Span{span("d0", "d1", 13, 23), span("o0", "o1", 21, 24), span("f0", "f1", 30, 30)},
			[]pawl.CallID{"behind", "two", "three"},
		},
	} {
		t.Run(fmt.Sprint(tt.to), func(t *testing.T) {
			back, err := w.resolveUndo(t.Context(), session, pawl.Undo{To: tt.to}, 0)
			if err != nil {
				t.Fatal(err)
			}
			check(t, map[string][]snapshot.Span{w.dir: tt.spans}, back.spans)
			check(t, tt.blind, back.plan.Blind)
		})
	}

	// While a subagent works, nothing goes back under its feet.
	w.logAt(subagentSession, timed{40, pawl.Prompted{}})
	if _, err := w.resolveUndo(t.Context(), session, pawl.Undo{}, 0); !errors.Is(err, pawl.ErrBusy) {
		t.Errorf("with a child at work: %v", err)
	}
	if _, err := w.resolveUndo(t.Context(), session, pawl.Undo{Scope: pawl.ScopeConversation}, 0); err != nil {
		t.Errorf("the conversation alone: %v", err)
	}
}
