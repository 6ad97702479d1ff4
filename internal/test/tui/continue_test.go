//go:build e2e

package tui

import (
	"strings"
	"testing"
)

// TestContinueKeepsMode checks that a session that was in mode ask stays in it: in the status line, and for the next
// prompt.
func TestContinueKeepsMode(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Text: "I am here."}, reply{Text: "I am still here."}, reply{Text: "Always."})...)
	x := w.Start(Normal, "--mode", "ask", "Who is there?")
	x.Await("I am here.", "Done ·", "· ask ·")
	x.Kill()

	x = w.Start(Normal, "-c")
	if s := x.Await("I am here.", "· ask ·"); s.Has("guard") {
		t.Errorf("the mode was loosened:\n%s", s)
	}
	x.Say("And now?")
	x.Await("I am still here.", "· ask ·")
	w.Run("run", "-c", "And now?")
	if list := w.Run("session", "list", "--json"); !strings.Contains(list, `"mode":"ask"`) {
		t.Errorf("the mode was loosened: %s", list)
	}
}
