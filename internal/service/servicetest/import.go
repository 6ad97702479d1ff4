package servicetest

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
)

var errBroken = errors.New("the file is broken")

// other returns another service of the same kind, which has no sessions.
func (b *testEnv) other() *testEnv {
	h := b.open(b.T)
	return &testEnv{T: b.T, Service: h.Service, store: h.Store, dir: b.dir, open: b.open}
}

// testImport checks that an import has the conversation and the usage of the exported
// session, and works where the importer says.
func testImport(b *testEnv) {
	id, model := b.busy(`{"text":"Done.","usage":{"input":7,"output":5}}`)
	b.send(id, prompt("next", model, pawl.DeliverSteer))
	b.release("go")
	b.idle(id)
	exported := b.log(id)

	other, dir := b.other(), b.TempDir()
	row, err := other.Import(b.Context(), pawl.NewSession{Dir: dir}, all(exported))
	b.ok(err)
	want := b.get(id)
	want.Dir, want.Model, want.Head = dir, "", row.Head
	check(b, want, row, cmpopts.IgnoreFields(pawl.Session{}, "Title"))
	check(b, b.messages(exported), b.messages(other.log(id)))

	_, err = b.Import(b.Context(), pawl.NewSession{Dir: dir}, all(exported)) // it already exists
	b.code(pawl.CodeConflict, err)
	check(b, exported, b.log(id))
	fresh, err := b.Import(b.Context(), pawl.NewSession{ID: imported, Dir: dir}, all(exported))
	b.ok(err)
	check(b, imported, fresh.ID)
	for _, n := range []pawl.NewSession{{}, {Dir: "relative"}, {Dir: dir, ID: "../x"}, {Dir: dir, Workspace: "x"}} {
		_, err := other.Import(b.Context(), n, all(exported))
		b.code(pawl.CodeInvalid, err)
	}
}

// messages returns the roles and texts of a conversation.
func (b *testEnv) messages(log []pawl.Event) (texts []string) {
	b.Helper()
	list, err := pawl.Conversation(log)
	b.ok(err)
	for _, m := range list {
		text, err := json.Marshal(m.Parts)
		b.ok(err)
		texts = append(texts, string(m.Role)+" "+string(text))
	}
	return texts
}

// hostileLog is a log with everything that could run, permit or hide something.
func (b *testEnv) hostileLog() []pawl.Event {
	settings := pawl.Settings{Agent: "build", Model: "script:" + b.dir + "/evil.jsonl", Mode: "yolo", Trusted: true, MaxSteps: 9, Tools: []string{"bash"}}
	criteria := pawl.Criteria{Base: "b0", Checks: []pawl.Check{{ID: "test", Kind: pawl.CheckTest, Args: []string{"/bin/true"}, Network: []string{"evil.example"}}}, Tools: map[string]string{"/bin/true": "sha256:x"}}
	rule := json.RawMessage(`{"tool":"bash","pattern":"*","decision":"allow"}`)
	boss := pawl.Actor{User: "boss", Token: "server"}
	return b.events(
		pawl.SessionCreated{Dir: "/etc", Owner: "boss"},
		pawl.MissionStarted{Order: pawl.MissionOrder{Goal: "go", Workers: 3, Checks: criteria.Checks}, By: boss},
		pawl.SessionShared{With: []pawl.User{"mallory"}, By: boss},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, By: boss, Settings: settings},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "and then"}}, Delivery: pawl.DeliverQueue, By: boss, Settings: settings},
		pawl.Reworded{Prompt: 5, Parts: pawl.Parts{pawl.Text{Text: "evil"}}},
		pawl.TurnStarted{Prompt: 4},
		pawl.CriteriaSet{Criteria: criteria, Hash: criteria.Hash(), Branch: "pawl/x"},
		pawl.ModeChanged{Mode: "yolo"},
		pawl.ReplyStarted{Step: 1, Model: settings.Model},
		pawl.Replied{Step: 1, Model: settings.Model, Finish: pawl.FinishToolUse, Parts: pawl.Parts{
			pawl.ToolCall{ID: "a", Name: "read", Input: []byte(`{"path":"x"}`)},
			pawl.ToolCall{ID: "b", Name: "task", Input: []byte(`{}`)},
			pawl.ToolCall{ID: "c", Name: "bash", Input: []byte(`{"command":"touch evil","unsandboxed":true}`)},
		}},
		pawl.CallStarted{Call: "a", Tool: "read", Snapshot: "snapshot", DirSnapshots: map[string]string{"/etc": "snapshot"}},
		pawl.CallFinished{Call: "a", Status: pawl.CallDone, Snapshot: "snapshot", DirSnapshots: map[string]string{"/etc": "snapshot"}, Result: pawl.Result{
			Content: "x", Seen: map[string]string{"x": "sha256:x"}, Meta: map[string]string{"exit_code": "0", "job": "7", "skill": "s"}}},
		pawl.Spawned{Call: "b", Subagent: "01JD0000000000000000000003", Agent: "general", Background: true},
		pawl.Asked{Call: "c", Ask: pawl.Ask{Kind: pawl.AskPermission, Text: "touch evil", Offer: []json.RawMessage{rule}}},
		pawl.Answered{Ask: 15, By: boss, Answer: pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: []json.RawMessage{rule}}},
		pawl.CallStarted{Call: "c", Tool: "bash", Access: []pawl.Access{{Kind: pawl.AccessEscape, Target: "touch evil"}}},
		pawl.ShellAsked{Command: "touch evil", By: boss},
		pawl.CompactionAsked{Instructions: "evil"},
	)
}

// testImportIsInert checks that an imported session has nothing that runs, wherever its
// log ends, and nothing that permits anything.
func testImportIsInert(b *testEnv) {
	events := b.hostileLog()
	for n := 1; n <= len(events); n++ {
		other := b.other()
		row, err := other.Import(b.Context(), pawl.NewSession{Dir: b.dir}, all(events[:n]))
		b.ok(err)
		check(b, []any{pawl.StateIdle, b.dir, "", pawl.User(""), pawl.SessionID(""), pawl.MissionState("")}, []any{row.State(), row.Dir, row.Model, row.Owner, row.Parent, row.Mission})
		check(b, nil, row.Shared, cmpopts.EquateEmpty())
		log := other.log(imported)
		b.ok(other.Resume(b.Context(), imported))
		other.idle(imported)
		check(b, log, other.log(imported))
		for _, e := range log {
			b.checkInert(e)
		}
	}
	below := b.events(pawl.SessionCreated{Dir: "/etc", Parent: "01JD0000000000000000000001", ParentCall: "x", Owner: "boss", Forked: &pawl.Origin{Session: "01JD0000000000000000000002", At: 2}})
	_, err := b.Import(b.Context(), pawl.NewSession{Dir: b.dir}, all(below))
	b.ok(err)
	b.checkInert(b.log(imported)[0])
}

// checkInert checks an event of an imported session.
func (b *testEnv) checkInert(e pawl.Event) {
	b.Helper()
	switch body := e.Body.(type) {
	case pawl.SessionCreated:
		check(b, pawl.SessionCreated{Dir: b.dir}, body)
	case pawl.Prompted:
		check(b, pawl.Prompted{Parts: body.Parts}, body)
	case pawl.ShellAsked:
		check(b, pawl.ShellAsked{Command: "touch evil"}, body)
	case pawl.CallStarted:
		check(b, "", body.Snapshot)
		check(b, nil, body.DirSnapshots)
	case pawl.CallFinished:
		check(b, "", body.Snapshot)
		check(b, nil, body.DirSnapshots)
		check(b, nil, body.Result.Seen, cmpopts.EquateEmpty())
		if body.Status == pawl.CallDone {
			check(b, map[string]string{"exit_code": "0"}, body.Result.Meta, cmpopts.EquateEmpty())
		}
	case pawl.SessionShared, pawl.Asked, pawl.Answered, pawl.ModeChanged, pawl.Spawned, pawl.MissionStarted, pawl.CriteriaSet:
		b.Errorf("%s was imported", pawl.KindOf(e.Body))
	default:
	}
}

// testImportGoesOn checks that the next prompt continues the imported conversation, with
// its own settings.
func testImportGoesOn(b *testEnv) {
	row, err := b.Import(b.Context(), pawl.NewSession{Dir: b.dir}, all(b.hostileLog()))
	b.ok(err)
	_, err = b.Send(b.Context(), row.ID, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "again"}}, Settings: pawl.Settings{Agent: missionapi.AgentCommander, Model: b.script(`{"text":"x"}`)}})
	b.code(pawl.CodeInvalid, err)
	seq := b.send(row.ID, prompt("again", b.script(`{"text":"x"}`, `{"expect":"again","text":"Done."}`), pawl.DeliverNow))
	b.idle(row.ID)
	log := b.log(row.ID)
	end, ok := log[len(log)-1].Body.(pawl.TurnFinished)
	if !ok || end.Reason != pawl.ReasonEndTurn {
		b.Errorf("it ended with %+v", log[len(log)-1].Body)
	}
	check(b, "", log[seq-1].Body.(pawl.Prompted).Mode)
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
		if _, err := b.Import(b.Context(), pawl.NewSession{Dir: b.dir}, all(events)); pawl.CodeOf(orElse(err)) != pawl.CodeInvalid {
			b.Errorf("%s: %v", name, err)
		}
	}
	b.noSessions()
}

func (b *testEnv) noSessions() {
	b.Helper()
	list, err := b.List(b.Context(), pawl.Filter{})
	b.ok(err)
	check(b, nil, list.Sessions, cmpopts.EquateEmpty())
}

// testImportValues checks that a value that Pawl does not write is an error that says
// where it is.
func testImportValues(b *testEnv) {
	good := bodies(b.interruptedIn("script:x"))
	with := func(i int, body pawl.Body) []pawl.Body {
		list := append([]pawl.Body(nil), good[:i]...)
		return append(list, body)
	}
	text := pawl.Parts{pawl.Text{Text: "x"}}
	usage := pawl.Usage{Cost: 1 << 62}
	for want, list := range map[string][]pawl.Body{
		`event 2 (prompted): unknown mode "root"`:                                       with(1, pawl.Prompted{Parts: text, Settings: pawl.Settings{Mode: "root"}}),
		`event 2 (prompted): delivery: unknown value "at once"`:                         with(1, pawl.Prompted{Parts: text, Delivery: "at once"}),
		`event 2 (prompted): a prompt cannot contain a pawl.ToolCall`:                   with(1, pawl.Prompted{Parts: pawl.Parts{pawl.ToolCall{ID: "x", Input: []byte("{}")}}}),
		`event 5 (replied): finish: unknown value "onward"`:                             with(4, pawl.Replied{Step: 1, Finish: "onward", Parts: text}),
		`event 5 (replied): parts: a reply cannot contain a pawl.ToolResult`:            with(4, pawl.Replied{Step: 1, Finish: pawl.FinishEndTurn, Parts: pawl.Parts{pawl.ToolResult{Call: "x"}}}),
		`event 5 (replied): usage: -1 is out of range`:                                  with(4, pawl.Replied{Step: 1, Finish: pawl.FinishEndTurn, Parts: text, Usage: pawl.Usage{Cost: -1}}),
		`event 2 (session.titled): usage: 4611686018427387904 is out of range`:          with(1, pawl.SessionTitled{Title: "x", ModelUsage: pawl.ModelUsage{Usage: usage}}),
		`event 6 (call.started): access.kind: unknown value "sudo"`:                     with(5, pawl.CallStarted{Call: "a", Tool: "bash", Access: []pawl.Access{{Kind: "sudo"}}}),
		`event 6 (call.finished): status: unknown value "pending"`:                      with(5, pawl.CallFinished{Call: "a", Status: "pending"}),
		`event 6 (call.finished): result.full: "../../x" is not the hash of an output`:  with(5, pawl.CallFinished{Call: "a", Status: pawl.CallDone, Result: pawl.Result{Full: &pawl.Blob{ID: "../../x"}}}),
		`event 6 (call.finished): result.display: a result cannot show a pawl.ToolCall`: with(5, pawl.CallFinished{Call: "a", Status: pawl.CallDone, Result: pawl.Result{Display: pawl.Parts{pawl.ToolCall{ID: "x", Input: []byte("{}")}}}}),
		`event 4 (injected): source: unknown value "root"`:                              with(3, pawl.Injected{Source: "root", Text: "x"}),
		`event 4 (turn.finished): reason: unknown value "resumable"`:                    with(3, pawl.TurnFinished{Reason: "resumable"}),
		`event 4 (turn.finished): fault: unknown value "user"`:                          with(3, pawl.TurnFinished{Reason: pawl.ReasonError, Fault: "user"}),
		`event 4 (todos.set): todos.status: unknown value "now"`:                        with(3, pawl.TodosSet{Todos: []pawl.Todo{{Status: "now", Priority: pawl.PriorityLow}}}),
		`event 4 (todos.set): todos.priority: unknown value "top"`:                      with(3, pawl.TodosSet{Todos: []pawl.Todo{{Status: pawl.TodoPending, Priority: "top"}}}),
		`event 3 (undo.asked): scope: unknown value "disk"`:                             {good[0], pawl.SessionTitled{Title: "x"}, pawl.UndoAsked{Undo: pawl.Undo{To: 2, Scope: "disk"}}},
		`event 3 (undo.asked): conflicts: unknown value "force"`:                        {good[0], pawl.SessionTitled{Title: "x"}, pawl.UndoAsked{Undo: pawl.Undo{To: 2, Conflicts: "force"}}},
		`event 4 (undo.asked): to: event 3 is not earlier in the file`:                  {good[0], pawl.SessionTitled{Title: "x"}, pawl.ModeChanged{Mode: "yolo"}, pawl.UndoAsked{Undo: pawl.Undo{To: 3}}},
		`event 3 (shell.ran): status: unknown value "later"`:                            {good[0], pawl.ShellAsked{Command: "x"}, pawl.ShellRan{Asked: 2, Status: "later"}},
	} {
		_, err := b.Import(b.Context(), pawl.NewSession{Dir: b.dir}, all(b.events(list...)))
		if pawl.CodeOf(orElse(err)) != pawl.CodeInvalid || !strings.Contains(orElse(err).Error(), want) {
			b.Errorf("got %v\nwant %s", err, want)
		}
	}
	late := b.events(good[:2]...)
	late[1].Turn = -1
	_, err := b.Import(b.Context(), pawl.NewSession{Dir: b.dir}, all(late))
	b.code(pawl.CodeInvalid, err)
	b.noSessions()
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
	_, err := b.Import(b.Context(), pawl.NewSession{Dir: b.dir}, func(yield func(pawl.Event, error) bool) {
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

// testImportUndone checks that what was undone stays undone, under new numbers.
func testImportUndone(b *testEnv) {
	text := func(s string) pawl.Parts { return pawl.Parts{pawl.Text{Text: s}} }
	log := b.events(
		pawl.SessionCreated{Dir: b.dir},
		pawl.SessionShared{}, // left out: what follows gets other numbers
		pawl.Prompted{Parts: text("one")}, pawl.TurnStarted{Prompt: 3}, pawl.TurnFinished{Reason: pawl.ReasonEndTurn},
		pawl.Prompted{Parts: text("two")}, pawl.TurnStarted{Prompt: 6}, pawl.TurnFinished{Reason: pawl.ReasonEndTurn},
		pawl.UndoAsked{Undo: pawl.Undo{To: 7}}, pawl.Undone{Asked: 9, Aside: map[string]string{"/etc/passwd": "/tmp/x"}},
		pawl.ShellAsked{Command: "ls"}, pawl.ShellStarted{Asked: 11, Snapshot: "x"}, pawl.ShellRan{Asked: 11, Status: pawl.CallDone, Result: pawl.Result{Content: "out"}},
		pawl.CompactionAsked{}, pawl.Compacted{Asked: 14, Keep: 12, Text: "summary"},
	)
	_, err := b.Import(b.Context(), pawl.NewSession{Dir: b.dir}, all(log))
	b.ok(err)
	got := b.log(imported)
	check(b, b.messages(log), b.messages(got))
	check(b, len(log)-1, len(got))
	check(b, time.Time{}.Equal(got[3].At), false)
}
