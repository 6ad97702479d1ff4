package servicetest

import (
	"os"
	"path/filepath"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
)

// undo requests an undo and waits for the result.
func (b *testEnv) undo(id pawl.SessionID, r pawl.Undo) pawl.Undone {
	b.Helper()
	asked, err := b.Undo(b.Context(), id, r)
	if err != nil {
		b.Fatal(err)
	}
	events := b.until(id, asked-1, func(e pawl.Event) bool {
		done, ok := e.Body.(pawl.Undone)
		return ok && done.Asked == asked
	})
	return events[len(events)-1].Body.(pawl.Undone)
}

// files returns the regular files of the workspace.
func (b *testEnv) files() map[string]string {
	b.Helper()
	entries, err := os.ReadDir(b.dir)
	b.ok(err)
	files := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(b.dir, e.Name()))
		b.ok(err)
		files[e.Name()] = string(text)
	}
	return files
}

func (b *testEnv) put(name, text string) {
	b.Helper()
	b.ok(os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600))
}

// twoTurns returns a session that changed files in two turns, and the files before,
// between and after them.
func (b *testEnv) twoTurns(more ...string) (id pawl.SessionID, states []map[string]string) {
	b.Helper()
	b.put("a", "first")
	lines := []string{
		`{"calls":[` + bash("printf second > a; printf made > b") + `],"usage":{"input":5,"cost":7}}`, `{"text":"One."}`,
		`{"calls":[` + write("c", "third") + `,` + bash("rm a") + `],"usage":{"input":6}}`, `{"text":"Two."}`,
	}
	model := b.script(append(lines, more...)...)
	id = b.create()
	states = append(states, b.files())
	for _, text := range []string{"one", "two"} {
		b.send(id, prompt(text, model, pawl.DeliverNow))
		b.idle(id)
		states = append(states, b.files())
	}
	return id, states
}

func testUndo(b *testEnv) {
	id, states := b.twoTurns(`{"expect":"^three$","text":"Three."}`)
	talk := b.conversation(id)
	plan, err := b.Preview(b.Context(), id, pawl.Undo{})
	b.ok(err)
	check(b, pawl.Parts{pawl.Text{Text: "two"}}, plan.Prompt)
	check(b, 3, plan.Messages)
	check(b, []pawl.FileChange{{Path: "a", Kind: "create", Added: 1}, {Path: "c", Kind: "delete", Deleted: 1}}, plan.Files)
	check(b, states[2], b.files()) // a preview changes nothing

	check(b, pawl.Undone{Changed: []string{"a", "c"}}, b.undo(id, plan.Undo), cmpopts.IgnoreFields(pawl.Undone{}, "Asked"))
	check(b, states[1], b.files())
	check(b, talk[:4], b.conversation(id))
	check(b, pawl.StateIdle, b.get(id).State())
	b.undo(id, pawl.Undo{})
	check(b, states[0], b.files())
	check(b, 0, len(b.conversation(id)))
	_, err = b.Undo(b.Context(), id, pawl.Undo{})
	b.code(pawl.CodeNotFound, err)

	b.undo(id, pawl.Undo{Redo: pawl.LastUndo})
	check(b, states[1], b.files())
	b.undo(id, pawl.Undo{Redo: pawl.LastUndo})
	check(b, states[2], b.files())
	check(b, talk, b.conversation(id))
	_, err = b.Undo(b.Context(), id, pawl.Undo{Redo: pawl.LastUndo})
	b.code(pawl.CodeNotFound, err)

	b.undo(id, plan.Undo)
	b.send(id, prompt("three", "", pawl.DeliverNow))
	b.idle(id)
	check(b, append(talk[:4:4], says(pawl.RoleUser, "three"), says(pawl.RoleAssistant, "Three.")), b.conversation(id))
	_, err = b.Undo(b.Context(), id, pawl.Undo{Redo: pawl.LastUndo})
	b.code(pawl.CodeNotFound, err)
}

func testUndoRefuses(b *testEnv) {
	id := b.create()
	for _, r := range []pawl.Undo{{Scope: "x"}, {Conflicts: "x"}, {To: 1, Redo: 1}} {
		_, err := b.Preview(b.Context(), id, r)
		b.code(pawl.CodeInvalid, err)
		_, err = b.Undo(b.Context(), id, r)
		b.code(pawl.CodeInvalid, err)
	}
	for _, r := range []pawl.Undo{{}, {To: 1}, {To: 99}, {Redo: pawl.LastUndo}} {
		_, err := b.Undo(b.Context(), id, r)
		b.code(pawl.CodeNotFound, err)
	}
	check(b, 1, b.get(id).Head)
	_, err := b.Preview(b.Context(), "01JD0000000000000000000000", pawl.Undo{})
	b.code(pawl.CodeNotFound, err)
	_, err = b.Undo(b.Context(), "01JD0000000000000000000000", pawl.Undo{})
	b.code(pawl.CodeNotFound, err)
}

func testUndoBusy(b *testEnv) {
	id, _ := b.busy(`{"text":"Done."}`)
	head := b.get(id).Head
	_, err := b.Undo(b.Context(), id, pawl.Undo{})
	b.code(pawl.CodeBusy, err)
	check(b, head, b.get(id).Head)
	b.release("go")
	b.idle(id)
	b.undo(id, pawl.Undo{})
	check(b, 0, len(b.conversation(id)))
}

// testUndoConflict checks that changes that the user made since are not lost.
func testUndoConflict(b *testEnv) {
	id, states := b.twoTurns()
	b.put("c", "mine")
	talk, head := b.conversation(id), b.get(id).Head
	_, err := b.Undo(b.Context(), id, pawl.Undo{})
	b.code(pawl.CodeConflict, err)
	check(b, head, b.get(id).Head)
	check(b, talk, b.conversation(id))

	done := b.undo(id, pawl.Undo{Conflicts: pawl.ConflictsAside})
	check(b, states[1], b.files())
	kept, err := os.ReadFile(done.Aside["c"])
	b.ok(err)
	check(b, "mine", string(kept))
}

// testUndoScopes undoes the conversation and the files separately.
func testUndoScopes(b *testEnv) {
	id, states := b.twoTurns()
	talk := b.conversation(id)
	b.undo(id, pawl.Undo{Scope: pawl.ScopeConversation})
	check(b, talk[:4], b.conversation(id))
	check(b, states[2], b.files())
	b.undo(id, pawl.Undo{Redo: pawl.LastUndo})
	check(b, talk, b.conversation(id))
	b.undo(id, pawl.Undo{Scope: pawl.ScopeFiles})
	check(b, states[1], b.files())
	check(b, len(talk)+1, len(b.conversation(id))) // the model is informed
}

// testUndoInterrupted checks that a request that was pending at a crash is carried
// out first, and later prompts afterwards.
func testUndoInterrupted(b *testEnv) {
	model := b.script(`{"text":"One."}`, `{"expect":"^more$","text":"More."}`)
	s := b.storeLog(b.events(
		pawl.SessionCreated{Dir: b.dir},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "one"}}, Settings: pawl.Settings{Model: model}},
		pawl.TurnStarted{Prompt: 2},
		pawl.ReplyStarted{Step: 1, Model: model},
		pawl.Replied{Step: 1, Finish: pawl.FinishEndTurn, Parts: pawl.Parts{pawl.Text{Text: "One."}}},
		pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 1},
		pawl.UndoAsked{Undo: pawl.Undo{To: 3}},
	))
	check(b, pawl.StateQueued, s.State())
	_, err := b.Send(b.Context(), s.ID, prompt("more", model, pawl.DeliverNow))
	b.code(pawl.CodeBusy, err)
	_, err = b.Undo(b.Context(), s.ID, pawl.Undo{})
	b.code(pawl.CodeBusy, err)
	b.send(s.ID, prompt("more", model, pawl.DeliverQueue))
	b.idle(s.ID)
	check(b, []pawl.Message{says(pawl.RoleUser, "more"), says(pawl.RoleAssistant, "More.")}, b.conversation(s.ID))
	check(b, 2, b.get(s.ID).Turns)
	check(b, []pawl.Kind{"undo.asked", "prompted", "undone", "turn.started"}, kinds(b.log(s.ID)[6:10]))
}

// testUndoOfSubagents checks that the changes of subagents are undone with the call
// that spawned them, and only with it.
func testUndoOfSubagents(b *testEnv) {
	for _, more := range []string{"", `,"background":true`} {
		b.put("a", "first")
		id := b.create()
		b.send(id, prompt("go", b.script(
			reply(bash("printf parent > p"), task("general", "x", more)),
			`{"text":"Ok."}`, `{"text":"And so it ends."}`,
			`{"agent":"general",`+reply(bash("printf child > a"), write("b", "made"))[1:], `{"agent":"general","text":"Done."}`,
		), pawl.DeliverNow))
		b.idle(id)
		check(b, map[string]string{"a": "child", "b": "made", "p": "parent"}, b.files())
		sub := b.subagents(id)[0].ID
		_, err := b.Undo(b.Context(), sub, pawl.Undo{})
		b.code(pawl.CodeInvalid, err)
		check(b, []string{"a", "b", "p"}, b.undo(id, pawl.Undo{}).Changed)
		check(b, map[string]string{"a": "first"}, b.files())
		b.undo(id, pawl.Undo{Redo: pawl.LastUndo})
		check(b, map[string]string{"a": "child", "b": "made", "p": "parent"}, b.files())
		b.undo(id, pawl.Undo{})
	}
}

func testRename(b *testEnv) {
	id := b.create()
	b.ok(b.Rename(b.Context(), id, " The parser "))
	check(b, "The parser", b.get(id).Title)
	b.code(pawl.CodeInvalid, b.Rename(b.Context(), id, " \n"))
	b.code(pawl.CodeNotFound, b.Rename(b.Context(), "01JD0000000000000000000000", "x"))
	check(b, "The parser", b.get(id).Title)
}

// testCompactOrder checks that a compaction request always gets a result.
func testCompactOrder(b *testEnv) {
	id := b.create()
	_, err := b.Compact(b.Context(), id, "")
	b.code(pawl.CodeInvalid, err) // the conversation is empty
	_, err = b.Compact(b.Context(), "01JD0000000000000000000000", "")
	b.code(pawl.CodeNotFound, err)
	b.send(id, prompt("go", b.script(`{"text":"Ok."}`, `{"text":"A summary."}`, `{"text":"A summary."}`), pawl.DeliverNow))
	b.idle(id)
	asked, err := b.Compact(b.Context(), id, "keep the names")
	b.ok(err)
	events := b.until(id, asked-1, is[pawl.Compacted])
	check(b, pawl.Body(pawl.CompactionAsked{Instructions: "keep the names"}), events[0].Body)
	check(b, asked, events[len(events)-1].Body.(pawl.Compacted).Asked)
	check(b, pawl.StateIdle, b.get(id).State())
}
