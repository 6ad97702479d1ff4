package gemini

import (
	"bytes"
	"flag"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

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
			modeltest.Golden(t, name, bodyOf(t, &Client{Model: "gemini-2.5-pro"}, req), *update)
		})
	}
}

// Gemini 3 takes a level of thinking, insists on signatures, and takes files in
// results.
func TestRequestOfGemini3(t *testing.T) {
	t.Parallel()
	req := model.Request{
		Messages: modeltest.Session(protocol.Seal(name, "THOUGHT"), sealCall("x1", "CALL")),
		Tools:    modeltest.Tools(),
		Effort:   "medium",
	}
	req.Messages[3].Parts = append(req.Messages[3].Parts, pawl.Reasoning{Signature: sealText(6, "TEXT")})
	c := &Client{Model: "gemini-3-pro-preview", Output: 65536, Levels: true}
	modeltest.Golden(t, "gemini-3", bodyOf(t, c, req), *update)
	for _, name := range []string{"result-several", "result-prompt"} {
		modeltest.Golden(t, "gemini-3-"+name, bodyOf(t, c, modeltest.FileRequests()[name]), *update)
	}
}

// A request of a growing session begins with the bytes of the one before, or
// the provider's cache is of no use.
func TestRequestExtendsTheOneBefore(t *testing.T) {
	t.Parallel()
	messages := append(modeltest.Session(protocol.Seal(name, "THOUGHT"), sealCall("", "CALL")),
		modeltest.Answer(pawl.Text{Text: "It is empty."}), modeltest.Prompt("Thanks."))
	messages = append(messages, modeltest.FileSession(protocol.Seal(name, "THOUGHT"))...)
	for ref, levels := range map[string]bool{"gemini-2.5-pro": false, "gemini-3-pro-preview": true} {
		c := &Client{Model: ref, Levels: levels}
		var before []byte
		for n := 1; n <= len(messages); n++ {
			body := bodyOf(t, c, model.Request{System: "Be terse.", Tools: modeltest.Tools(), Effort: "low", Messages: messages[:n]})
			if prefix := bytes.TrimSuffix(before, []byte("]}]}")); !bytes.HasPrefix(body, prefix) {
				t.Errorf("%s: with %d messages:\n%s\ndoes not begin with\n%s", ref, n, body, prefix)
			}
			before = body
		}
	}
}

func TestSignatureGoesBackOnItsOwnPart(t *testing.T) {
	t.Parallel()
	foreign := "anthropic:ABC"
	thought, call := protocol.Seal(name, "S"), sealCall("id 1", "S")
	tests := []struct {
		model string
		parts pawl.Parts
		want  string
	}{
		{"gemini-3-flash", pawl.Parts{pawl.Reasoning{Text: "hm", Signature: thought}}, `[{"text":"hm","thought":true,"thoughtSignature":"S"}]`},
		{"gemini-3-flash", pawl.Parts{pawl.Reasoning{Text: "hm"}}, `null`},
		{"gemini-3-flash", pawl.Parts{pawl.Reasoning{Text: "hm", Signature: foreign}}, `null`},
		{"gemini-3-flash", pawl.Parts{pawl.Text{Text: "abcdef"}, pawl.Reasoning{Signature: sealText(2, "S")}, pawl.Text{Text: "g"}},
			`[{"text":"abcd"},{"text":"ef","thoughtSignature":"S"},{"text":"g"}]`},
		{"gemini-3-flash", pawl.Parts{pawl.Text{Text: "ef"}, pawl.Reasoning{Signature: sealText(2, "S")}}, `[{"text":"ef","thoughtSignature":"S"}]`},
		{"gemini-3-flash", pawl.Parts{pawl.Text{Text: "ef"}, pawl.Reasoning{Signature: sealText(0, "S")}}, `[{"text":"ef"},{"text":"","thoughtSignature":"S"}]`},
		{"gemini-3-flash", pawl.Parts{pawl.Reasoning{Signature: sealText(9, "S")}}, `[{"text":"","thoughtSignature":"S"}]`},
		{"gemini-2.5-flash", pawl.Parts{pawl.ToolCall{ID: "call_9", Name: "f", Signature: call}}, `[{"functionCall":{"id":"id 1","name":"f","args":{"garbled":""}},"thoughtSignature":"S"}]`},
		{"gemini-2.5-flash", pawl.Parts{pawl.ToolCall{ID: "c", Name: "f", Input: []byte(`{}`), Signature: foreign}}, `[{"functionCall":{"name":"f","args":{}}}]`},
		// Only the first call of a reply is signed by Gemini 3 itself.
		{"gemini-3-flash", pawl.Parts{pawl.ToolCall{ID: "c", Name: "f", Input: []byte(`{}`), Signature: foreign}, pawl.ToolCall{ID: "d", Name: "g", Input: []byte(`{}`)}},
			`[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"g","args":{}}}]`},
	}
	for _, test := range tests {
		contents := (&Client{Model: test.model, Levels: test.model == "gemini-3-flash"}).contents([]pawl.Message{modeltest.Answer(test.parts...)})
		var parts []part
		if len(contents) > 0 {
			parts = contents[0].Parts
		}
		got, err := protocol.Marshal(parts)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, string(got)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", test.model, fmt.Sprint(test.parts), diff)
		}
	}
}
