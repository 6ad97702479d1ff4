package responses

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/protocol"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

var update = flag.Bool("update", false, "write the golden files anew")

const session = pawl.SessionID("01JZ0000000000000000000000")

var (
	readTool = toolapi.Spec{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"],"additionalProperties":false}`)}
	listTool = toolapi.Spec{Name: "list", Description: "Lists a folder.", Schema: json.RawMessage(
		`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)}

	sealed = protocol.Seal(name, `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a < b & c"}],"encrypted_content":"gAAA-_=="}`)
)

func user(parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: pawl.RoleUser, Parts: parts}
}

func assistant(parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: pawl.RoleAssistant, Parts: parts}
}

func results(parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: pawl.RoleTool, Parts: parts}
}

func call1(input string) pawl.ToolCall {
	return pawl.ToolCall{ID: "call_1", Name: "read", Input: json.RawMessage(input)}
}

var call2 = pawl.ToolCall{ID: "call_2", Name: "list", Input: json.RawMessage(`{"path":"."}`)}

func TestRequest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		golden string
		client Client
		req    model.Request
	}{
		{"text", Client{}, model.Request{
			System: "You help.", Effort: "high", MaxTokens: 4000, Prefill: "ignored",
			Messages: []pawl.Message{user(pawl.Text{Text: "Is a < b?"}), assistant(pawl.Text{Text: "Yes."}), user(pawl.Text{Text: "Sure?"})},
		}},
		{"plain", Client{NoReasoning: true}, model.Request{
			Effort: "high", Messages: []pawl.Message{user(pawl.Text{Text: "Hello."})},
		}},
		{"tools", Client{}, model.Request{
			System: "You help.", Tools: []toolapi.Spec{readTool, listTool},
			Messages: []pawl.Message{user(pawl.Text{Text: "What is here?"})},
		}},
		{"parallel", Client{}, model.Request{
			Tools: []toolapi.Spec{readTool, listTool},
			Messages: []pawl.Message{
				user(pawl.Text{Text: "Look around."}),
				assistant(pawl.Text{Text: "I look."}, call1(`{"path":"go.mod"}`), call2),
				results(pawl.ToolResult{Call: "call_1", Content: "no such file", IsError: true}, pawl.ToolResult{Call: "call_2", Content: "main.go\n"}),
			},
		}},
		{"reasoning", Client{}, model.Request{
			Effort: "low", Tools: []toolapi.Spec{readTool},
			Messages: []pawl.Message{
				user(pawl.Text{Text: "Read it."}),
				assistant(pawl.Reasoning{Text: "a < b & c", Signature: sealed}, call1(`{"path":"go.mod"}`)),
				results(pawl.ToolResult{Call: "call_1", Content: "module x"}),
				// Thoughts that another protocol sealed, or nobody, stay behind.
				assistant(pawl.Reasoning{Text: "hm", Signature: "anthropic:sig"}, pawl.Reasoning{Text: "loose"}, pawl.Text{Text: "It is x."}),
				user(pawl.Text{Text: "Again."}),
				// So does one that led to nothing.
				assistant(pawl.Reasoning{Text: "a < b & c", Signature: sealed}),
				user(pawl.Text{Text: "Go on."}),
			},
		}},
		{"schema", Client{}, model.Request{
			Schema:   json.RawMessage(`{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"],"additionalProperties":false}`),
			Messages: []pawl.Message{user(pawl.Text{Text: "How old?"})},
		}},
		{"wrapup", Client{}, model.Request{ // the last step: no tools, and a message of ours after the results
			System: "You help.",
			Messages: []pawl.Message{
				user(pawl.Text{Text: "Read it."}),
				assistant(call1(`{"path":"go.mod"}`)),
				results(pawl.ToolResult{Call: "call_1", Content: ""}),
				user(pawl.Text{Text: "Wrap up."}),
			},
		}},
		{"garbled", Client{}, model.Request{
			Tools: []toolapi.Spec{readTool},
			Messages: []pawl.Message{
				user(pawl.Text{Text: "Read it."}),
				assistant(call1(`"{\"path\": \"go.m"`)),
				results(pawl.ToolResult{Call: "call_1", Content: "bad input", IsError: true}),
			},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.golden, func(t *testing.T) {
			tt.client.Model, tt.req.Session = "gpt-5", session
			var got bytes.Buffer
			if err := json.Indent(&got, body(t, tt.client, tt.req), "", "  "); err != nil {
				t.Fatal(err)
			}
			got.WriteByte('\n')
			golden := filepath.Join("testdata", tt.golden+".json")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("run with -update if this is meant: %s", diff)
			}
		})
	}
}

func TestRequestWithFiles(t *testing.T) {
	t.Parallel()
	for name, req := range modeltest.FileRequests() {
		t.Run(name, func(t *testing.T) {
			modeltest.Golden(t, name, body(t, Client{Model: "gpt-5"}, req), *update)
		})
	}
}

func body(t *testing.T, c Client, req model.Request) []byte {
	t.Helper()
	b, err := protocol.Marshal(c.build(req))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The provider's cache and our bill live on this: a longer conversation's
// request is the shorter one's with items appended.
func TestRequestExtends(t *testing.T) {
	t.Parallel()
	conversation := []pawl.Message{
		user(pawl.Text{Text: "Read <it>."}, pawl.File{Name: "a.png", MediaType: "image/png", Data: []byte("PNG")}),
		assistant(pawl.Reasoning{Text: "a", Signature: sealed}, pawl.Text{Text: "I read."}, call1(`{"path": "go.mod"}`), call2),
		results(pawl.ToolResult{Call: "call_1", Content: "module x"}, pawl.ToolResult{Call: "call_2", Content: "main.go"}),
		user(pawl.Text{Text: "And then?"}),
		assistant(pawl.Reasoning{Text: "cut off", Signature: sealed}),
		user(pawl.Text{Text: "Go on."}),
		assistant(pawl.Reasoning{Text: "b"}, call1(`garbled`)),
		results(pawl.ToolResult{Call: "call_1", Content: "no", IsError: true}),
		assistant(pawl.Text{Text: "Done."}),
	}
	conversation = append(conversation, modeltest.FileSession(sealed)...)
	req := model.Request{Session: session, System: "You help.", Tools: []toolapi.Spec{readTool, listTool}, Effort: "high", MaxTokens: 100}
	var before []byte
	for n := 1; n <= len(conversation); n++ {
		req.Messages, req.Replies = conversation[:n], n/2
		now := body(t, Client{Model: "gpt-5"}, req)
		if !bytes.HasPrefix(now, bytes.TrimSuffix(before, []byte("]}"))) {
			t.Errorf("the request with %d messages does not extend the one before:\n%s\n%s", n, before, now)
		}
		before = now
	}
}

// A thought comes back as the bytes that the provider wrote.
func TestReasoningByteForByte(t *testing.T) {
	t.Parallel()
	item := protocol.Unseal(name, sealed)
	req := model.Request{Messages: []pawl.Message{assistant(pawl.Reasoning{Signature: sealed}, pawl.Text{Text: "x"})}}
	if got := body(t, Client{}, req); !bytes.Contains(got, []byte(item)) {
		t.Errorf("%s\nis not in\n%s", item, got)
	}
}
