package anthropic

import (
	"bytes"
	"encoding/json"
	"flag"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

var update = flag.Bool("update", false, "write the golden files anew")

func bodyOf(t *testing.T, c *Client, req model.Request) []byte {
	t.Helper()
	body, err := protocol.Marshal(c.build(req))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestRequest(t *testing.T) {
	t.Parallel()
	for name, req := range modeltest.Requests() {
		t.Run(name, func(t *testing.T) {
			modeltest.Golden(t, name, bodyOf(t, &Client{Model: "claude-sonnet-4-5"}, req), *update)
		})
	}
}

// signed is a session with thoughts of this provider's.
func signed() []pawl.Message {
	messages := modeltest.Session(protocol.Seal(name, "THOUGHT"), "")
	messages[5].Parts = append(pawl.Parts{pawl.Reasoning{Signature: protocol.Seal(name, redactedPrefix+"HIDDEN")}}, messages[5].Parts...)
	return messages
}

func TestRequestKeepsReasoning(t *testing.T) {
	t.Parallel()
	req := model.Request{System: "You are terse.", Messages: signed(), Tools: modeltest.Tools(), Effort: "medium"}
	modeltest.Golden(t, "reasoning", bodyOf(t, &Client{Model: "claude-sonnet-4-5", Output: 64000}, req), *update)
	modeltest.Golden(t, "adaptive", bodyOf(t, &Client{Model: "claude-opus-4-7", Output: 64000, Adaptive: true}, req), *update)
}

func TestRequestOfCloud(t *testing.T) {
	t.Parallel()
	req := model.Request{Messages: []pawl.Message{modeltest.Prompt("Hello.")}}
	cloud := &Cloud{Path: "/model/x/invoke", Version: "bedrock-2023-05-31"}
	modeltest.Golden(t, "cloud", bodyOf(t, &Client{Model: "claude-sonnet-4-5", Cloud: cloud}, req), *update)
}

// unmarked is a body without its cache marks.
func unmarked(body []byte) []byte {
	return bytes.ReplaceAll(body, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
}

// A request of a growing session begins with the bytes of the one before, cache
// marks aside, or the provider's cache is of no use. There are at most four marks.
func TestRequestExtendsTheOneBefore(t *testing.T) {
	t.Parallel()
	messages := append(signed(), modeltest.Answer(pawl.Text{Text: "It is empty."}), modeltest.Prompt("Thanks."))
	messages = append(messages, modeltest.FileSession(protocol.Seal(name, "THOUGHT"))...)
	for name, adaptive := range map[string]bool{"claude-sonnet-4-5": false, "claude-opus-4-7": true} {
		c := &Client{Model: name, Adaptive: adaptive}
		var before []byte
		for n := 1; n <= len(messages); n++ {
			body := bodyOf(t, c, model.Request{System: "Be terse.", Tools: modeltest.Tools(), Effort: "low", Messages: messages[:n]})
			if marks := bytes.Count(body, []byte("cache_control")); marks > 4 {
				t.Errorf("%s: %d cache marks", name, marks)
			}
			body = unmarked(body)
			if prefix := bytes.TrimSuffix(before, []byte("]}]}")); !bytes.HasPrefix(body, bytes.TrimSuffix(prefix, []byte("]}"))) {
				t.Errorf("%s: with %d messages:\n%s\ndoes not begin with\n%s", name, n, body, prefix)
			}
			before = body
		}
	}
}

func TestThinking(t *testing.T) {
	t.Parallel()
	prompt := []pawl.Message{modeltest.Prompt("Hello.")}
	foreign := modeltest.Session("gemini:THOUGHT", "")
	schema := json.RawMessage(`{}`)
	tests := []struct {
		name  string
		model string
		req   model.Request
		want  string
	}{
		{"no effort", "claude-sonnet-4-5", model.Request{Messages: prompt}, ``},
		{"a budget", "claude-sonnet-4-5-20250929", model.Request{Messages: prompt, Effort: "low"}, `{"type":"enabled","budget_tokens":2048}`},
		{"room for the reply", "claude-sonnet-4-20250514", model.Request{Messages: prompt, Effort: "high", MaxTokens: 10000}, `{"type":"enabled","budget_tokens":5000}`},
		{"too little room", "claude-3-7-sonnet@20250219", model.Request{Messages: prompt, Effort: "high", MaxTokens: 2000}, ``},
		{"a forced call", "claude-sonnet-4-5", model.Request{Messages: prompt, Effort: "low", Schema: schema}, ``},
		{"a prefill", "claude-sonnet-4-5", model.Request{Messages: prompt, Effort: "low", Prefill: "a"}, ``},
		{"in another model's turn", "claude-sonnet-4-5", model.Request{Messages: foreign, Effort: "low"}, ``},
		{"in its own turn", "claude-sonnet-4-5", model.Request{Messages: signed(), Effort: "low"}, `{"type":"enabled","budget_tokens":2048}`},
		{"later in its own turn", "claude-sonnet-4-5", model.Request{Messages: append(signed(),
			modeltest.Answer(pawl.ToolCall{ID: "c4", Name: "list", Input: json.RawMessage(`{}`)}),
			modeltest.Results(pawl.ToolResult{Call: "c4"})), Effort: "low"}, `{"type":"enabled","budget_tokens":2048}`},
		{"after another model's turn", "claude-sonnet-4-5", model.Request{Messages: append(foreign, modeltest.Answer(pawl.Text{Text: "a"}), prompt[0]), Effort: "low"}, `{"type":"enabled","budget_tokens":2048}`},
		{"adaptive", "us.anthropic.claude-opus-4-6-v1", model.Request{Messages: foreign, Effort: "low"}, `{"type":"adaptive","display":"summarized"} {"effort":"low"}`},
		{"adaptive, newer", "claude-sonnet-5", model.Request{Messages: prompt, Effort: "high", MaxTokens: 10}, `{"type":"adaptive","display":"summarized"} {"effort":"high"}`},
		{"adaptive, a forced call", "claude-sonnet-5", model.Request{Messages: prompt, Effort: "high", Schema: schema}, ``},
	}
	for _, test := range tests {
		r := (&Client{Model: test.model, Adaptive: strings.HasPrefix(test.name, "adaptive")}).build(test.req)
		var got []string
		if r.Thinking != nil {
			raw, _ := json.Marshal(r.Thinking)
			got = append(got, string(raw))
		}
		if r.Config != nil {
			raw, _ := json.Marshal(r.Config)
			got = append(got, string(raw))
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: %s: got %s, want %s", test.name, test.model, s, test.want)
		}
	}
}

func TestAdaptiveModelsTakeNoPrefill(t *testing.T) {
	t.Parallel()
	req := model.Request{Messages: []pawl.Message{modeltest.Prompt("Hello.")}, Prefill: "Hi"}
	for adaptive, want := range map[bool]int{false: 2, true: 1} {
		if got := len((&Client{Adaptive: adaptive}).build(req).Messages); got != want {
			t.Errorf("adaptive %v: %d messages, want %d", adaptive, got, want)
		}
	}
}
