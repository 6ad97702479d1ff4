package servicetest

import (
	"path/filepath"
	"slices"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
)

func testSend(b *testEnv) {
	model := b.script(
		`{"text":"I write.","calls":[{"name":"write","input":{"path":"a.txt","content":"hello\n"}}],"usage":{"input":10,"output":5,"cost":7}}`,
		`{"text":"Done.","usage":{"input":20,"output":5,"cost":8}}`,
		`{"text":"Again."}`,
	)
	id := b.create()
	seq := b.send(id, prompt("write a.txt", model, pawl.DeliverNow))
	check(b, pawl.Seq(2), seq)
	b.idle(id)
	b.send(id, prompt("again", model, pawl.DeliverNow))
	b.idle(id)

	diff := "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+hello\n"
	check(b, []pawl.Message{
		says(pawl.RoleUser, "write a.txt"),
		{Role: pawl.RoleAssistant, Parts: pawl.Parts{
			pawl.Text{Text: "I write."},
			pawl.ToolCall{ID: "call_1_1", Name: "write", Input: []byte(`{"path":"a.txt","content":"hello\n"}`)},
		}},
		{Role: pawl.RoleTool, Parts: pawl.Parts{pawl.ToolResult{Call: "call_1_1", Content: diff}}},
		says(pawl.RoleAssistant, "Done."),
		says(pawl.RoleUser, "again"),
		says(pawl.RoleAssistant, "Again."),
	}, b.conversation(id))
	row := b.get(id)
	check(b, pawl.Session{
		ID: id, Dir: b.dir, Prompt: "write a.txt", Model: model, Head: row.Head, Turns: 2, TurnAt: row.TurnAt, Ended: pawl.ReasonEndTurn, Last: "Again.",
		Usage: pawl.Usage{Input: 30, Output: 10, Cost: 15}, Created: row.Created, Updated: row.Updated,
	}, row)
}

// testSendAccepted checks that an accepted prompt is in the log, whatever happens
// then.
func testSendAccepted(b *testEnv) {
	id := b.create()
	want := pawl.Prompt{
		Parts:    pawl.Parts{pawl.Text{Text: "look at this"}, pawl.File{Name: "a.png", MediaType: "image/png", Data: []byte{0, 1, 2}}},
		Delivery: pawl.DeliverQueue,
		Settings: pawl.Settings{Agent: "build", Model: b.script(`{"text":"x"}`), Mode: "plan", MaxSteps: 3, Trusted: true},
	}
	seq := b.send(id, want)
	for e, err := range b.store.Events(b.Context(), id, seq-1) {
		if err != nil {
			b.Fatal(err)
		}
		check[pawl.Body](b, pawl.Prompted{Parts: want.Parts, Delivery: want.Delivery, Settings: want.Settings}, e.Body)
		break
	}
	b.idle(id)
}

func testSendRefuses(b *testEnv) {
	id := b.create()
	model := b.script(`{"text":"x"}`)
	with := func(parts ...pawl.Part) pawl.Prompt {
		return pawl.Prompt{Parts: parts, Settings: pawl.Settings{Model: model}}
	}
	for name, p := range map[string]pawl.Prompt{
		"no parts":             with(),
		"no text":              with(pawl.Text{}),
		"blank text":           with(pawl.Text{Text: " \n"}),
		"a call":               with(pawl.Text{Text: "x"}, pawl.ToolCall{ID: "x", Name: "bash", Input: []byte("{}")}),
		"a result":             with(pawl.Text{Text: "x"}, pawl.ToolResult{Call: "x"}),
		"an unknown delivery":  prompt("x", model, "later"),
		"no model":             prompt("x", "", pawl.DeliverNow),
		"an unknown model":     prompt("x", "gpt-0", pawl.DeliverNow),
		"a script not there":   prompt("x", "script:"+filepath.Join(b.dir, "nope.jsonl"), pawl.DeliverNow),
		"a script with a flaw": prompt("x", b.script(`{"txet":"x"}`), pawl.DeliverNow),
	} {
		if _, err := b.Send(b.Context(), id, p); pawl.CodeOf(orElse(err)) != pawl.CodeInvalid {
			b.Errorf("%s: %v", name, err)
		}
	}
	p := prompt("x", model, pawl.DeliverNow)
	p.Agent = "nobody"
	if _, err := b.Send(b.Context(), id, p); err == nil {
		b.Error("an unknown agent was accepted")
	}
	check(b, 1, len(b.log(id)))
	check(b, pawl.StateIdle, b.get(id).State())
}

// orElse returns err, or an error without a class if err is nil.
func orElse(err error) error {
	if err == nil {
		return &agent.Stop{}
	}
	return err
}

func testModelStays(b *testEnv) {
	id := b.create()
	model := b.script(`{"text":"1"}`, `{"text":"2"}`)
	b.send(id, prompt("one", model, pawl.DeliverNow))
	b.idle(id)
	b.send(id, prompt("two", "", pawl.DeliverNow))
	b.idle(id)
	check(b, model, b.get(id).Model)
	check(b, says(pawl.RoleAssistant, "2"), b.conversation(id)[3])
}

// testModeStays checks that a prompt without a mode never loosens the session's.
func testModeStays(b *testEnv) {
	model := b.script(`{"text":"1"}`, `{"text":"2"}`)
	for _, c := range []struct {
		first pawl.Settings
		next  string // the mode of the next prompt
		want  string
	}{
		{pawl.Settings{Mode: "ask"}, "", "ask"},
		{pawl.Settings{Mode: "plan"}, "", "plan"},
		{pawl.Settings{Mode: "guard"}, "", "guard"},
		{pawl.Settings{Mode: "ask"}, "guard", "guard"}, // chosen
		{pawl.Settings{Mode: "auto"}, "", ""},          // the default may be stricter
		{pawl.Settings{Agent: "plan"}, "", ""},         // the mode of the agent
		{pawl.Settings{}, "", ""},
	} {
		id, first := b.create(), prompt("one", model, pawl.DeliverNow)
		first.Agent, first.Mode = c.first.Agent, c.first.Mode
		b.send(id, first)
		b.idle(id)
		next := prompt("two", "", pawl.DeliverNow)
		next.Mode = c.next
		b.send(id, next)
		b.idle(id)
		check(b, c.want, b.get(id).Mode)
	}
}

// busy returns a session whose first turn waits for the file "go".
func (b *testEnv) busy(more ...string) (id pawl.SessionID, model string) {
	b.Helper()
	model = b.script(append([]string{waits("go")}, more...)...)
	id = b.create()
	b.send(id, prompt("first", model, pawl.DeliverNow))
	b.until(id, 0, is[pawl.CallStarted])
	return id, model
}

func testBusyRejects(b *testEnv) {
	id, model := b.busy(`{"text":"Done."}`)
	head := b.get(id).Head
	_, err := b.Send(b.Context(), id, prompt("second", model, pawl.DeliverNow))
	b.code(pawl.CodeBusy, err)
	check(b, head, b.get(id).Head)
	b.release("go")
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
}

func testBusyQueues(b *testEnv) {
	id, model := b.busy(`{"text":"Done."}`, `{"text":"Second."}`, `{"text":"Third."}`)
	second := b.send(id, prompt("second", model, pawl.DeliverQueue))
	third := b.send(id, prompt("third", model, pawl.DeliverQueue))
	check(b, second+1, third)
	check(b, 2, b.get(id).Queued)
	b.release("go")
	b.idle(id)
	got := b.conversation(id)
	check(b, []pawl.Message{
		says(pawl.RoleAssistant, "Done."),
		says(pawl.RoleUser, "second"), says(pawl.RoleAssistant, "Second."),
		says(pawl.RoleUser, "third"), says(pawl.RoleAssistant, "Third."),
	}, got[len(got)-5:])
	check(b, 0, b.get(id).Queued)
}

func testBusySteered(b *testEnv) {
	id, model := b.busy(`{"expect":"^the other way$","text":"Done."}`)
	b.send(id, prompt("the other way", model, pawl.DeliverSteer))
	b.release("go")
	b.idle(id)
	got := b.conversation(id)
	check(b, []pawl.Message{says(pawl.RoleUser, "the other way"), says(pawl.RoleAssistant, "Done.")}, got[len(got)-2:])
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
}

// testRace sends many prompts concurrently that must not wait: exactly one is
// accepted.
func testRace(b *testEnv) {
	id := b.create()
	model := b.script(waits("go"), `{"text":"Done."}`)
	const n = 20
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { _, errs[i] = b.Send(b.Context(), id, prompt("go", model, pawl.DeliverNow)) })
	}
	wg.Wait()
	accepted := 0
	for _, err := range errs {
		if err == nil {
			accepted++
		} else {
			b.code(pawl.CodeBusy, err)
		}
	}
	check(b, 1, accepted)
	b.release("go")
	b.idle(id)
	prompts := slices.DeleteFunc(b.log(id), func(e pawl.Event) bool { return !is[pawl.Prompted](e) })
	check(b, 1, len(prompts))
}
