package transcript

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript/transcripttest"
)

// client holds the items of a front end that knows only changes.
type client map[string]Item

func (v client) apply(t rapid.TB, c Change) {
	t.Helper()
	for _, it := range c.Items {
		v[it.ID] = it
	}
	for _, id := range c.Removed {
		delete(v, id)
	}
	for _, a := range c.Appended {
		it, ok := v[a.ID]
		if !ok {
			t.Fatalf("text was appended to %s, which is not shown", a.ID)
		}
		it.Text += a.Text
		v[a.ID] = it
	}
}

func (v client) items() []Item {
	list := make([]Item, 0, len(v))
	for _, it := range v {
		list = append(list, it)
	}
	slices.SortFunc(list, Compare)
	return list
}

func text(s string) pawl.Parts { return pawl.Parts{pawl.Text{Text: s}} }

// TestChanges checks that a client that applies the changes has the same items after each event.
func TestChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tr, v := New(), client{}
		events := transcripttest.Log(t)
		for i, e := range events {
			v.apply(t, tr.Apply(e))
			if diff := cmp.Diff(tr.Items(), v.items(), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("after event %d (%T): transcript -, client +\n%s", i, e.Body, diff)
			}
		}
		loaded := New()
		loaded.Load(events)
		if diff := cmp.Diff(tr.Items(), loaded.Items()); diff != "" {
			t.Fatalf("Apply -, Load +\n%s", diff)
		}
	})
}

// takenBy returns the events with which the model read the prompts.
func takenBy(events []pawl.Event) map[pawl.Seq]pawl.Seq {
	taken := map[pawl.Seq]pawl.Seq{}
	for _, e := range events {
		if b, ok := e.Body.(pawl.TurnStarted); ok {
			taken[b.Prompt] = e.Seq
		}
	}
	return taken
}

// TestUndone checks the items against those of the events that were not undone. A prompt is undone
// with the event that started its turn.
func TestUndone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := slices.DeleteFunc(transcripttest.Log(t), func(e pawl.Event) bool { return e.Seq == 0 })
		all, effective := New(), New()
		for _, e := range events {
			all.Apply(e)
		}
		kept := map[pawl.Seq]bool{0: true}
		for e := range pawl.EffectiveEvents(pawl.SliceLog(events), pawl.ScopeConversation) {
			kept[e.Seq] = true
		}
		taken := takenBy(events)
		for _, e := range events {
			if kept[e.Seq] && kept[taken[e.Seq]] {
				effective.Apply(e)
			}
		}
		if diff := cmp.Diff(effective.Items(), all.Items()); diff != "" {
			t.Fatalf("effective events -, all events +\n%s", diff)
		}
	})
}

// TestKinds checks that every event changes something, except those about the session.
func TestKinds(t *testing.T) {
	t.Parallel()
	before := map[pawl.Kind][]pawl.Body{
		"reworded": {pawl.Prompted{}}, "withdrawn": {pawl.Prompted{}}, "answered": {pawl.Asked{}}, "delta": {pawl.ReplyStarted{}}, "progress": {pawl.CallStarted{Call: "c"}},
	}
	data := map[pawl.Kind]string{
		"reworded": `{"prompt":1,"parts":[]}`, "withdrawn": `{"prompt":1}`, "answered": `{"ask":1,"outcome":"denied"}`,
		"delta": `{"reply":1,"channel":"text","offset":0,"text":"x"}`, "progress": `{"call":"c","text":"x"}`,
		"replied": `{"parts":[{"type":"text","text":"x"}]}`,
	}
	silent := []pawl.Kind{"session.created", "session.titled", "session.summarized", "reply.started", "undo.asked"}
	for _, kind := range pawl.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			tr := New()
			for i, b := range before[kind] {
				tr.Apply(pawl.Event{Seq: pawl.Seq(i + 1), Body: b})
			}
			json := data[kind]
			if json == "" {
				json = "{}"
			}
			b, err := kind.Decode(1, []byte(json))
			if err != nil {
				t.Fatal(err)
			}
			c := tr.Apply(pawl.Event{Seq: pawl.Seq(len(before[kind]) + 1), Body: b})
			if n := len(c.Items) + len(c.Removed) + len(c.Appended); (n == 0) != slices.Contains(silent, kind) {
				t.Errorf("%d changes: %+v", n, c)
			}
		})
	}
}

// TestJoin checks that a client that joins late gets the draft, and the same item afterwards.
func TestJoin(t *testing.T) {
	t.Parallel()
	tr := New()
	tr.Apply(pawl.Event{Seq: 1, Body: pawl.ReplyStarted{}})
	tr.Apply(pawl.Event{Body: pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Offset: 5, Text: " world"}})
	if !tr.Missed() || tr.Missed() {
		t.Error("a gap must be reported once")
	}
	tr.Join(pawl.Draft{Reply: 1, Text: "hello world"})
	tr.Apply(pawl.Event{Body: pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Offset: 11, Text: "!"}})
	if d := tr.Draft(); d != (pawl.Draft{Reply: 1, Text: "hello world!"}) {
		t.Errorf("%+v", d)
	}
	it := tr.Items()[0]
	if it.Text != "hello world!" || it.State != StateStreaming {
		t.Errorf("%+v", it)
	}
	tr.Apply(pawl.Event{Seq: 2, Body: pawl.Replied{Parts: text("hello world!!")}})
	if end := tr.Items()[0]; end.ID != it.ID || end.Text != "hello world!!" || end.State != StateDone {
		t.Errorf("%+v", end)
	}
}

// TestReasoningTook checks that the time of reasoning is known without its deltas, if it is all that
// was streamed.
func TestReasoningTook(t *testing.T) {
	t.Parallel()
	for want, parts := range map[time.Duration]pawl.Parts{
		3 * time.Second: {pawl.Reasoning{Text: "hm"}, pawl.ToolCall{ID: "c", Name: "bash"}},
		0:               {pawl.Reasoning{Text: "hm"}, pawl.Text{Text: "done"}},
	} {
		tr := New()
		tr.Apply(pawl.Event{Seq: 1, At: time.Unix(1, 0), Body: pawl.ReplyStarted{}})
		tr.Apply(pawl.Event{Seq: 2, At: time.Unix(4, 0), Body: pawl.Replied{Parts: parts}})
		if got := tr.Items()[0].Took; got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// TestMissionStates checks the state in which a step leaves a mission, and what the user can do.
func TestMissionStates(t *testing.T) {
	t.Parallel()
	for want, b := range map[pawl.MissionState]pawl.Body{
		pawl.MissionSealed: pawl.Sealed{}, pawl.MissionBlocked: pawl.Blocked{Reason: "why"}, pawl.MissionPaused: pawl.Blocked{Reason: "why", State: pawl.MissionPaused},
		pawl.MissionPlanned: pawl.Blocked{Reason: "why", State: pawl.MissionPlanned}, "": pawl.Delegated{},
	} {
		it := New().Apply(pawl.Event{Seq: 1, Body: b}).Items[0]
		if it.Mission != want || strings.Contains(it.Next, "approve") != (want == pawl.MissionPlanned) {
			t.Errorf("%s: %+v", want, it)
		}
	}
}

// TestSubagents checks how long subagents work.
func TestSubagents(t *testing.T) {
	t.Parallel()
	spawned := func(n string, background bool) pawl.Spawned {
		return pawl.Spawned{Call: pawl.CallID("c" + n), Subagent: pawl.SessionID("s" + n), Background: background}
	}
	for name, tt := range map[string]struct {
		last pawl.Body
		want []State
	}{
		"start":             {spawned("3", true), []State{StateRunning, StateRunning, StateRunning}},
		"another call":      {pawl.CallFinished{Call: "x"}, []State{StateRunning, StateRunning}},
		"call":              {pawl.CallFinished{Call: "c1"}, []State{StateDone, StateRunning}},
		"in the background": {pawl.CallFinished{Call: "c2"}, []State{StateRunning, StateRunning}},
		"report":            {pawl.Injected{Source: "task", Subagent: "s2"}, []State{StateRunning, StateDone}},
		"turn":              {pawl.TurnFinished{}, []State{StateDone, StateDone}},
	} {
		tr := New()
		for i, b := range []pawl.Body{spawned("1", false), spawned("2", true), tt.last} {
			tr.Apply(pawl.Event{Seq: pawl.Seq(i + 1), Turn: 1, Body: b})
		}
		var got []State
		for it := range tr.All() {
			if it.Kind == KindSubagent {
				got = append(got, it.State)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
