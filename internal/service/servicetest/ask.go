package servicetest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl"
)

const asks = `{"calls":[{"name":"question","input":{"questions":[` +
	`{"header":"Store","question":"Which one?","options":[{"label":"SQLite"},{"label":"PostgreSQL"}]},` +
	`{"header":"Extras","question":"What else?","options":[{"label":"docs"},{"label":"tests"}],"multiple":true}]}}]}`

// asked waits for a question of the session and returns its event.
func (b *testEnv) asked(id pawl.SessionID) pawl.Event {
	b.Helper()
	events := b.until(id, 0, is[pawl.Asked])
	return events[len(events)-1]
}

func answer(answers ...[]string) pawl.Answer {
	return pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: answers}
}

func (b *testEnv) only(id pawl.SessionID, call pawl.CallID) pawl.CallFinished {
	b.Helper()
	for _, e := range b.log(id) {
		if f, ok := e.Body.(pawl.CallFinished); ok && f.Call == call {
			return f
		}
	}
	b.Fatalf("the call %s has no result", call)
	return pawl.CallFinished{}
}

func testAnswer(b *testEnv) {
	id := b.create()
	b.send(id, prompt("go", b.script(asks, `{"expect":"Store: SQLite\nExtras: docs; and a poem","text":"Done."}`), pawl.DeliverNow))
	ask := b.asked(id)
	for name, a := range map[string]pawl.Answer{
		"one answer too few":   answer([]string{"SQLite"}),
		"two to a single one":  answer([]string{"SQLite", "PostgreSQL"}, []string{"docs"}),
		"an empty answer":      answer([]string{"SQLite"}, nil),
		"a timeout":            {Outcome: pawl.OutcomeTimeout},
		"an unknown outcome":   {Outcome: "maybe"},
		"nothing":              {},
		"absent from a person": {Outcome: pawl.OutcomeAbsent},
	} {
		if err := b.Answer(b.Context(), id, ask.Seq, a); pawl.CodeOf(orElse(err)) != pawl.CodeInvalid {
			b.Errorf("%s: %v", name, err)
		}
	}
	for _, seq := range []pawl.Seq{-1, 0, 1, ask.Seq - 1, ask.Seq + 1, 1 << 40} {
		b.code(pawl.CodeNotFound, b.Answer(b.Context(), id, seq, answer([]string{"SQLite"}, []string{"docs"})))
	}
	b.ok(b.Answer(b.Context(), id, ask.Seq, answer([]string{"SQLite"}, []string{"docs", "and a poem"})))
	b.idle(id)
	b.code(pawl.CodeConflict, b.Answer(b.Context(), id, ask.Seq, answer([]string{"PostgreSQL"}, []string{"docs"})))
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
}

func testAnswerDenied(b *testEnv) {
	id := b.create()
	b.send(id, prompt("go", b.script(asks, `{"expect":"^null \\(the user does not want to answer\\)\\s+The user adds: guess","text":"Ok."}`), pawl.DeliverNow))
	b.ok(b.Answer(b.Context(), id, b.asked(id).Seq, pawl.Answer{Outcome: pawl.OutcomeDenied, Text: "guess"}))
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
}

// testAnswerRace checks that the first answer counts and the others get an error.
func testAnswerRace(b *testEnv) {
	id := b.create()
	b.send(id, prompt("go", b.script(asks, `{"text":"Ok."}`), pawl.DeliverNow))
	ask := b.asked(id)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			errs[i] = b.Answer(b.Context(), id, ask.Seq, answer([]string{"SQLite"}, []string{strings.Repeat("x", i+1)}))
		})
	}
	wg.Wait()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won < 0:
			won = i
		case err == nil:
			b.Errorf("answers %d and %d were both accepted", won, i)
		default:
			b.code(pawl.CodeConflict, err)
		}
	}
	b.idle(id)
	want := "Store: SQLite\nExtras: " + strings.Repeat("x", won+1)
	check(b, want, b.only(id, "call_1_1").Result.Content)
}

func testAnswerAbsent(b *testEnv) {
	id := b.create()
	p := prompt("go", b.script(asks, `{"expect":"^null \\(no user is present","text":"Ok."}`), pawl.DeliverNow)
	p.Absent = true
	b.send(id, p)
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
	check(b, 1, len(slices.DeleteFunc(b.log(id), func(e pawl.Event) bool { return !is[pawl.Answered](e) })))
}

func testAnswerCanceled(b *testEnv) {
	id := b.create()
	b.send(id, prompt("go", b.script(asks), pawl.DeliverNow))
	ask := b.asked(id)
	b.ok(b.Cancel(b.Context(), id))
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonCanceled}, b.reasons(id))
	b.code(pawl.CodeConflict, b.Answer(b.Context(), id, ask.Seq, answer([]string{"SQLite"}, []string{"docs"})))
}

// testAnswerAfterACrash checks that a question that was open at a crash is open again
// and can be answered.
func testAnswerAfterACrash(b *testEnv) {
	model := b.script(asks, `{"expect":"Store: PostgreSQL","text":"Done."}`)
	question := pawl.Question{Header: "Store", Question: "Which one?", Options: []pawl.Option{{Label: "SQLite"}, {Label: "PostgreSQL"}}}
	events := b.events(
		pawl.SessionCreated{Dir: b.dir},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "go"}}, Settings: pawl.Settings{Model: model}},
		pawl.TurnStarted{Prompt: 2},
		pawl.ReplyStarted{Step: 1, Model: model},
		pawl.Replied{Step: 1, Finish: pawl.FinishToolUse, Parts: pawl.Parts{pawl.ToolCall{ID: "a", Name: "question", Input: []byte(
			`{"questions":[{"header":"Store","question":"Which one?","options":[{"label":"SQLite"},{"label":"PostgreSQL"}]}]}`)}}},
		pawl.CallStarted{Call: "a", Tool: "question", ReadOnly: true},
		pawl.Asked{Call: "a", Ask: pawl.Ask{Kind: pawl.AskQuestion, Questions: []pawl.Question{question}}},
	)
	s := b.storeLog(events)
	// It can be answered before the session is resumed, or after.
	b.ok(b.Answer(b.Context(), s.ID, 7, answer([]string{"PostgreSQL"})))
	b.ok(b.Resume(b.Context(), s.ID))
	b.idle(s.ID)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(s.ID))
	count := map[pawl.Kind]int{}
	for _, e := range b.log(s.ID) {
		count[pawl.KindOf(e.Body)]++
	}
	check(b, 1, count["asked"])
	check(b, 1, count["answered"])
}

func testTodos(b *testEnv) {
	id := b.create()
	b.send(id, prompt("go", b.script(
		`{"calls":[{"name":"todowrite","input":{"items":[{"content":"look","status":"completed"},{"content":"fix","status":"in_progress","priority":"high"}]}}]}`,
		`{"expect":"1 of 2 done\n\\[x\\] 1: look\n\\[>\\] 2: fix \\(high\\)","calls":[{"name":"todoread"}]}`,
		`{"expect":"1 of 2 done","text":"Ok."}`,
	), pawl.DeliverNow))
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
	var todos []pawl.Todo
	for _, e := range b.log(id) {
		if set, ok := e.Body.(pawl.TodosSet); ok {
			todos = set.Todos
		}
	}
	check(b, []pawl.Todo{
		{ID: "1", Content: "look", Status: pawl.TodoCompleted, Priority: pawl.PriorityMedium},
		{ID: "2", Content: "fix", Status: pawl.TodoInProgress, Priority: pawl.PriorityHigh},
	}, todos)
}

// testPlan checks that nothing changes in plan mode until the user approves the plan.
func testPlan(b *testEnv) {
	for _, s := range []pawl.Settings{{Mode: "plan"}, {Agent: "plan"}} {
		testPlanWith(b, s)
	}
	id := b.create()
	p := prompt("go", b.script(`{"text":"never"}`), pawl.DeliverNow)
	p.Agent, p.Mode = "plan", "auto"
	_, err := b.Send(b.Context(), id, p)
	if !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), "always starts in mode plan") {
		b.Errorf("the agent plan in the mode auto: %v", err)
	}
}

// testPlanWith plans with the given settings and continues when the user approves.
func testPlanWith(b *testEnv, s pawl.Settings) {
	_ = os.Remove(filepath.Join(b.dir, "a.txt"))
	const write = `{"calls":[{"name":"write","input":{"path":"a.txt","content":"x"}}]}`
	id := b.create()
	p := prompt("go", b.script(
		write,
		`{"expect":"plan mode changes nothing[^$]*plan_exit asks to begin","calls":[{"name":"plan_exit","input":{"plan":"1. write a.txt"}}]}`,
		`{"expect":"Plan mode stays[^$]*The user adds: shorter","calls":[{"name":"plan_exit","input":{"plan":"write"}}]}`,
		`{"expect":"The user agrees","calls":[{"name":"write","input":{"path":"a.txt","content":"x"}}]}`,
		`{"expect":"\\+x","calls":[{"name":"plan_exit","input":{"plan":"again"}}]}`,
		`{"expect":"there is no tool \"plan_exit\"","text":"Done."}`,
	), pawl.DeliverNow)
	p.Agent, p.Mode = s.Agent, s.Mode
	b.send(id, p)
	first := b.asked(id)
	check(b, "1. write a.txt", first.Body.(pawl.Asked).Text)
	b.ok(b.Answer(b.Context(), id, first.Seq, pawl.Answer{Outcome: pawl.OutcomeDenied, Text: "shorter"}))
	events := b.until(id, first.Seq, is[pawl.Asked])
	b.ok(b.Answer(b.Context(), id, events[len(events)-1].Seq, answer([]string{"Begin"})))
	b.idle(id)
	check(b, []pawl.Reason{pawl.ReasonEndTurn}, b.reasons(id))
	check(b, pawl.CallDenied, b.only(id, "call_1_1").Status)
}
