//go:build e2e

package acp_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// choose answers each request with the option that has the name's beginning.
func choose(t testing.TB, names ...string) func(sdk.RequestPermissionRequest) sdk.PermissionOptionId {
	return func(r sdk.RequestPermissionRequest) sdk.PermissionOptionId {
		if len(names) == 0 {
			t.Errorf("asked once too often: %s", *r.ToolCall.Title)
			return ""
		}
		name := names[0]
		names = names[1:]
		if name == "" {
			return ""
		}
		for _, o := range r.Options {
			if strings.HasPrefix(o.Name, name) {
				return o.OptionId
			}
		}
		return sdk.PermissionOptionId(name) // one that was not offered
	}
}

// TestPermissions: what a person chooses is what happens, and anything but a
// clear yes is a no.
func TestPermissions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		chosen  []string
		stop    string
		written string
		answers []pawl.Answer
	}{
		{"once", []string{"Allow once", "Allow once"}, "end_turn", "2", []pawl.Answer{{Outcome: "answered"}, {Outcome: "answered"}}},
		{"always", []string{"Always allow"}, "end_turn", "2", []pawl.Answer{{Outcome: "answered"}}},
		{"reject", []string{"Deny and continue", "Deny and continue"}, "end_turn", "", []pawl.Answer{
			{Outcome: "denied", Text: "not this; continue without it"}, {Outcome: "denied", Text: "not this; continue without it"},
		}},
		{"stop", []string{"Deny and stop"}, "end_turn", "", []pawl.Answer{{Outcome: "denied"}}},
		{"canceled", []string{""}, "end_turn", "", []pawl.Answer{{Outcome: "denied"}}},
		{"nonsense", []string{"yes please"}, "end_turn", "", []pawl.Answer{{Outcome: "denied"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, model := newWorkdir(t,
				`{"calls":[{"name":"write","input":{"path":"a.txt","content":"1"}}]}`,
				`{"calls":[{"name":"write","input":{"path":"a.txt","content":"2"}}]}`,
				`{"text":"Done."}`)
			e := start(t, b, "--model", model, "--mode", "ask")
			e.decide = choose(t, c.chosen...)
			id := e.session(b.Dir)
			if stop := e.prompt(id, sdk.TextBlock("go")); stop != c.stop {
				t.Errorf("it ended with %q, want %q", stop, c.stop)
			}
			if got := b.Read(t, "a.txt"); got != c.written {
				t.Errorf("a.txt is %q, want %q", got, c.written)
			}
			var answers []pawl.Answer
			asked := map[pawl.Seq]string{}
			for _, e := range b.Export(t, string(id)) {
				switch body := e.Body.(type) {
				case pawl.Asked:
					asked[e.Seq] = body.Names
				case pawl.Answered:
					if names, ok := asked[body.Ask]; !ok || body.Outcome == pawl.OutcomeAnswered && body.Names != names {
						t.Errorf("an answer to %d for %q", body.Ask, body.Names)
					}
					if c.name == "always" && len(body.Always) == 0 {
						t.Error("no rule was kept")
					}
					body.Always, body.Names = nil, ""
					answers = append(answers, body.Answer)
				default: // not about asks
				}
			}
			if diff := cmp.Diff(c.answers, answers); diff != "" {
				t.Errorf("answers (-want):\n%s", diff)
			}
			request := e.requests()[0]
			if *request.ToolCall.Title != "write a.txt" || request.ToolCall.ToolCallId != "call_1_1" {
				t.Errorf("asked about %+v", request.ToolCall)
			}
			content := request.ToolCall.Content
			if diff := content[0].Diff; diff == nil || diff.Path != filepath.Join(b.Dir, "a.txt") || diff.NewText != "1" {
				t.Errorf("asked with %+v", content[0])
			}
			if text := textOf(content[1].Content.Content); !strings.HasPrefix(text, "```\n") || !strings.Contains(text, "a.txt") {
				t.Errorf("asked with %q", text)
			}
			kinds := ""
			for _, o := range request.Options {
				kinds += string(o.Kind) + " "
			}
			if kinds != "allow_once allow_always allow_always reject_once reject_once " {
				t.Errorf("offered %s", kinds)
			}
			if name := request.Options[1].Name; !strings.Contains(name, "a.txt") {
				t.Errorf("the rule is not shown: %q", name)
			}
		})
	}
}

// TestNobodyToAsk: an editor that cannot ask permits nothing.
func TestNobodyToAsk(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"calls":[{"name":"write","input":{"path":"a.txt","content":"1"}}]}`, `{"text":"Done."}`)
	e := start(t, b, "--model", model, "--mode", "ask")
	id := e.session(b.Dir)
	e.prompt(id, sdk.TextBlock("go"))
	if got := b.Read(t, "a.txt"); got != "" {
		t.Errorf("a.txt is %q", got)
	}
	if !strings.Contains(e.thoughts(id), "Denied, because") {
		t.Errorf("nobody was told:\n%s", e.transcript(id))
	}
}

// TestQuestions: a question with options is put as a choice; one without is
// denied, and the model learns why.
func TestQuestions(t *testing.T) {
	t.Parallel()
	const with = `{"header":"Color","question":"Which?","options":[{"label":"red"},{"label":"blue","description":"like the sea"}]}`
	const without = `{"header":"Name","question":"What name?","options":[]}`
	for _, c := range []struct {
		name, questions string
		chosen          []string
		expect          string
	}{
		{"chosen", with, []string{"blue"}, "Color: blue"},
		{"two", with + "," + strings.Replace(with, "Color", "Paint", 1), []string{"blue", "red"}, "Color: blue\\\\nPaint: red"},
		{"declined", with, []string{"Skip"}, "does not want to answer"},
		{"words", without, nil, "only questions with options"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, model := newWorkdir(t,
				`{"calls":[{"name":"question","input":{"questions":[`+c.questions+`]}}]}`,
				fmt.Sprintf(`{"expect":"%s","text":"Done."}`, c.expect))
			e := start(t, b, "--model", model)
			e.decide = choose(t, c.chosen...)
			if stop := e.prompt(e.session(b.Dir), sdk.TextBlock("go")); stop != "end_turn" {
				t.Errorf("it ended with %q", stop)
			}
		})
	}
}

// TestSubagentAsks checks that the user sees the asks of a subagent, with its name.
func TestSubagentAsks(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t,
		`{"calls":[{"name":"task","input":{"agent":"general","prompt":"write it","description":"the writer"}}]}`,
		`{"text":"Done."}`,
		`{"agent":"general","calls":[{"name":"write","input":{"path":"a.txt","content":"1"}}]}`,
		`{"agent":"general","text":"Written."}`)
	e := start(t, b, "--model", model, "--mode", "ask")
	e.decide = func(r sdk.RequestPermissionRequest) sdk.PermissionOptionId { return r.Options[0].OptionId }
	if stop := e.prompt(e.session(b.Dir), sdk.TextBlock("go")); stop != "end_turn" {
		t.Errorf("it ended with %q", stop)
	}
	if got := b.Read(t, "a.txt"); got != "1" {
		t.Errorf("a.txt is %q", got)
	}
	titles := ""
	for _, r := range e.requests() {
		titles += *r.ToolCall.Title + "\n"
	}
	if !strings.Contains(titles, `subagent "the writer" (general): write a.txt`) {
		t.Errorf("asked: %s", titles)
	}
}

// TestNothingHides: what a person decides by shows all that is in it, whatever
// the model writes.
func TestNothingHides(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t,
		"{\"calls\":[{\"name\":\"write\",\"input\":{\"path\":\"a.txt\",\"content\":\"```\\n<!-- hidden -->\\n````\\u202e\\n\"}}]}",
		`{"text":"Done."}`)
	e := start(t, b, "--model", model, "--mode", "ask")
	e.decide = choose(t, "Deny and stop")
	e.prompt(e.session(b.Dir), sdk.TextBlock("go"))
	text := textOf(e.requests()[0].ToolCall.Content[0].Content.Content)
	if !strings.HasPrefix(text, "`````\n") || strings.Count(text, "\n`````") != 1 {
		t.Errorf("the fence can be closed from within:\n%s", text)
	}
	if strings.Contains(text, "\u202e") || !strings.Contains(text, `\u{202e}`) {
		t.Errorf("a character that turns the text is in it:\n%s", text)
	}
}
