//go:build e2e

package tui

import (
	"strings"
	"testing"
)

// TestFirstPrompt checks that the prompt of the command line is sent at the start: in a new session,
// in a continued one, and with the line-based UI.
func TestFirstPrompt(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Text: "I am here."}, reply{Text: "I am still here."})...)
	x := w.Start(Normal, "Who is there?")
	x.Await("Who is there?", "I am here.")
	x.Keys("C-d")
	x.ended()

	x = w.Start(Normal, "-c", "And now?")
	x.Await("I am here.", "And now?", "I am still here.")
	x.Keys("C-d")
	x.ended()

	x = w.Start(Normal, "--screen-reader", "--", "Lines")
	x.Await("prompt: Lines", "I am here.")
}

// TestFirstPromptAfterTrust checks that the prompt of the command line waits for the answer about
// trust.
func TestFirstPromptAfterTrust(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Text: "I am here."})...)
	w.Write("AGENTS.md", "Say please to the parrot.\n")
	x := w.Start(Normal, "Who is there?")
	x.Await("Trust this project?")
	if len(w.Asked()) > 0 {
		t.Error("the prompt was sent before the answer")
	}
	x.Choose("1", "Trust this project")
	x.Await("Who is there?", "I am here.")
	if !strings.Contains(w.Asked()[0], "Say please to the parrot.") {
		t.Error("the model did not get the instructions of the project")
	}
}
