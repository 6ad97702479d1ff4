//go:build e2e

package tui

import (
	"strings"
	"testing"
)

// halfway returns a reply that stalls once in the middle, and is complete on the next
// request.
func halfway(text string) reply {
	return reply{Text: text, Deltas: 4, Fault: "hang", Times: 1}
}

// TestResumeAfterKill checks that after a kill within a reply the whole conversation
// is shown again and the turn continues.
func TestResumeAfterKill(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, looks, changes, halfway("The total counts every item now, and all of the tests pass."))...)
	x := w.Start(Large, "--mode", "yolo")
	ask(x)
	x.Until("the provider was asked a third time", func(Screen) bool { return len(w.Asked()) > 2 })
	x.Kill()

	y := w.Start(Large, "--mode", "yolo", "-c")
	s := y.Await("all of the tests pass.", "Done ·")
	for _, text := range []string{fix, "I look at the cart first.", "read cart/cart.go", "edit cart/cart.go", "i.Cents * i.Count"} {
		if !s.Has(text) {
			t.Errorf("%q is not seen any more:\n%s", text, s)
		}
	}
	if n := strings.Count(s.String(), "The total counts"); n != 1 {
		t.Errorf("the reply is seen %d times:\n%s", n, s)
	}
}

// TestAttach checks that a UI attached to a server shows the same as a local one, and
// can reattach.
func TestAttach(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, looks, changes, reply{Text: "Fixed."})...)
	server := w.Serve()
	x := w.Start(Large, "--mode", "yolo", "--attach", server.URL)
	done(x)
	x.Keys("C-d")
	x.ended()
	y := w.Start(Large, "--attach", server.URL, "-c")
	y.Await(fix, "I look at the cart first.", "i.Cents * i.Count", "Fixed.", "Done ·")
}

// TestServerKilled checks that the UI reconnects to a server that was killed and
// restarted, and that the turn continues.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, halfway("The total counts every item now, and all of the tests pass."))...)
	server := w.Serve()
	x := w.Start(Large, "--attach", server.URL)
	ask(x)
	x.Until("the provider was asked", func(Screen) bool { return len(w.Asked()) > 0 })
	server.Kill()
	x.Await("reconnecting") // of the event stream, or of the first request that failed
	x.Type("What I was writing")
	w.Serve()
	s := x.Await("all of the tests pass.", "Done ·", "What I was writing")
	if n := strings.Count(s.String(), "The total counts"); n != 1 {
		t.Errorf("the reply is seen %d times:\n%s", n, s)
	}
}

// TestResizeWhileStreaming checks that a terminal that is resized during a reply ends
// with the screen of one that always had that size.
func TestResizeWhileStreaming(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Text: story(30), Deltas: 300, DelayMS: 5})...)
	x := w.Start(Normal)
	ask(x)
	x.Await("Chapter 1.")
	sizes := []Size{{120, 40}, {40, 12}, {100, 30}, {20, 10}, {81, 25}}
	for i := 0; !x.Screen().Has("The end of it."); i++ {
		x.Resize(sizes[i%len(sizes)])
	}
	x.Resize(Normal)
	x.Await("The end of it.", "Done ·")
	y := w.Start(Normal, "-c")
	y.Await("The end of it.", "Done ·")
	// Both are looked at each time: nothing tells when y has drawn the last of it.
	x.Until("the same as on a terminal that always had this size", func(s Screen) bool { return s.String() == y.Screen().String() })
}
