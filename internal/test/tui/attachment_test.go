//go:build e2e

package tui

import (
	"strings"
	"testing"
)

// TestMentionedFile checks that the content of a mentioned file reaches the model, and that the transcript and the
// rewind list show only its name.
func TestMentionedFile(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Text: "It sums up."})...)
	x := w.Start(Normal, "Explain @cart/cart.go please")
	s := x.Await("Explain @cart/cart.go please", "+ cart/cart.go ·", "It sums up.", "Done ·")
	if s.Has("func Total") {
		t.Errorf("the transcript shows the content:\n%s", s)
	}
	if !strings.Contains(w.Asked()[0], "func Total") {
		t.Error("the model did not get the content")
	}
	x.Say("/rewind")
	if s := x.Await("Rewind"); s.Has("func Total") {
		t.Errorf("the rewind list shows the content:\n%s", s)
	}
}
