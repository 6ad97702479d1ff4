package servicetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// dollar is the price of each reply of the tests of parallel subagents.
const dollar = pawl.Money(1e9)

// eightTasks returns a model that starts eight subagents at once. Each would go on for
// eight steps; every reply costs a dollar.
func (b *testEnv) eightTasks(more string) (model string) {
	const paid = `"usage":{"input":10,"output":1,"cost":1000000000}}`
	lines := []string{`{"calls":[` + strings.Join(slices.Repeat([]string{task("general", "x", more)}, 8), ",") + `],` + paid, `{"text":"Ok.",` + paid, `{"text":"Ok.",` + paid}
	for i := range 8 {
		lines = append(lines, fmt.Sprintf(`{"agent":"general","delay_ms":20,"calls":[{"name":"glob","input":{"pattern":"*.%d"}}],`, i)+paid)
	}
	return b.script(append(lines, `{"agent":"general","text":"Done.",`+paid)...)
}

// total returns the sum of the costs that each session of a tree has in its log, and
// checks that the totals which are reported for the tree agree with it.
func (b *testEnv) total(id pawl.SessionID) (sum pawl.Usage) {
	b.Helper()
	for _, s := range append(b.subagents(id), b.get(id)) {
		for _, e := range b.log(s.ID) {
			used, _ := e.ModelUsage()
			sum = sum.Add(used.Usage)
		}
	}
	check(b, sum, b.get(id).Usage)
	list, err := b.List(b.Context(), pawl.Filter{})
	b.ok(err)
	check(b, sum, list.Sessions[slices.IndexFunc(list.Sessions, func(s pawl.Session) bool { return s.ID == id })].Usage)
	rows, err := b.Usage(b.Context(), pawl.UsageFilter{Session: id})
	b.ok(err)
	var used, turns pawl.Usage
	for _, r := range rows {
		used = used.Add(r.Usage)
	}
	check(b, sum, used)
	for _, e := range b.log(id) {
		if f, ok := e.Body.(pawl.TurnFinished); ok {
			turns = turns.Add(f.Usage)
		}
	}
	check(b, sum, turns)
	return sum
}

// testParallelBudget checks that subagents which run in parallel share one budget: once
// it is used up none of them starts another reply.
func testParallelBudget(b *testEnv) {
	for name, set := range map[string]func(*pawl.Settings){
		"cost":    func(s *pawl.Settings) { s.MaxCost = 6 * dollar },
		"session": func(s *pawl.Settings) { s.MaxSessionCost = 6 * dollar },
		"tokens":  func(s *pawl.Settings) { s.MaxTokens = 66 },
	} {
		for _, more := range []string{"", `,"background":true`} {
			id := b.create()
			p := prompt("go", b.eightTasks(more), pawl.DeliverNow)
			set(&p.Settings)
			b.send(id, p)
			b.idle(id)
			check(b, []pawl.Reason{pawl.ReasonBudget}, b.reasons(id))
			if total := b.total(id).Cost; total != 6*dollar {
				b.Errorf("%s%s: it cost $%g of $6", name, more, total.Dollars())
			}
			check(b, 8, len(b.subagents(id)))
		}
	}
}

// testParallelBudgetAfterACrash checks the same for a turn that was killed after its
// subagents had spent $3, and is resumed.
func testParallelBudgetAfterACrash(b *testEnv) {
	model := b.eightTasks("")
	paid := pawl.Usage{Input: 10, Output: 1, Cost: dollar}
	bodies := []pawl.Body{
		pawl.SessionCreated{Dir: b.dir},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: model, MaxCost: 6 * dollar}},
		pawl.TurnStarted{Prompt: 2},
		pawl.ReplyStarted{Step: 1, Model: model},
	}
	replied := pawl.Replied{Step: 1, Model: model, Agent: "build", Finish: pawl.FinishToolUse, Usage: paid}
	var started []pawl.Body
	subagent := func(i int) pawl.SessionID { return pawl.SessionID(fmt.Sprintf("01JD000000000000000000001%d", i)) }
	for i := range 8 {
		call := pawl.CallID(fmt.Sprintf("call_1_%d", i+1))
		replied.Parts = append(replied.Parts, pawl.ToolCall{ID: call, Name: "task", Input: []byte(`{"agent":"general","prompt":"x","description":"a task"}`)})
		started = append(started, pawl.CallStarted{Call: call, Tool: "task", ReadOnly: true}, pawl.Spawned{Call: call, Subagent: subagent(i), Agent: "general", Title: "a task"})
	}
	s := b.storeLog(b.events(append(append(bodies, replied), started...)...))
	for i := range 3 { // the others were not created yet; of these the last was killed during its second reply
		log := []pawl.Body{
			pawl.SessionCreated{Dir: b.dir, Parent: s.ID, ParentCall: pawl.CallID(fmt.Sprintf("call_1_%d", i+1))},
			pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "x"}}, Settings: pawl.Settings{Model: model, Agent: "general"}},
			pawl.TurnStarted{Prompt: 2},
			pawl.ReplyStarted{Step: 1, Model: model},
			pawl.Replied{Step: 1, Model: model, Agent: "general", Finish: pawl.FinishToolUse, Usage: paid, Parts: pawl.Parts{pawl.ToolCall{ID: "call_1_1", Name: "glob", Input: []byte(`{"pattern":"*.0"}`)}}},
		}
		if i == 2 {
			log = append(log, pawl.CallStarted{Call: "call_1_1", Tool: "glob", ReadOnly: true}, pawl.CallFinished{Call: "call_1_1", Status: pawl.CallDone}, pawl.ReplyStarted{Step: 2, Model: model})
		}
		events := b.events(log...)
		for k := range events {
			events[k].Session = subagent(i)
		}
		b.storeLog(events)
	}
	b.ok(b.Resume(b.Context(), s.ID))
	b.idle(s.ID)
	check(b, []pawl.Reason{pawl.ReasonBudget}, b.reasons(s.ID))
	check(b, 6*dollar, b.total(s.ID).Cost)
}

// testTotals checks the totals of a session with several turns, of which each has
// subagents of its own.
func testTotals(b *testEnv) {
	id := b.create()
	p := prompt("go", b.script(
		`{"calls":[`+task("general", "x", "")+`,`+task("general", "x", "")+`],"usage":{"input":1,"cost":1000}}`, `{"text":"One.","usage":{"input":2,"cost":20}}`,
		`{"calls":[`+task("general", "x", `,"background":true`)+`],"usage":{"input":3,"cost":300}}`, `{"text":"I wait, or not."}`, `{"text":"Two, or three."}`, `{"text":"Three."}`,
		`{"agent":"general","calls":[{"name":"list"}],"usage":{"output":7,"cost":70000}}`, `{"agent":"general","text":"Done.","usage":{"output":8,"cost":800000}}`,
	), pawl.DeliverNow)
	want := []pawl.Usage{{Input: 3, Output: 30, Cost: 1_741_020}, {Input: 3, Output: 15, Cost: 870_300}, {}}
	for turn := range want {
		b.send(id, p)
		b.idle(id)
		for _, e := range b.log(id) {
			if f, ok := e.Body.(pawl.TurnFinished); ok && e.Turn == turn+1 {
				check(b, want[turn], f.Usage)
			}
		}
		b.total(id)
	}
}
