package dialog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// env runs a queue and the dialog of its first ask over a real service, with a message loop.
type env struct {
	*testing.T
	servicetest.Harness
	shared *ui.Shared
	queue  *Queue
	dialog Asker
	msgs   chan tea.Msg
	id     pawl.SessionID
	failed error
}

// eventMsg is an event of the session that is shown.
type eventMsg struct{ event pawl.Event }

// sit begins a session with a prompt for the script.
func sit(t *testing.T, lines ...string) *env {
	h := servicetest.Local(t)
	d := &env{T: t, Harness: h, shared: shared(t, "dark", h.Service), msgs: make(chan tea.Msg)}
	script := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(script, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := h.Service.Create(t.Context(), pawl.NewSession{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	d.id, d.queue = s.ID, NewQueue(d.shared)
	p := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: "script:" + script, Mode: "ask"}}
	if _, err := h.Service.Send(t.Context(), s.ID, p); err != nil {
		t.Fatal(err)
	}
	return d
}

// follow shows the session from an event on.
func (d *env) follow(past []pawl.Event, after pawl.Seq) {
	d.run(d.queue.Open(d.id, past))
	go func() {
		for e, err := range d.Service.Events(d.Context(), d.id, after) {
			if err != nil {
				return
			}
			d.post(eventMsg{e})
		}
	}()
}

func (d *env) post(msg tea.Msg) {
	select {
	case d.msgs <- msg:
	case <-d.Context().Done():
	}
}

// run does what a command says, beside the screen.
func (d *env) run(cmd tea.Cmd) {
	if cmd != nil {
		go func() { d.post(cmd()) }()
	}
}

// until carries messages until something holds.
func (d *env) until(what string, holds func() bool) {
	d.Helper()
	for !holds() {
		select {
		case msg := <-d.msgs:
			d.take(msg)
		case <-d.Context().Done():
			d.Fatalf("not seen: %s", what)
		}
	}
}

func (d *env) take(msg tea.Msg) {
	switch m := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range m {
			d.run(c)
		}
	case eventMsg:
		d.run(d.queue.Apply(m.event))
	case ui.Failed:
		d.failed = m.Err
	default:
		if cmd, taken := d.queue.Update(msg); taken {
			d.run(cmd)
		} else if d.dialog != nil {
			_, cmd := d.dialog.Update(msg)
			d.run(cmd)
		}
	}
}

// asked opens the dialog of what waits, and lets it settle.
func (d *env) asked(text string) Asking {
	d.Helper()
	has := func(a Asking) bool { return strings.Contains(a.Ask.Text, text) }
	d.until(text, func() bool { return slices.ContainsFunc(d.queue.open, has) })
	a := d.queue.open[slices.IndexFunc(d.queue.open, has)]
	d.dialog = New(d.shared, a, d.queue.Len)
	d.dialog.Shown()
	settle(d.dialog)
	return a
}

// answers presses keys, and waits until the ask no longer exists.
func (d *env) answers(a Asking, keys ...string) {
	d.Helper()
	_, cmd := press(d.dialog, keys...)
	d.run(cmd)
	d.until("the answer", func() bool { return !d.queue.Has(a.ID()) })
}

// log waits until the turn has ended.
func (d *env) log() []pawl.Event {
	d.Helper()
	var events []pawl.Event
	for e, err := range d.Service.Events(d.Context(), d.id, 0) {
		if err != nil {
			d.Fatal(err)
		}
		events = append(events, e)
		if _, ended := e.Body.(pawl.TurnFinished); ended {
			return events
		}
	}
	d.Fatal("the turn has not ended")
	return nil
}

// TestWholeStory: several calls ask; each is answered in its own way, a rule after
// it was made narrower.
func TestWholeStory(t *testing.T) { //nolint:paralleltest // it sets environment variables
	d := sit(t,
		`{"calls":[{"name":"bash","input":{"command":"touch one two"}},{"name":"bash","input":{"command":"touch three"}}]}`,
		`{"expect":"the user denied it and said: not that","calls":[{"name":"bash","input":{"command":"touch four"}}]}`,
		`{"text":"Never."}`)
	d.follow(nil, 0)
	one := d.asked("touch one two")
	keys := []string{"e"}
	for range len(` two`) {
		keys = append(keys, "backspace")
	}
	d.answers(one, append(keys, `: *`, "enter", "3")...)
	d.answers(d.asked("touch three"), "4", ":not that", "enter")
	d.answers(d.asked("touch four"), "esc")
	var got []pawl.Answer
	for _, e := range d.log() {
		if a, ok := e.Body.(pawl.Answered); ok {
			if a.Names == "" {
				t.Error("an answer does not name what it is for")
			}
			a.Names = ""
			got = append(got, a.Answer)
		}
	}
	want := []pawl.Answer{
		{Outcome: pawl.OutcomeAnswered, Always: rules(`{"decision":"allow","pattern":"touch one *","tool":"bash"}`)},
		{Outcome: pawl.OutcomeDenied, Text: "not that"},
		{Outcome: pawl.OutcomeDenied},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestRejectedRule checks that the dialog shows why the service rejects a rule that is too broad for a saved answer.
func TestRejectedRule(t *testing.T) { //nolint:paralleltest // it sets environment variables
	d := sit(t, `{"calls":[{"name":"bash","input":{"command":"touch one"}}]}`, `{"text":"Never."}`)
	d.follow(nil, 0)
	one := d.asked("touch one")
	keys := []string{"e"}
	for range len(`touch one`) {
		keys = append(keys, "backspace")
	}
	_, cmd := press(d.dialog, append(keys, `:bash *`, "enter", "3")...)
	d.run(cmd)
	d.until("the reason", func() bool { return strings.Contains(d.dialog.View(120, 40), "runs any command it is given") })
	d.answers(one, "esc")
}

const subagentScript = `{"agent":"general","calls":[{"name":"bash","input":{"command":"touch made"}}]}`

// TestSubagentAsk checks that the ask of a subagent is shown with its name, also if the session is opened after the
// subagent has started.
func TestSubagentAsk(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, late := range []bool{false, true} {
		d := sit(t, `{"calls":[{"name":"task","input":{"agent":"general","prompt":"do it","description":"make the thing"}}]}`,
			`{"expect":"made it","text":"Done."}`, subagentScript, `{"agent":"general","text":"made it"}`)
		if late {
			subagentFeed := waitForAsk(d)
			row, err := d.Service.Get(t.Context(), subagentFeed.Parent)
			if err != nil {
				t.Fatal(err)
			}
			d.follow(nil, row.Head)
		} else {
			d.follow(nil, 0)
		}
		asking := d.asked("touch made")
		if !strings.Contains(asking.Who, "Subagent") || asking.Session == d.id {
			t.Errorf("late %v: %q of %s asks", late, asking.Who, asking.Session)
		}
		if !late && asking.Who != `Subagent "make the thing" (general)` {
			t.Errorf("%s asks", asking.Who)
		}
		if view := d.dialog.View(80, 24); !strings.Contains(view, "asks:") {
			t.Errorf("late %v: the dialog does not say who asks:\n%s", late, view)
		}
		d.answers(asking, "1")
		if end := d.log(); end[len(end)-1].Body.(pawl.TurnFinished).Reason != pawl.ReasonEndTurn {
			t.Errorf("late %v: ended with %+v", late, end[len(end)-1].Body)
		}
		d.until("the child is heard no more", func() bool { return len(d.queue.heard) == 0 })
		if d.failed != nil {
			t.Error(d.failed)
		}
	}
}

// waitForAsk returns a subagent once it asks.
func waitForAsk(d *env) pawl.Session {
	d.Helper()
	for e, err := range d.Service.Events(d.Context(), d.id, 0) {
		if err != nil {
			d.Fatal(err)
		}
		s, ok := e.Body.(pawl.Spawned)
		if !ok {
			continue
		}
		c := &subagentFeed{id: s.Subagent}
		row, err := c.waitForSession(d.Context(), d.Service)
		if err != nil {
			d.Fatal(err)
		}
		for e, err := range d.Service.Events(d.Context(), s.Subagent, 0) {
			if err != nil {
				d.Fatal(err)
			}
			if _, asks := e.Body.(pawl.Asked); asks {
				return row
			}
		}
	}
	d.Fatal("nobody asks")
	return pawl.Session{}
}

// TestQueue: the oldest comes first; what is answered does not come back; another
// session begins with nothing.
func TestQueue(t *testing.T) { //nolint:paralleltest // it sets environment variables
	q := NewQueue(shared(t, "dark", servicetest.Local(t).Service))
	ask := func(seq pawl.Seq) pawl.Event { return pawl.Event{Seq: seq, Body: pawl.Asked{}} }
	q.Open("s", []pawl.Event{ask(3), ask(4), {Seq: 5, Body: pawl.Answered{Ask: 3}}})
	q.Apply(ask(6))
	if front, _ := q.Front(); front.ID() != (ID{"s", 4}) || q.Len() != 2 {
		t.Errorf("front %v of %d", front.ID(), q.Len())
	}
	q.Update(Resolved{ID{"s", 4}})
	q.Apply(ask(4))
	if front, _ := q.Front(); front.Seq != 6 {
		t.Errorf("front %v: an answered ask came back", front.ID())
	}
	c := &subagentFeed{id: "c", done: t.Context().Done()}
	q.heard["c"] = c
	q.Update(subagentAsksMsg{subagentFeed: c, open: []Asking{{Session: "c", Seq: 2}, {Session: "c", Seq: 3}}})
	q.Update(subagentAsksMsg{subagentFeed: c, open: []Asking{{Session: "c", Seq: 3}}})
	q.Update(subagentAsksMsg{subagentFeed: &subagentFeed{id: "c"}, open: []Asking{{Session: "c", Seq: 9}}})
	if q.Len() != 2 || !q.Has(ID{"c", 3}) {
		t.Errorf("open: %v", q.open)
	}
	q.Apply(pawl.Event{Seq: 8, Body: pawl.TurnFinished{}})
	if q.Len() != 1 || !q.Has(ID{"c", 3}) {
		t.Errorf("after the turn: %v", q.open)
	}
	q.Apply(pawl.Event{Seq: 9, Body: pawl.Spawned{Subagent: "d", Agent: "\x1b[2J", Title: "a\nb\u202e"}})
	if r, bad := acts(q.heard["d"].who); bad || strings.Contains(q.heard["d"].who, "\n") {
		t.Errorf("%U is in the name of who asks: %q", r, q.heard["d"].who)
	}
	q.Apply(pawl.Event{Seq: 10, Body: pawl.TaskStarted{Task: "T1", Worker: "w"}})
	q.Apply(pawl.Event{Seq: 11, Body: pawl.ReviewStarted{Round: 1, Reviewer: "r"}})
	if q.heard["w"] == nil || q.heard["w"].who != `Subagent "T1" (worker)` || q.heard["r"] == nil {
		t.Error("a mission's team is not heard")
	}
	q.Open("other", nil)
	if _, any := q.Front(); any {
		t.Error("another session's asks are kept")
	}
}
