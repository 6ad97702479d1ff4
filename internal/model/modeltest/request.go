package modeltest

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Tools returns two sample tools, one with a complex schema.
func Tools() []toolapi.Spec {
	return []toolapi.Spec{
		{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
		{Name: "list", Description: "Lists <a folder>.", Schema: json.RawMessage(`{"type":"object","properties":{"depth":{"type":["integer","null"],"minimum":1}}}`)},
	}
}

// Prompt returns a user message.
func Prompt(text string) pawl.Message {
	return pawl.Message{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: text}}}
}

// Answer returns an assistant message.
func Answer(parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: pawl.RoleAssistant, Parts: parts}
}

// Results returns a message with tool results.
func Results(results ...pawl.ToolResult) pawl.Message {
	m := pawl.Message{Role: pawl.RoleTool}
	for _, r := range results {
		m.Parts = append(m.Parts, r)
	}
	return m
}

// Session returns a conversation with parallel calls, one of which fails, and a second prompt, with the given
// signatures of its reasoning and its first call.
func Session(thought, call string) []pawl.Message {
	return []pawl.Message{
		Prompt("What is in this folder?"),
		Answer(
			pawl.Reasoning{Text: "Let me look.", Signature: thought},
			pawl.Text{Text: "I will look."},
			pawl.ToolCall{ID: "call_1", Name: "list", Input: json.RawMessage(`{"depth":1}`), Signature: call},
			pawl.ToolCall{ID: "call_2", Name: "read", Input: json.RawMessage(`{"path":"a & b"}`)},
		),
		Results(
			pawl.ToolResult{Call: "call_1", Content: "a & b\nc"},
			pawl.ToolResult{Call: "call_2", Content: "no such file", IsError: true},
		),
		Answer(pawl.Text{Text: "Two files."}),
		Prompt("Read c."),
		Answer(pawl.ToolCall{ID: "call_3", Name: "read", Input: json.RawMessage(`{"path":"c"}`)}),
		Results(pawl.ToolResult{Call: "call_3", Content: ""}),
	}
}

// Requests returns sample requests that every protocol must encode, by name.
func Requests() map[string]model.Request {
	schema := json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"}},"required":["title"],"additionalProperties":false}`)
	session := Session("", "")
	requests := map[string]model.Request{
		"text":       {System: "You are <terse>.", Messages: []pawl.Message{Prompt("Hello & welcome.")}},
		"tools":      {System: "You are terse.", Messages: []pawl.Message{Prompt("Hello.")}, Tools: Tools(), Effort: "low", MaxTokens: 4000},
		"parallel":   {System: "You are terse.", Messages: session, Tools: Tools()},
		"structured": {Messages: []pawl.Message{Prompt("Name this session.")}, Tools: Tools(), Schema: schema, Effort: "high"},
		"prefill":    {Messages: []pawl.Message{Prompt("Name this session.")}, Prefill: "Title: "},
		// The last step: no tools, and Pawl's final prompt after the results.
		"wrap-up": {System: "You are terse.", Messages: append(session, Prompt("No more tools: sum up what you have found."))},
		"garbled": {Messages: []pawl.Message{
			Prompt("Read it."),
			Answer(pawl.ToolCall{ID: "call_1", Name: "read", Input: json.RawMessage(`"{\"path\": "`)}),
			Results(pawl.ToolResult{Call: "call_1", Content: "the input is not an object", IsError: true}),
			Answer(pawl.Text{Text: ""}, pawl.Patch{Path: "a", Diff: "-a"}),
			Prompt("Again."),
		}, Tools: Tools()},
	}
	maps.Copy(requests, FileRequests())
	return requests
}

// Golden compares a body with the indented JSON in testdata/NAME.json; with update it writes the file.
func Golden(t testing.TB, name string, body []byte, update bool) {
	t.Helper()
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	indented.WriteByte('\n')
	path := filepath.Join("testdata", name+".json")
	if update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, indented.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run with -update", err)
	}
	if diff := cmp.Diff(string(want), indented.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
