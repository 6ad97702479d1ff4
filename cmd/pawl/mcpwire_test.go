//go:build e2e

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/auth"
)

// TestServerAsks: what a server asks while it works on a call is an ask of the call,
// which a front end answers, and the server gets the answer.
func TestServerAsks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"HOME", "PAWL_DATA", "XDG_CONFIG_HOME"} {
		t.Setenv(name, dir)
	}
	t.Setenv("PAWL_STORE", "")
	t.Setenv("PAWL_CONFIG", filepath.Join(dir, "pawl.json"))
	put(t, filepath.Join(dir, "pawl.json"), fmt.Sprintf(`{"small_model":"none","mcp":{%s}}`, fakeEntry(t, "fake")))
	script := filepath.Join(dir, "s.jsonl")
	put(t, script, `{"calls":[{"name":"mcp__fake__ask","input":{}}]}`+"\n"+`{"expect":"accept Ann","text":"Hello Ann."}`+"\n")
	a, err := openApp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	s, err := a.Create(t.Context(), pawl.NewSession{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Send(t.Context(), s.ID, pawl.Prompt{
		Parts: pawl.Parts{pawl.Text{Text: "hi"}}, Settings: pawl.Settings{Model: "script:" + script, Mode: "yolo"},
	}); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for e, err := range a.Events(t.Context(), s.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case pawl.Asked:
			asked++
			if b.Kind != pawl.AskQuestion || b.Text != "The MCP server fake asks: Who are you?" {
				t.Errorf("asked %+v", b)
			}
			if err := a.Answer(t.Context(), s.ID, e.Seq, pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{"Ann"}}}); err != nil {
				t.Fatal(err)
			}
		case pawl.TurnFinished:
			if b.Reason != pawl.ReasonEndTurn || asked != 1 {
				t.Errorf("%+v after %d asks", b, asked)
			}
			return
		default: // not of interest
		}
	}
}

// TestLoginsAreSecret: what a login has brought is masked from then on.
func TestLoginsAreSecret(t *testing.T) {
	t.Parallel()
	holdLogin(auth.Secret(`{"resource":"https://hub.example.com","access_token":"acc-5f0c2d7e91","refresh_token":"ref-5f0c2d7e92","client_secret":"sec-5f0c2d7e93"}`))
	text := secrets.Redact("https://hub.example.com acc-5f0c2d7e91 ref-5f0c2d7e92 sec-5f0c2d7e93")
	if strings.Contains(text, "5f0c") || !strings.Contains(text, "hub.example.com") {
		t.Errorf("got %q", text)
	}
}

// TestServerNames: how prompts and documents of servers are named.
func TestServerNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"mcp__a_b__c__d": {"a_b", "", "c__d"},
		"hub:greet":      {"", "hub", "greet"},
		"hub:a:b":        {"", "hub", "a:b"},
		"greet":          nil,
		"mcp__greet":     nil,
	} {
		var got []string
		if m := serverPrompt.FindStringSubmatch(name); m != nil {
			got = m[1:]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	var got []string
	for _, m := range serverDocument.FindAllStringSubmatch(`@a:x://1 and (@b:y://2) me@c:z "@d:file:///e f"`, -1) {
		got = append(got, m[1]+" "+m[2])
	}
	if diff := cmp.Diff([]string{"a x://1", "b y://2)", "d file:///e"}, got); diff != "" {
		t.Error(diff)
	}
}
