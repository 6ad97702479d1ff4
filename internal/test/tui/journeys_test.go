//go:build e2e

package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const fix = "The total of a cart is wrong. Please fix it."

// TestTrust checks that project configuration takes effect only after the user trusts
// it.
func TestTrust(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key, does string
		reported  bool
	}{{"1", "Trust this project", true}, {"2", "Not now", false}} {
		t.Run(c.does, func(t *testing.T) {
			t.Parallel()
			w := newShop(t, script(t, reply{Text: "I am here."})...)
			w.Write("AGENTS.md", "Say please to the parrot.\n")
			x := w.Start(Normal)
			x.Await("Trust this project?")
			x.Choose(c.key, c.does)
			x.Vanished("Trust this project?")
			x.Say("Who is there?")
			x.Await("I am here.")
			if reported := strings.Contains(w.Asked()[0], "Say please to the parrot."); reported != c.reported {
				t.Errorf("the model was told of the folder's instructions: %v, want %v", reported, c.reported)
			}
		})
	}
}

// TestApproveDiff checks that a change is made only after the user has seen all of it
// and approved it.
func TestApproveDiff(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Calls: looks.Calls[:1]}, changes, reply{Text: "Fixed."})...)
	x := w.Start(Normal, "--mode", "ask")
	ask(x)
	x.Await("Edit cart.go", "more lines")
	x.Choose("1", "Allow once") // not accepted yet: there is more to see
	x.Await("not shown yet")
	x.Keys("End")
	x.Await("i.Cents * i.Count")
	if got := w.Read("cart/cart.go"); got != cartGo {
		t.Errorf("the file was changed before the answer:\n%s", got)
	}
	x.Choose("1", "Allow once")
	x.Await("Fixed.", "Done ·")
	if got := w.Read("cart/cart.go"); !strings.Contains(got, "i.Cents * i.Count") {
		t.Errorf("the file was not changed:\n%s", got)
	}
}

// TestAlways checks that "always" holds for the same command, also in the next
// session, and for no other.
func TestAlways(t *testing.T) {
	t.Parallel()
	run := reply{Calls: []call{bash("touch made")}}
	w := newShop(t, script(t, run, reply{Text: "Once."}, run, reply{Text: "Twice."}, reply{Calls: []call{bash("touch other")}})...)
	x := w.Start(Large, "--mode", "ask")
	ask(x)
	x.Await("`touch made` changed 1 file")
	x.Choose("3", "Always apply in this project  touch made")
	x.Await("Once.", "Done ·")
	if err := os.Remove(filepath.Join(w.Project, "made")); err != nil {
		t.Fatal(err)
	}
	x.Keys("C-d")
	x.ended()

	y := w.Start(Large, "--mode", "ask", "-c")
	y.Await("Once.")
	y.Say("Again.")
	if s := y.Await("Twice."); s.Has("`touch made` changed 1 file") {
		t.Errorf("it was asked again:\n%s", s)
	}
	if _, err := os.Stat(filepath.Join(w.Project, "made")); err != nil {
		t.Error(err)
	}
	y.Await("Done · 2 steps")
	y.Say("And another.")
	y.Await("`touch other` changed 1 file")
}

// TestDenyWithAWord checks that a denial can have a message, with which the model
// continues.
func TestDenyWithAWord(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Calls: []call{bash("touch made")}}, reply{Text: "Then not.", Expect: "only look"})...)
	x := w.Start(Large, "--mode", "ask")
	ask(x)
	x.Choose("4", "Discard and tell Pawl what to do instead")
	x.Await("What should Pawl do instead?")
	x.Type("only look at it")
	x.Await("only look at it")
	x.Keys("Enter")
	x.Await("Then not.", "Done ·")
	if _, err := os.Stat(filepath.Join(w.Project, "made")); !os.IsNotExist(err) {
		t.Errorf("the changes were applied: %v", err)
	}
}

// TestAddDir checks that a project directory can be added in a session.
func TestAddDir(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Calls: []call{bash("echo x > ../lib/made")}}, reply{Text: "Made."})...)
	lib := filepath.Join(filepath.Dir(w.Project), "lib")
	if err := os.Mkdir(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	x := w.Start(Large, "--mode", "auto")
	ready(x)
	x.Say("/add-dir ../missing")
	x.Await("no such file or directory")
	x.Say("/add-dir ../lib")
	x.Await("Project directory from the next prompt", "/lib")
	ask(x)
	x.Await("Made.", "Done ·")
	if _, err := os.Stat(filepath.Join(lib, "made")); err != nil {
		t.Error(err)
	}
}

// TestIsolate checks that a session without changes continues on a view of the project, and that
// the user sees its diff at the end before the changes are applied.
func TestIsolate(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Text: "I am here."}, changes, reply{Text: "Fixed."}, reply{Text: "Nothing more."})...)
	x := w.Start(Large, "--mode", "guard", "Who is there?")
	x.Await("I am here.", "Done ·")
	x.Keys("BTab")
	x.Await("Permission mode from the next prompt: auto")
	x.Say("/isolate")
	x.Await("I am here.", "· auto · sandbox · isolated")
	ask(x)
	x.Await("Fixed.", "Done ·")
	if got := w.Read("cart/cart.go"); got != cartGo {
		t.Errorf("the project has changed:\n%s", got)
	}
	x.Say("/isolate")
	x.Await("this session is already isolated")
	x.Keys("C-d")
	x.Await("M cart/cart.go", "[s/a/b/d/K]")
	x.Type("s\r")
	x.Await("sum += i.Cents * i.Count")
	if got := w.Read("cart/cart.go"); got != cartGo {
		t.Errorf("the project has changed before the answer:\n%s", got)
	}
	x.Type("a\r")
	x.Await("Applied 1 file change.")
	x.ended()
	if got := w.Read("cart/cart.go"); !strings.Contains(got, "i.Cents * i.Count") {
		t.Errorf("the changes were not applied:\n%s", got)
	}
}

// TestIsolateChanged checks that a session with changes is not isolated unless they are undone.
func TestIsolateChanged(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Calls: looks.Calls[:1]}, changes, reply{Text: "Fixed."})...)
	x := w.Start(Large, "--mode", "auto", fix)
	x.Await("Fixed.", "Done ·")
	x.Say("/isolate")
	x.Await("the session has already changed 1 file", "/new and then /isolate")
	x.Say("/undo")
	x.Answer("enter", "undo")
	x.Await("Undid")
	x.Keys("C-c") // the prompt is in the editor again
	ready(x)
	x.Say("/isolate")
	x.Await("· isolated")
	x.Keys("C-d")
	if code := x.ended(); code != 0 {
		t.Errorf("exit %d:\n%s", code, x.Screen())
	}
	if left, err := os.ReadDir(filepath.Join(w.Data, "isolated")); err != nil || len(left) > 0 {
		t.Errorf("the view without changes is left: %v, %v\n%s", left, err, x.Screen())
	}
}

// TestCancel checks that a canceled turn keeps its output so far, and that the next
// prompt is answered.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Text: "I begin to think and never come to an end of it.", Deltas: 4, Fault: "hang"}, reply{Text: "Here."})...)
	x := w.Start(Normal)
	ask(x)
	x.Await("I begin", "esc to interrupt")
	x.Keys("Escape")
	x.Await("I begin", "Canceled")
	x.Say("Are you there?")
	x.Await("Canceled", "Here.", "Done ·")
}

// TestSteer checks that a prompt sent during a turn reaches the model with the next
// request.
func TestSteer(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Calls: []call{bash("echo begun; cat gate")}}, reply{Text: "In French, then."})...)
	gate := w.NewGate("gate")
	x := w.Start(Normal, "--mode", "yolo")
	ask(x)
	x.Await("begun")
	x.Say("Answer in French.")
	x.Await("steer ·")
	gate.Open()
	x.Await("In French, then.", "Done ·")
	s := x.Vanished("steer ·")
	if n := strings.Count(s.String(), "Answer in French."); n != 1 {
		t.Errorf("the prompt is seen %d times:\n%s", n, s)
	}
	if last := w.Asked()[1]; !strings.Contains(last, "Answer in French.") {
		t.Errorf("the model was not told: %s", last)
	}
}

// TestQueue checks that queued prompts can be changed and withdrawn.
func TestQueue(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Calls: []call{bash("echo begun; cat gate")}}, reply{Text: "First."}, reply{Text: "Second."})...)
	gate := w.NewGate("gate")
	x := w.Start(Normal, "--mode", "yolo")
	ask(x)
	x.Await("begun")
	for _, text := range []string{"Paint it red", "Never mind"} {
		x.Type(text)
		x.Await("› " + text)
		x.Keys("C-q")
		x.Await("queued · "+text, "› Ask Pawl to do something…")
	}
	x.Keys("M-Up", "BSpace") // the last one
	x.Vanished("Never mind")
	x.Keys("M-Up", "Enter")
	x.Await("› Paint it red")
	x.Type(" and blue")
	x.Await("› Paint it red and blue")
	x.Keys("Enter")
	x.Await("queued · Paint it red and blue", "› Ask Pawl to do something…")
	gate.Open()
	x.Await("First.", "Second.")
	asked := w.Asked()
	if last := asked[len(asked)-1]; len(asked) != 3 || !strings.Contains(last, "Paint it red and blue") || strings.Contains(last, "Never mind") {
		t.Errorf("after %d requests the model was told: %s", len(asked), last)
	}
}

// TestPaste checks that a long paste is one item and complete.
func TestPaste(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, reply{Text: "That is a lot."})...)
	x := w.Start(Normal)
	ready(x)
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "line %d of the paste\n", i)
	}
	x.Type("See: ")
	x.Paste(b.String())
	x.Await("See: [")
	x.Type(" What is it?")
	x.Await("What is it?")
	x.Keys("Enter")
	x.Await("That is a lot.", "Done ·")
	sent := w.Asked()[0]
	if want := strings.TrimSuffix(b.String(), "\n"); !strings.Contains(sent, strings.ReplaceAll(want, "\n", `\n`)) {
		t.Errorf("the model was not told all of it: %d bytes", len(sent))
	}
}

// TestEarlyKeys checks that keys pressed while a permission prompt opens go to the composer and do
// not answer it.
func TestEarlyKeys(t *testing.T) {
	t.Parallel()
	for _, size := range []Size{Normal, Large} {
		t.Run(size.String(), func(t *testing.T) {
			t.Parallel()
			w := newShop(t, script(t, reply{Text: "I run it.", Calls: []call{bash("touch made")}, DelayMS: 100}, reply{Text: "It ran."})...)
			x := w.Start(size, "--mode", "ask")
			ask(x)
			for !x.Screen().Has("`touch made` changed 1 file") {
				x.Keys("y")
			}
			x.Keys("y", "a", "1", "2", "n")
			x.Await("ya12n")
			if _, err := os.Stat(filepath.Join(w.Project, "made")); !os.IsNotExist(err) {
				t.Errorf("a key that was pressed before answered: %v", err)
			}
			x.Await("tab answer")
			x.Keys("Tab")
			x.Choose("1", "Apply")
			x.Await("It ran.")
			if _, err := os.Stat(filepath.Join(w.Project, "made")); err != nil {
				t.Error(err)
			}
			x.Await("ya12n") // the draft stays
		})
	}
}

// TestRewind checks that a rewind restores the files and puts the prompt back into
// the input.
func TestRewind(t *testing.T) {
	t.Parallel()
	w := newShop(t, script(t, aTurn...)...)
	x := w.Start(Large, "--mode", "yolo")
	done(x)
	if !strings.Contains(w.Read("cart/cart.go"), "i.Cents * i.Count") {
		t.Fatal("the file was not changed")
	}
	x.Say("/rewind")
	x.Answer("enter", "preview")
	x.Await("Change 1 file", "scope:")
	x.Answer("enter", "rewind")
	x.Await("Undid", "› "+fix)
	x.Vanished("Fixed.") // the conversation is reloaded
	if got := w.Read("cart/cart.go"); got != cartGo {
		t.Errorf("the file is not as it was:\n%s", got)
	}
}
