package agent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// aside is an environment whose small model is the one that works.
func aside(t *testing.T, s setup) *testEnv {
	t.Helper()
	w := newEnv(t, s)
	w.SummaryModel = small
	return w
}

func small(string) (string, error) { return "small", nil }

const titleLine = `{"agent":"title","text":"Greet the world","usage":{"input":50,"output":4,"cost":7}}`

func TestTitle(t *testing.T) {
	t.Parallel()
	w := aside(t, setup{script: []string{`{"text":"Hello."}`, titleLine}})
	w.prompt("say hello\n" + strings.Repeat("and more ", 2000))
	w.mustTurn(pawl.ReasonEndTurn)
	for range 2 { // the second attempt finds the first
		if err := w.Title(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	spent := pawl.ModelUsage{Model: "small", Usage: pawl.Usage{Input: 50, Output: 4, Cost: 7}}
	check(t, []pawl.Body{pawl.SessionTitled{Title: "Greet the world", ModelUsage: spent}}, w.bodies(pawl.SessionTitled{}))
	row, err := w.Store.Session(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	check(t, spent.Usage, row.Usage)
	rows, err := w.Store.Usage(t.Context(), pawl.UsageFilter{Session: session})
	if err != nil {
		t.Fatal(err)
	}
	check(t, model.AgentTitle, rows[len(rows)-1].Agent)

	check(t, 2, len(w.model.requests))
	req := w.model.requests[1]
	text := req.Messages[0].Text()
	if !strings.Contains(text, "say hello") || len(text) > maxShownText+100 {
		t.Errorf("the model was shown %d bytes: %.60q", len(text), text)
	}
	req.Messages = nil
	check(t, model.Request{Session: session, Agent: model.AgentTitle, System: hidden[model.AgentTitle].Prompt, MaxTokens: maxSummaryTokens}, req)
}

// What has a title, or nobody to write one, is left alone.
func TestNoTitle(t *testing.T) {
	t.Parallel()
	none := func(string) (string, error) { return "", nil }
	started := pawl.TurnStarted{Prompt: 2}
	tests := []struct {
		name  string
		then  pawl.Body // what comes after the prompt
		small func(string) (string, error)
		line  string
		asked int // how often a model is
		fails bool
	}{
		{"it has one", pawl.SessionTitled{Title: "Mine"}, small, titleLine, 0, false},
		{"no small model", started, none, titleLine, 0, false},
		{"titles are switched off", started, nil, titleLine, 0, false},
		{"no prompt was taken in", pawl.Withdrawn{Prompt: 2}, small, titleLine, 0, false},
		{"the model says nothing", started, small, `{"agent":"title","text":" ** \n"}`, 1, true},
		{"the model fails", started, small, `{"agent":"title","fault":"error"}`, 1, true},
		{"the model breaks off", started, small, `{"agent":"title","text":"Greet the","fault":"drop"}`, 1, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := aside(t, setup{script: []string{`{"text":"Hello."}`, test.line}})
			w.SummaryModel = test.small
			w.prompt("say hello")
			w.append(test.then)
			before := w.events()
			if err := w.Title(t.Context(), session); (err != nil) != test.fails {
				t.Errorf("got %v", err)
			}
			check(t, before, w.events())
			check(t, test.asked, len(w.model.requests))
		})
	}
}

// TestNoTitleOfASubagent checks that subagents get neither titles nor summaries: their parent names them and reads
// their reports.
func TestNoTitleOfASubagent(t *testing.T) {
	t.Parallel()
	const subagent pawl.SessionID = "01JD0000000000000000000001"
	w := aside(t, setup{script: []string{titleLine, `{"agent":"summary","text":"Done."}`}})
	events := []pawl.Event{
		{At: noon, Body: pawl.SessionCreated{Dir: w.dir, Parent: session}},
		{At: noon, Body: pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "look"}}}},
		{At: noon, Turn: 1, Body: pawl.TurnStarted{Prompt: 2}},
		{At: noon, Turn: 1, Body: pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: 9}},
	}
	if _, err := w.Store.Append(t.Context(), subagent, 0, events...); err != nil {
		t.Fatal(err)
	}
	if err := w.Title(t.Context(), subagent); err != nil {
		t.Error(err)
	}
	if err := w.Summarize(t.Context(), Turn{Session: subagent, Number: 1, Prompt: 2}); err != nil {
		t.Error(err)
	}
	check(t, 0, len(w.model.requests))
}

// TestTitleConcurrentWrite checks that an event that is written during the model request does not prevent the title,
// unless it is a title by the user.
func TestTitleConcurrentWrite(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		concurrent pawl.Body
		want       []pawl.Body
	}{
		{"a person names it", pawl.SessionTitled{Title: "Mine"}, []pawl.Body{pawl.SessionTitled{Title: "Mine"}}},
		{
			"a person asks on", pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "and?"}}},
			[]pawl.Body{pawl.SessionTitled{Title: "Greet the world", ModelUsage: pawl.ModelUsage{Model: "small", Usage: pawl.Usage{Input: 50, Output: 4, Cost: 7}}}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := aside(t, setup{script: []string{`{"text":"Hello."}`, titleLine}})
			w.prompt("say hello")
			w.append(pawl.TurnStarted{Prompt: 2})
			w.model.begins = func(model.Request) { w.append(test.concurrent) }
			if err := w.Title(t.Context(), session); err != nil {
				t.Fatal(err)
			}
			check(t, test.want, w.bodies(pawl.SessionTitled{}))
		})
	}
}

// busy is a store in which somebody else writes just before each of the first
// appends of a title.
type busy struct {
	store.Store
	writes []pawl.Body
}

func (b *busy) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	if _, titled := events[0].Body.(pawl.SessionTitled); titled && len(b.writes) > 0 {
		other := pawl.Event{At: noon, Body: b.writes[0]}
		b.writes = b.writes[1:]
		if _, err := b.Store.Append(ctx, id, after, other); err != nil {
			return nil, err
		}
	}
	return b.Store.Append(ctx, id, after, events...)
}

// Whoever is quicker at the log's end is looked at, and the title comes after it
// or not at all.
func TestTitleConflict(t *testing.T) {
	t.Parallel()
	asks := pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "and?"}}}
	for _, test := range []struct {
		name   string
		writes []pawl.Body
		want   string
	}{
		{"prompts", []pawl.Body{asks, asks}, "Greet the world"},
		{"a person's title", []pawl.Body{asks, pawl.SessionTitled{Title: "Mine"}}, "Mine"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := aside(t, setup{script: []string{titleLine}, store: func(st store.Store) store.Store { return &busy{st, test.writes} }})
			w.prompt("say hello")
			w.append(pawl.TurnStarted{Prompt: 2})
			if err := w.Title(t.Context(), session); err != nil {
				t.Fatal(err)
			}
			titles := w.bodies(pawl.SessionTitled{})
			check(t, 1, len(titles))
			check(t, test.want, titles[0].(pawl.SessionTitled).Title)
		})
	}
}

// The session is deleted while the model thinks.
func TestTitleOfNothing(t *testing.T) {
	t.Parallel()
	w := aside(t, setup{script: []string{titleLine}})
	w.prompt("say hello")
	w.append(pawl.TurnStarted{Prompt: 2})
	w.model.begins = func(model.Request) {
		if err := w.Store.Delete(context.Background(), session); err != nil {
			t.Error(err)
		}
	}
	if err := w.Title(t.Context(), session); err == nil {
		t.Error("a session that is gone was named")
	}
}

// One try: what a model's client would do again, or ask another for, is given up.
func TestTitleIsNotRetried(t *testing.T) {
	t.Parallel()
	w := aside(t, setup{model: chunks{{
		{Kind: model.ChunkText, Text: "Half"},
		{Kind: model.ChunkRetry, Retry: pawl.Retry{Attempt: 1, Model: "dear", Kind: pawl.ErrorOverloaded, Message: "later"}},
		{Kind: model.ChunkText, Text: "Whole"},
		{Kind: model.ChunkFinish, Finish: pawl.FinishEndTurn},
	}}})
	w.prompt("say hello")
	w.append(pawl.TurnStarted{Prompt: 2})
	if err := w.Title(t.Context(), session); err == nil || !strings.Contains(err.Error(), "later") {
		t.Errorf("got %v", err)
	}
	check(t, nil, w.bodies(pawl.SessionTitled{}))
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	act := `{"calls":[{"name":"act"}]}`
	look := `{"calls":[{"name":"look"}]}`
	tests := []struct {
		name   string
		script []string
		shown  []string // to the small model; nil: it is not asked
	}{
		{"a short one", []string{look, `{"text":"Looked."}`}, nil},
		{"four steps", []string{look, look, look, `{"text":"Looked."}`}, nil},
		{"five steps", []string{look, `{"text":"Hm.","calls":[{"name":"look"}]}`, look, look, `{"text":"Looked."}`}, []string{"say hello, please", "Looked."}},
		{"files were written", []string{act, `{"text":"Acted."}`}, []string{"say hello, please", "Acted.", "It wrote:\n-----\ncall_1_1\n"}},
		{"the last words are kept", []string{`{"text":"I act.","calls":[{"name":"act"}]}`, `{"fault":"error"}`}, []string{"I act.", "The turn was ended: error."}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			script := slices.Concat(test.script, []string{`{"agent":"summary","text":"# It **was**\n` + "`done`" + `.","usage":{"output":9}}`})
			w := aside(t, setup{script: script, tools: []toolapi.Tool{toolText("act", pawl.AccessWrite, "ok"), toolText("look", pawl.AccessRead, "ok")}})
			seq := w.prompt("say hello", queue)
			w.append(pawl.Reworded{Prompt: seq, Parts: pawl.Parts{pawl.Text{Text: "say hello, please"}}})
			if _, err := w.turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			steps := len(w.model.requests)
			for range 2 { // the second attempt finds the first
				if err := w.Summarize(t.Context(), Turn{Session: session, Number: 1, Prompt: seq}); err != nil {
					t.Fatal(err)
				}
			}
			if test.shown == nil {
				check(t, steps, len(w.model.requests))
				check(t, nil, w.bodies(pawl.SessionSummarized{}))
				return
			}
			req := w.model.requests[steps]
			for _, want := range test.shown {
				if !strings.Contains(req.Messages[0].Text(), want) {
					t.Errorf("the model is not shown %q: %s", want, req.Messages[0].Text())
				}
			}
			req.Messages = nil
			check(t, model.Request{Session: session, Agent: model.AgentSummary, System: hidden[model.AgentSummary].Prompt, MaxTokens: maxSummaryTokens}, req)
			check(t, []pawl.Body{pawl.SessionSummarized{
				Summary: "It was done.", ModelUsage: pawl.ModelUsage{Model: "small", Usage: pawl.Usage{Output: 9}},
			}}, w.bodies(pawl.SessionSummarized{}))
			check(t, 1, w.events()[len(w.events())-1].Turn)
		})
	}
}

// TestSummarizeLate checks that a late summary does not replace that of a later turn and is dropped if its turn was
// undone.
func TestSummarizeLate(t *testing.T) {
	t.Parallel()
	mine := pawl.SessionSummarized{Summary: "The first.", ModelUsage: pawl.ModelUsage{Model: "small"}}
	later := pawl.SessionSummarized{Summary: "The second."}
	earlier := pawl.SessionSummarized{Summary: "The zeroth."}
	tests := []struct {
		name       string
		turn       int
		concurrent pawl.Body
		want       []pawl.Body
	}{
		{"a later turn's came", 2, later, []pawl.Body{later}},
		{"an earlier turn's came", 0, earlier, []pawl.Body{earlier, mine}},
		{"it was undone", 0, pawl.UndoAsked{Undo: pawl.Undo{To: 3}}, nil},
		{"a person asks on", 0, pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "and?"}}}, []pawl.Body{mine}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := aside(t, setup{
				script: []string{`{"calls":[{"name":"act"}]}`, `{"text":"Acted."}`, `{"agent":"summary","text":"The first."}`},
				tools:  []toolapi.Tool{toolText("act", pawl.AccessWrite, "ok")},
			})
			seq := w.prompt("act")
			w.mustTurn(pawl.ReasonEndTurn)
			w.model.begins = func(model.Request) {
				head := w.events()[len(w.events())-1].Seq
				if _, err := w.bus.Append(context.Background(), session, head, pawl.Event{At: noon, Turn: test.turn, Body: test.concurrent}); err != nil {
					t.Error(err)
				}
			}
			if err := w.Summarize(t.Context(), Turn{Session: session, Number: 1, Prompt: seq}); err != nil {
				t.Fatal(err)
			}
			check(t, test.want, w.bodies(pawl.SessionSummarized{}))
		})
	}
}

func TestCleanTitle(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 20)
	for _, test := range []struct{ text, want string }{
		{"Fix the parser", "Fix the parser"},
		{"\n\n  Fix  the\tparser.  \nIt is broken.", "Fix the parser"},
		{`"Fix the parser"`, "Fix the parser"},
		{"“Fix the parser”", "Fix the parser"},
		{"# Fix the parser", "Fix the parser"},
		{"**Fix** `parse.go`", "Fix parse.go"},
		{"Title: \"Fix the parser\"", "Fix the parser"},
		{"Fix: the parser", "Fix: the parser"},
		{"Fix \x1b[31mthe\x1b[0m par\u202eser\x00", "Fix the parser"},
		{long, strings.TrimSpace(strings.Repeat("word ", 12)) + "…"},
		{strings.Repeat("é", 100), strings.Repeat("é", 59) + "…"},
		{"---", ""},
		{"", ""},
	} {
		check(t, test.want, cleanTitle(test.text))
	}
}

func TestCleanLine(t *testing.T) {
	t.Parallel()
	check(t, "It is done. All of it.", cleanLine("## It is **done**.\r\n\n\x1b[31mAll\x1b[0m of\u202e `it`."))
}

// Whatever a model writes, a title is one short line that shows as it is.
func TestCleanTitleIsPlain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-z]{1,20}|[ \n\t#*"\x1b\x{202e}\x{e0041}]){0,40}`)).Draw(t, "text")
		for limit, line := range map[int]string{maxTitle: cleanTitle(text), maxSummary: cutWords(cleanLine(text), maxSummary)} {
			if n := utf8.RuneCountInString(line); n > limit {
				t.Fatalf("%d characters, want at most %d: %q", n, limit, line)
			}
			if sanitize.Line(line) != line || strings.TrimSpace(line) != line {
				t.Fatalf("not plain: %q", line)
			}
		}
	})
}
