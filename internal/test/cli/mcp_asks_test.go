//go:build e2e

package cli

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
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
	a, err := app.Open(t.Context(), app.Options{})
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
			if b.Kind != pawl.AskQuestion || b.Text != "MCP server fake asks: Who are you?" {
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
