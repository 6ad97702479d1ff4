package servicetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
)

// task returns a call that starts a subagent.
func task(agent, prompt, more string) string {
	return fmt.Sprintf(`{"name":"task","input":{"agent":%q,"prompt":%q,"description":"a task"%s}}`, agent, prompt, more)
}

// subagents returns the session's subagents, oldest first.
func (b *testEnv) subagents(id pawl.SessionID) []pawl.Session {
	b.Helper()
	list, err := b.List(b.Context(), pawl.Filter{Parent: id})
	if err != nil {
		b.Fatal(err)
	}
	return list.Sessions
}

// testSubagents runs two subagents concurrently: each waits for a file that the other
// writes.
func testSubagents(b *testEnv) {
	first := b.script(`{"calls":[{"name":"bash","input":{"command":"touch one; until [ -e two ]; do sleep 0.01; done"}}]}`, `{"text":"First.\nDone."}`)
	second := b.script(`{"calls":[{"name":"bash","input":{"command":"until [ -e one ]; do sleep 0.01; done"}},{"name":"write","input":{"path":"two","content":"2"}}]}`, `{"text":"Second."}`)
	script := func(model string) string { return strings.TrimPrefix(model, "script:") }
	id := b.create()
	calls := fmt.Sprintf(`{"calls":[{"name":"task","input":{"agent":"general","prompt":"one","description":"the first"},"script":%q},{"name":"task","input":{"agent":"general","prompt":"two","description":"the second"},"script":%q}]}`,
		script(first), script(second))
	b.send(id, prompt("go", b.script(calls,
		`{"expect":"> First.\n> Done.[^$]*Files it wrote: two[^$]*> Second.","text":"Ok."}`), pawl.DeliverNow))
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
	check(b, 2, len(b.subagents(id)))
	for _, c := range b.subagents(id) {
		check(b, id, c.Parent)
		check(b, pawl.StateIdle, c.State())
	}
	list, err := b.List(b.Context(), pawl.Filter{})
	b.ok(err)
	check(b, 1, len(list.Sessions)) // subagents are not listed as sessions
}

// testSubagentRights checks that a subagent has no permission that its parent lacks,
// cannot ask questions and cannot start subagents.
func testSubagentRights(b *testEnv) {
	calls := `{"agent":"general","calls":[{"name":"write","input":{"path":"a","content":"x"}},{"name":"task","input":{"agent":"explore","prompt":"x","description":"x"}},{"name":"question","input":{"questions":[]}},{"name":"list"}]}`
	id := b.create()
	p := prompt("go", b.script(
		`{"calls":[`+task("general", "x", "")+`,`+task("build", "x", "")+`,`+task("nobody", "x", "")+`]}`,
		`{"expect":"> Tried.[^$]*there are: explore, general[^$]*there are: explore, general","text":"Ok."}`,
		calls, `{"agent":"general","text":"Tried."}`,
	), pawl.DeliverNow)
	p.Tools = []string{"task", "list", "question"}
	b.send(id, p)
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
	sub := b.subagents(id)[0].ID
	got := map[pawl.CallID]pawl.CallStatus{}
	for _, e := range b.log(sub) {
		if f, ok := e.Body.(pawl.CallFinished); ok {
			got[f.Call] = f.Status
		}
	}
	check(b, map[pawl.CallID]pawl.CallStatus{
		"call_1_1": pawl.CallRefused, "call_1_2": pawl.CallRefused, "call_1_3": pawl.CallRefused, "call_1_4": pawl.CallDone,
	}, got)
	if _, err := os.Stat(filepath.Join(b.dir, "a")); err == nil {
		b.Error("the child wrote a file, which its parent could not")
	}
}

// testExplorer checks that the explore agent has only read-only tools, and 20 steps.
func testExplorer(b *testEnv) {
	lines := []string{
		`{"calls":[` + task("explore", "x", "") + `]}`,
		`{"expect":"ended: max_steps, 20 steps","text":"Ok."}`,
		`{"agent":"explore","calls":[{"name":"bash","input":{"command":"touch a"}}]}`,
	}
	for i := range 18 {
		lines = append(lines, fmt.Sprintf(`{"agent":"explore","calls":[{"name":"glob","input":{"pattern":"*.%d"}}]}`, i))
	}
	lines = append(lines, `{"agent":"explore","expect":"last step","text":"So far."}`)
	id := b.create()
	b.send(id, prompt("go", b.script(lines...), pawl.DeliverNow))
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
	check(b, pawl.CallRefused, b.only(b.subagents(id)[0].ID, "call_1_1").Status)
}

// testSubagentBudget checks that a subagent gets the rest of its parent's budget, and
// that its turn ends when that is used up.
func testSubagentBudget(b *testEnv) {
	id := b.create()
	p := prompt("go", b.script(
		`{"calls":[`+task("general", "x", "")+`],"usage":{"cost":400}}`,
		`{"text":"Never: what the child has cost counts."}`,
		`{"agent":"general","calls":[{"name":"list"}],"usage":{"cost":300}}`,
		`{"agent":"general","calls":[{"name":"list"}],"usage":{"cost":300}}`,
		`{"agent":"general","text":"Never.","usage":{"cost":300}}`,
	), pawl.DeliverNow)
	p.MaxCost = 1000
	b.send(id, p)
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonBudget}, b.reasons(id))
	check(b, []pawl.Reason{pawl.ReasonBudget}, b.reasons(b.subagents(id)[0].ID))
}

// testBudgets checks that each budget ends the turn when it is used up, after one
// warning to the model, and that the session's budget counts all its turns.
func testBudgets(b *testEnv) {
	const look = `{"calls":[{"name":"list"}],"usage":{"input":30,"cache_read":10,"output":10,"cost":50}}`
	const warned = `{"expect":"Note: .*Finish the current step","calls":[{"name":"list"}],"usage":{"input":30,"cache_read":10,"output":10,"cost":50}}`
	for name, set := range map[string]func(*pawl.Settings){
		"cost":    func(s *pawl.Settings) { s.MaxCost = 150 },
		"tokens":  func(s *pawl.Settings) { s.MaxTokens = 150 },
		"session": func(s *pawl.Settings) { s.MaxSessionCost = 150 },
	} {
		b.Run(name, func(t *testing.T) {
			b := &testEnv{T: t, Service: b.Service, store: b.store, dir: b.dir, open: b.open}
			id := b.create()
			p := prompt("go", b.script(look, strings.Replace(look, `"cost":50`, `"cost":80`, 1), warned, `{"text":"Never."}`), pawl.DeliverNow)
			set(&p.Settings)
			if name == "tokens" {
				p.Parts, p.Model = pawl.Parts{pawl.Text{Text: "go"}}, b.script(look, strings.Replace(look, `"output":10`, `"output":40`, 1), warned, `{"text":"Never."}`)
			}
			b.send(id, p)
			b.idle(id)
			check(b, []pawl.Reason{pawl.ReasonBudget}, b.reasons(id))
			warnings := 0
			for _, e := range b.log(id) {
				if i, ok := e.Body.(pawl.Injected); ok && i.Source == "budget" {
					warnings++
				}
			}
			check(b, 1, warnings)
		})
	}
	id := b.create()
	p := prompt("one", b.script(`{"text":"1","usage":{"cost":60}}`, `{"text":"2","usage":{"cost":60}}`, `{"text":"3"}`), pawl.DeliverNow)
	for _, want := range []pawl.Reason{pawl.ReasonEndTurn, pawl.ReasonEndTurn, pawl.ReasonBudget} {
		p.MaxSessionCost = 100
		b.send(id, p)
		b.idle(id)
		reasons := b.reasons(id)
		check(b, want, reasons[len(reasons)-1])
	}
}

// testTimeBudget checks that the time of a turn is limited, from its start.
func testTimeBudget(b *testEnv) {
	id := b.create()
	p := prompt("go", b.script(`{"calls":[{"name":"bash","input":{"command":"sleep 0.3"}}]}`, `{"text":"Never."}`), pawl.DeliverNow)
	p.MaxTime = 200 * time.Millisecond
	b.send(id, p)
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonBudget}, b.reasons(id))
}

// testSubagentCanceled checks that canceling the parent ends the subagent, without
// waiting for its command.
func testSubagentCanceled(b *testEnv) {
	for _, more := range []string{"", `,"background":true`} {
		id := b.create()
		b.send(id, prompt("go", b.script(
			`{"calls":[`+task("general", "x", more)+`]}`, `{"text":"Waiting."}`,
			`{"agent":"general","calls":[{"name":"bash","input":{"command":"echo at work; sleep 1000"}}]}`,
		), pawl.DeliverNow))
		b.until(id, 0, is[pawl.Spawned])
		var sub pawl.SessionID
		for sub == "" {
			for _, c := range b.subagents(id) {
				sub = c.ID
			}
		}
		b.until(sub, 0, is[pawl.CallStarted])
		began := time.Now()
		b.ok(b.Cancel(b.Context(), id))
		b.idle(id)
		b.idle(sub)
		if took := time.Since(began); took > 20*time.Second {
			b.Errorf("it took %s", took)
		}
		check(b, []pawl.Reason{pawl.ReasonCanceled}, b.reasons(id))
		check(b, []pawl.Reason{pawl.ReasonCanceled}, b.reasons(sub))
	}
}

// testSubagentInBackground checks that the turn continues while a subagent works in
// the background, and does not end before it.
func testSubagentInBackground(b *testEnv) {
	id := b.create()
	b.send(id, prompt("go", b.script(
		`{"calls":[`+task("general", "x", `,"background":true`)+`]}`,
		`{"expect":"runs in the background","calls":[{"name":"bash","input":{"command":"touch go"}}]}`,
		`{"text":"I wait."}`,
		`{"expect":"^Task .* ended: end_turn[^$]*> Back.","text":"Done."}`,
		`{"agent":"general","calls":[{"name":"bash","input":{"command":"until [ -e go ]; do sleep 0.01; done; sleep 0.2"}}]}`,
		`{"agent":"general","text":"Back."}`,
	), pawl.DeliverNow))
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
}

// testSubagentAfterACrash checks that a call continues with the same subagent after a
// crash.
func testSubagentAfterACrash(b *testEnv) {
	model := b.script(
		`{"calls":[`+task("general", "x", "")+`]}`, `{"expect":"> Came through.","text":"Ok."}`,
		`{"agent":"general","calls":[{"name":"list"}]}`, `{"agent":"general","text":"Came through."}`,
	)
	const sub pawl.SessionID = "01JD0000000000000000000008"
	log := b.events(
		pawl.SessionCreated{Dir: b.dir},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: model}},
		pawl.TurnStarted{Prompt: 2},
		pawl.ReplyStarted{Step: 1, Model: model},
		pawl.Replied{Step: 1, Finish: pawl.FinishToolUse, Parts: pawl.Parts{
			pawl.ToolCall{ID: "call_1_1", Name: "task", Input: []byte(`{"agent":"general","prompt":"x","description":"a task"}`)},
		}},
		pawl.CallStarted{Call: "call_1_1", Tool: "task", ReadOnly: true},
		pawl.Spawned{Call: "call_1_1", Subagent: sub, Agent: "general", Title: "a task"},
	)
	s := b.storeLog(log)
	subagentLog := b.events(
		pawl.SessionCreated{Dir: b.dir, Parent: s.ID, ParentCall: "call_1_1"},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "x"}}, Settings: pawl.Settings{Model: model, Agent: "general"}},
		pawl.TurnStarted{Prompt: 2},
	)
	for i := range subagentLog {
		subagentLog[i].Session = sub
	}
	b.storeLog(subagentLog)
	b.ok(b.Resume(b.Context(), s.ID))
	b.idle(s.ID)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(s.ID))
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(sub))
	check(b, 1, len(b.subagents(s.ID)))
}
