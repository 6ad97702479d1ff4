package openaichat

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/protocol"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

var update = flag.Bool("update", false, "write the golden files anew")

func user(parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: pawl.RoleUser, Parts: parts}
}

func assistant(parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: pawl.RoleAssistant, Parts: parts}
}

func results(parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: pawl.RoleTool, Parts: parts}
}

func called(id pawl.CallID, name, input string) pawl.ToolCall {
	return pawl.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}
}

var (
	read  = toolapi.Spec{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}
	write = toolapi.Spec{Name: "write", Schema: json.RawMessage(`{"type":"object"}`)}

	hello  = user(pawl.Text{Text: "Say <hello> & goodbye."})
	schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)

	// thoughtful has reasoning of every kind in it.
	thoughtful = []pawl.Message{
		hello,
		assistant(
			pawl.Reasoning{Text: "I should look.", Signature: protocol.Seal(name, `[{"format":"anthropic-claude-v1","index":0,"signature":"c2ln","text":"I should look.","type":"reasoning.text"}]`)},
			pawl.Text{Text: "Let me see."},
			pawl.Reasoning{Signature: protocol.Seal(name, `[{"data":"c2VjcmV0","id":"rs_1","type":"reasoning.encrypted"}]`)},
			called("c1", "read", `{"path":"a"}`),
		),
		results(pawl.ToolResult{Call: "c1", Content: "text of a"}),
		assistant(pawl.Reasoning{Text: "Another provider's.", Signature: "anthropic:sig"}, called("c2", "read", `{"path":"b"}`)),
		results(pawl.ToolResult{Call: "c2", Content: "no such file", IsError: true}),
		assistant(called("c3", "read", `{"path":"c"}`), called("c4", "read", `{"path":"d"}`)),
		results(pawl.ToolResult{Call: "c3"}, pawl.ToolResult{Call: "c4", Content: "text of d"}),
		assistant(pawl.Reasoning{Text: "A thought alone."}),
		user(pawl.Text{Text: "And?"}),
	}
)

// requests are the golden ones: each is built for every dialect that it names.
var requests = []struct {
	name     string
	dialects []string
	model    string // "" means m
	req      model.Request
}{
	{"plain", []string{"openai", "groq", "ollama"}, "", model.Request{
		System: "Be brief.", Messages: []pawl.Message{hello}, MaxTokens: 1000,
	}},
	{"effort", []string{"openai", "openrouter", "zai"}, "", model.Request{Messages: []pawl.Message{hello}, Effort: "high"}},
	{"tools", []string{"openai", "llamacpp"}, "", model.Request{Messages: []pawl.Message{hello}, Tools: []toolapi.Spec{read, write}}},
	{"parallel", []string{"openai"}, "", model.Request{Tools: []toolapi.Spec{read}, Messages: []pawl.Message{
		hello,
		assistant(pawl.Text{Text: "Both at once."}, called("c1", "read", `{"path":"a"}`), called("c2", "read", `{"path":"b"}`)),
		results(pawl.ToolResult{Call: "c1", Content: "text of a"}, pawl.ToolResult{Call: "c2", Content: "no such file", IsError: true}),
	}}},
	{"reasoning", []string{"openai", "openrouter", "vercel", "deepseek", "zai", "ollama"}, "", model.Request{Messages: thoughtful}},
	{"prefill", []string{"openai", "openrouter"}, "", model.Request{Messages: []pawl.Message{hello}, Prefill: "Well, \n"}},
	{"schema", []string{"openai", "groq", "deepseek"}, "", model.Request{Messages: []pawl.Message{hello}, Schema: schema}},
	{"wrapup", []string{"openai"}, "", model.Request{Messages: []pawl.Message{
		hello, assistant(called("c1", "read", `{"path":"a"}`)), results(pawl.ToolResult{Call: "c1", Content: "text of a"}),
		user(pawl.Text{Text: "No more steps are left: sum up."}),
	}}},
	{"garbled", []string{"openai"}, "", model.Request{Messages: []pawl.Message{
		hello, assistant(called("c1", "read", `"{\"path\": \"a"`), called("c2", "read", `[1]`)),
		results(pawl.ToolResult{Call: "c1", Content: "not an object", IsError: true}, pawl.ToolResult{Call: "c2", Content: "not an object", IsError: true}),
	}}},
	{"marks", []string{"openrouter"}, "anthropic/claude", model.Request{System: "Be brief.", Tools: []toolapi.Spec{read}, Messages: thoughtful}},
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for _, r := range requests {
		for _, dialect := range r.dialects {
			t.Run(r.name+"_"+dialect, func(t *testing.T) {
				model := r.model
				if model == "" {
					model = "m"
				}
				var got bytes.Buffer
				if err := json.Indent(&got, body(t, &Client{Model: model, Dialect: Dialects[dialect]}, r.req), "", "  "); err != nil {
					t.Fatal(err)
				}
				got.WriteByte('\n')
				golden(t, filepath.Join("testdata", r.name+"_"+dialect+".json"), got.Bytes())
			})
		}
	}
}

func TestRequestsWithFiles(t *testing.T) {
	t.Parallel()
	requests := modeltest.FileRequests()
	for name, req := range requests {
		modeltest.Golden(t, name+"_openai", body(t, &Client{Model: "m", Dialect: Dialects["openai"]}, req), *update)
	}
	// Some models want cache marks, others are strict on who speaks after whom.
	for suffix, model := range map[string]string{"marked": "anthropic/claude", "mistral": "mistralai/mistral-medium-3.1"} {
		for _, name := range []string{"result-several", "result-prompt"} {
			c := &Client{Model: model, Dialect: Dialects["openrouter"]}
			modeltest.Golden(t, name+"_"+suffix, body(t, c, requests[name]), *update)
		}
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; see -update: %s", file, diff)
	}
}

func body(t rapid.TB, c *Client, req model.Request) []byte {
	t.Helper()
	b, err := protocol.Marshal(c.build(req))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRequestsExtend grows a conversation and holds each request against the
// next: providers keep the prefix of a request only if its bytes stay the same.
func TestRequestsExtend(t *testing.T) {
	t.Parallel()
	for _, dialect := range slices.Sorted(maps.Keys(Dialects)) {
		t.Run(dialect, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := &Client{Model: rapid.SampledFrom([]string{"m", "anthropic/claude", "mistral"}).Draw(t, "model"), Dialect: Dialects[dialect]}
				req := model.Request{System: "Be brief.", Tools: []toolapi.Spec{read}, Effort: "low", MaxTokens: 100}
				var before []byte
				for step := range rapid.IntRange(2, 6).Draw(t, "steps") {
					req.Messages = append(req.Messages, drawTurn(t, step)...)
					now := unmarked(body(t, c, req))
					if before != nil && !bytes.HasPrefix(now, prefix(before)) {
						t.Fatalf("the next request does not extend the one before:\n%s\n%s", before, now)
					}
					before = now
				}
			})
		})
	}
}

// prefix is what of a request's bytes stands permanently. What the user says may
// join a last message with files.
func prefix(body []byte) []byte {
	messages := bytes.TrimSuffix(body, []byte("]}"))
	return bytes.TrimSuffix(messages, []byte("]}"))
}

// unmarked takes the cache marks out: they move with the conversation's end and
// are no part of the prefix that the provider compares.
func unmarked(body []byte) []byte {
	return bytes.ReplaceAll(body, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
}

// drawTurn draws what a step adds to a conversation.
func drawTurn(t *rapid.T, step int) []pawl.Message {
	text := func(label string) pawl.Text {
		return pawl.Text{Text: rapid.SampledFrom([]string{"", " ", "words", "<a> & \"b\" \u2028 é"}).Draw(t, label)}
	}
	thought := pawl.Reasoning{Text: text("thought").Text, Signature: rapid.SampledFrom([]string{
		"", "anthropic:sig", protocol.Seal(name, `[{"type":"reasoning.text","text":"<hm>","index":0}]`),
	}).Draw(t, "seal")}
	if step == 0 || rapid.Bool().Draw(t, "prompt") {
		return []pawl.Message{user(text("prompt"), pawl.File{Name: "a", MediaType: rapid.SampledFrom([]string{"image/png", protocol.PDF}).Draw(t, "type"), Data: []byte("x")}, text("more"))}
	}
	reply, answer := pawl.Parts{thought, text("reply")}, pawl.Parts{}
	for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
		id := pawl.CallID(fmt.Sprintf("c%d_%d", step, i))
		reply = append(reply, called(id, "read", rapid.SampledFrom([]string{`{}`, `{"path":"<a>"}`, `"garbled"`}).Draw(t, "input")))
		answer = append(answer, pawl.ToolResult{Call: id, Content: text("result").Text, Files: drawFiles(t)})
	}
	if len(answer) == 0 {
		return []pawl.Message{assistant(reply...)}
	}
	return []pawl.Message{assistant(reply...), results(answer...)}
}

func drawFiles(t *rapid.T) []pawl.File {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pawl.File {
		return pawl.File{Name: "a", MediaType: rapid.SampledFrom([]string{"image/png", protocol.PDF}).Draw(t, "type"), Data: []byte("x")}
	}), 0, 2).Draw(t, "files")
}

// TestDetailsGoBack replays the recorded thoughts of gateways and looks for
// them in the next request, byte for byte.
func TestDetailsGoBack(t *testing.T) { //nolint:paralleltest // it changes streams
	seen := 0
	for _, e := range recorded(t) {
		chunks, err := replay(t, Dialects["openrouter"], e.ResponseBody)
		if err != nil {
			t.Fatal(err)
		}
		var parts pawl.Parts
		var sealed []string
		for _, c := range chunks {
			switch c.Kind {
			case model.ChunkReasoning:
				parts = append(parts, pawl.Reasoning{Text: c.Text, Signature: c.Signature})
				if list := protocol.Unseal(name, c.Signature); list != "" {
					sealed = append(sealed, strings.Trim(list, "[]"))
				}
			case model.ChunkText:
				parts = append(parts, pawl.Text{Text: c.Text})
			case model.ChunkCall:
				parts = append(parts, c.Call)
			default:
			}
		}
		if len(sealed) == 0 {
			continue
		}
		seen++
		sent := body(t, &Client{Dialect: Dialects["openrouter"]}, model.Request{Messages: []pawl.Message{assistant(parts...)}})
		if want := `"reasoning_details":[` + strings.Join(sealed, ",") + `]`; !bytes.Contains(sent, []byte(want)) {
			t.Errorf("%s#%d: %s is not in %s", e.File, e.Index, want, sent)
		}
	}
	if seen == 0 {
		t.Error("no recorded reply has details")
	}
	t.Logf("%d replies with details", seen)
}
