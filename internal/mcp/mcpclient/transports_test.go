package mcpclient

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// cases are what every transport must do.
var cases = []struct {
	name, way string
	test      func(t *testing.T, w *env)
}{
	{"echo", "good", testEcho},
	{"prompts and resources", "good", testPrompts},
	{"results", "results", testResults},
	{"progress", "progress", testProgress},
	{"cancel", "waits", testCancel},
	{"timeout", "waits", testTimeout},
	{"list changed", "grows", testGrows},
	{"elicitation", "asks", testAsks},
	{"elicitation again and again", "asks", testPester},
	{"elicitation flood", "asks", testAskFlood},
	{"roots and sampling", "roots", testRoots},
	{"shadowing names", "shadow", testShadow},
	{"rug pull", "rug", testRug},
	{"huge list", "many", testMany},
	{"endless list", "endless", testEndless},
	{"hidden text", "hidden", testHidden},
	{"schema bombs", "schemas", testSchemas},
	{"result bombs", "bomb", testBomb},
	{"dies in a call", "dies", testDies},
	{"changes all the time", "churns", testChurns},
}

func TestTransports(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) { each(t, c.way, c.test) })
	}
	t.Logf("mcp: %d cases over %s", len(cases)*len(transports), strings.Join(transports, ", "))
}

func testEcho(t *testing.T, w *env) {
	s := w.ready()
	if diff := cmp.Diff([]string{"mcp__fake__echo"}, s.Tools); diff != "" {
		t.Error(diff)
	}
	if (s.PID > 0) != (w.server.Transport == Stdio) {
		t.Errorf("its number is %d", s.PID)
	}
	tool := w.tool("echo")
	if tool.Risk != toolapi.RiskModerate || tool.Description != "(MCP server fake) Says it again." || string(tool.Schema) != `{"type":"object"}` {
		t.Errorf("%+v", tool.Spec)
	}
	r, err := w.call("echo", `{"a":1}`)
	want := pawl.Result{Content: `{"a":1}`, Meta: map[string]string{"server": "fake", "tool": "echo"}}
	if diff := cmp.Diff(want, r); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := w.call("echo", `[1]`); err == nil {
		t.Error("an input that is no object was taken")
	}
}

func testPrompts(t *testing.T, w *env) {
	w.ready()
	want := []Prompt{{Server: "fake", Name: "greet", Description: "Greets.", Arguments: []Argument{{Name: "who", Required: true}}}}
	if diff := cmp.Diff(want, w.Prompts(w.dir)); diff != "" {
		t.Error(diff)
	}
	p, err := w.GetPrompt(t.Context(), w.dir, "fake", "greet", map[string]string{"who": "Ann"})
	if err != nil || p.Content != "Greet Ann" {
		t.Errorf("%q, %v", p.Content, err)
	}
	if diff := cmp.Diff([]Resource{{Server: "fake", URI: "note://one", Name: "one", MediaType: "text/plain"}}, w.Resources(w.dir)); diff != "" {
		t.Error(diff)
	}
	r, err := w.ReadResource(t.Context(), w.dir, "fake", "note://one")
	if err != nil || untrusted(t, "MCP fake note://one", r.Content) != "resource note://one:\nthe note" {
		t.Errorf("%q, %v", r.Content, err)
	}
	if _, err := w.ReadResource(t.Context(), w.dir, "fake", "note://two"); err == nil {
		t.Error("a resource that is not there was read")
	}
	if _, err := w.GetPrompt(t.Context(), w.dir, "other", "greet", nil); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("another server: %v", err)
	}
}

func testResults(t *testing.T, w *env) {
	w.ready()
	png := pawl.File{Name: "image", MediaType: "image/png", Data: []byte("\x89PNG\r\n")}
	pdf := pawl.File{Name: "note://pdf", MediaType: "application/pdf", Data: []byte("\x89PNG\r\n")}
	for name, want := range map[string]pawl.Result{
		"image":      {Content: "(image of type image/png, 6 bytes)", Files: []pawl.File{png}},
		"svg":        {Content: "(image of type image/svg+xml, 6 bytes, was left out: models do not read it)"},
		"sound":      {Content: "(sound of type audio/wav, 6 bytes, was left out: models do not read it)"},
		"link":       {Content: "(resource note://one, one)"},
		"embedded":   {Content: "resource note://one:\nthe note"},
		"blob":       {Content: "(note://pdf of type application/pdf, 6 bytes)", Files: []pawl.File{pdf}},
		"structured": {Content: `{"a":"x","b":1}`},
		"both":       {Content: "words"},
		"error":      {Content: "it went wrong", IsError: true},
		"two":        {Content: "one\ntwo"},
	} {
		want.Meta = map[string]string{"server": "fake", "tool": name}
		got, err := w.call(name, `{}`)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(name, diff, err)
		}
	}
}

func testProgress(t *testing.T, w *env) {
	w.ready()
	came := make(chan string, 100)
	call := w.input(`{}`)
	seen, release := w.tool("seen"), w.input(`{}`)
	var all sync.WaitGroup
	call.Progress = func(text string) {
		if came <- text; len(came) == 3 {
			all.Go(func() { _, _ = run(t.Context(), seen, release) }) // or the work has no end
		}
	}
	r, err := run(t.Context(), w.tool("work"), call)
	all.Wait()
	if err != nil || untrusted(t, "MCP fake/work", r.Content) != "done" {
		t.Fatalf("%q, %v", r.Content, err)
	}
	if got, want := <-came, "1 of 3: step\\u{1b}[2J\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func testCancel(t *testing.T, w *env) {
	w.ready()
	ctx, cancel := context.WithCancelCause(t.Context())
	call := w.input(`{}`)
	because := errors.New("because")
	call.Progress = func(string) { cancel(because) } // the server is at work
	_, err := run(ctx, w.tool("wait"), call)
	if !errors.Is(err, because) {
		t.Fatalf("got %v", err)
	}
	for w.text("canceled", `{}`) != "true" {
		if t.Context().Err() != nil {
			t.Fatal("the server was not told")
		}
	}
}

func testTimeout(t *testing.T, w *env) {
	w.server.Timeout = 1 // a nanosecond
	if err := w.Start(w.dir, []Server{w.server}); err != nil {
		t.Fatal(err)
	}
	w.ready()
	_, err := w.call("wait", `{}`)
	if err == nil || err.Error() != "fake did not answer within 1ns" {
		t.Errorf("got %v", err)
	}
}

func testGrows(t *testing.T, w *env) {
	w.ready()
	w.text("grow", `{}`)
	w.await("the new tool", func(s Status) bool { return slices.Contains(s.Tools, "mcp__fake__grown") && s.Prompts == 2 })
	if got := w.text("grown", `{}`); got != "new" {
		t.Errorf("got %q", got)
	}
}

func testAsks(t *testing.T, w *env) {
	w.ready()
	if got := w.text("ask", `{}`); got != "decline null" {
		t.Errorf("declined: %q", got)
	}
	w.host.answer = func(a pawl.Ask) pawl.Answer {
		return pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"41"}, {"blue"}, {"yes"}}}
	}
	if got := w.text("ask", `{}`); got != `accept {"age":41,"color":"blue","sure":true}` {
		t.Errorf("answered: %q", got)
	}
	const who = `MCP server fake asks: Who are you?\u{202e}`
	want := pawl.Ask{Kind: pawl.AskQuestion, Text: who, Questions: []pawl.Question{
		{Header: "age", Question: who + "\nage"},
		{Header: "color", Question: who + "\ncolor", Options: []pawl.Option{{Label: "red"}, {Label: "blue"}}},
		{Header: "sure", Question: who + "\nsure", Options: []pawl.Option{{Label: "yes"}, {Label: "no"}}},
	}}
	if diff := cmp.Diff(want, w.host.asks[0]); diff != "" {
		t.Error(diff)
	}
	w.host.answer = func(pawl.Ask) pawl.Answer {
		return pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"old"}, {"blue"}, {"yes"}}}
	}
	if got := w.text("ask", `{}`); got != "decline null" {
		t.Errorf("an answer that does not fit: %q", got)
	}
	if r, err := w.call("page", `{}`); err == nil && r.Content != "decline null" {
		t.Errorf("a page to go to: %q", r.Content)
	}
	if n := len(w.host.asks); n != 3 {
		t.Errorf("the person was asked %d times", n)
	}
}

func testPester(t *testing.T, w *env) {
	w.ready()
	w.host.answer = func(pawl.Ask) pawl.Answer {
		return pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"yes"}}}
	}
	if got := w.text("pester", `{}`); got != "map[accept:1 decline:4]" {
		t.Errorf("got %q", got)
	}
	if n := len(w.host.asks); n != 1 {
		t.Errorf("the person was asked %d times", n)
	}
}

func testAskFlood(t *testing.T, w *env) {
	w.ready()
	_, err := w.call("flood", `{}`)
	if err == nil || len(w.host.asks) > 1 {
		t.Errorf("got %v, and the person was asked %d times", err, len(w.host.asks))
	}
}

func testRoots(t *testing.T, w *env) {
	w.ready()
	got := w.text("roots", `{}`)
	if strings.Contains(got, "cannot be sent") {
		return // in the newer protocol nothing can be asked this way
	}
	const want = `roots: calling "roots/list": method not found: "roots/list"
sampling: calling "sampling/createMessage": method not found: "sampling/createMessage"`
	if got != want {
		t.Errorf("got %q", got)
	}
}

func testDies(t *testing.T, w *env) {
	before := w.ready()
	_, err := w.call("die", `{}`)
	if err == nil {
		t.Fatal("the call of a server that died went well")
	}
	if w.server.Transport != Stdio {
		return // nobody starts it again
	}
	if want := "the MCP server fake went away (the server exited with code 7): the outcome of the call is unknown"; err.Error() != want {
		t.Errorf("got %q", err)
	}
	w.await("another one", func(s Status) bool { return s.State == Ready && s.PID != before.PID })
	if got := w.text("echo", `{}`); got != "{}" {
		t.Errorf("got %q", got)
	}
}

func testChurns(t *testing.T, w *env) {
	w.ready()
	w.text("churn", `{}`)
	if got := w.text("echo", `{}`); got != "{}" {
		t.Errorf("got %q", got)
	}
}
