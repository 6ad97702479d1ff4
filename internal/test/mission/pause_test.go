//go:build e2e

package mission

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// TestPaused: a pause interrupts no worker and starts no other, also if the Commander delegates and asks for the seal.
// The mission goes on when it is resumed.
func TestPaused(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.As("worker:T1", WriteFile("T1.here", "one\n"), w.awaitSignal(), "Done.")
	w.As("worker:T2", WriteFile("T2.here", "two\n"), "Done.")
	w.Lead(
		Plan(Task("T1", "One", []string{"T1.here"}), Task("T2", "Two", []string{"T2.here"}, "T1")), Delegate(), "I wait.",
		[]Call{Delegate(), Seal()}, "It is paused. "+sealText,
		"I wait.", Seal(), "Done.",
	)
	r := w.start("--check", Changed)
	tree := w.worktree("T1.here")
	w.until("its command runs", func() bool { return len(w.atWork()) > 0 })
	out := w.Must(t, "mission", "pause")
	if !strings.Contains(out.Stderr, "pauses after 1 running task") {
		t.Errorf("said %q", out.Stderr)
	}
	if text := w.Must(t, "mission", "status").Stdout; !strings.Contains(text, "It pauses when the workers that run have finished (1)") {
		t.Errorf("the status is\n%s", text)
	}
	w.signal(tree)
	code := r.end()
	b := w.Board()
	one, two := b.Mission.Task("T1"), b.Mission.Task("T2")
	if code != 6 || b.State != pawl.MissionPaused || one.Phase != pawl.PhaseMerged || one.Attempt != 1 || two.Phase != pawl.PhaseQueued || two.Attempt != 0 {
		t.Fatalf("exit %d, the mission is %s\n%s\n%s", code, b.State, r.stderr.String(), w.reported(b))
	}
	if text := w.Must(t, "mission", "list").Stdout; !strings.Contains(text, " paused ") {
		t.Errorf("the list is\n%s", text)
	}
	if out := w.Must(t, "mission", "pause"); !strings.Contains(out.Stderr, "is not running: paused") {
		t.Errorf("said %q", out.Stderr)
	}
	res := harness.Wait(t, w.Workdir.Command("mission", "resume"))
	if b := w.Board(); res.Code != 0 || b.State != pawl.MissionSealed {
		t.Fatalf("exit %d, the mission is %s\n%s\n%s", res.Code, b.State, res.Stderr, w.reported(b))
	}
}

// TestPausedKilled: a mission that is killed while it pauses starts no other worker before it was paused.
func TestPausedKilled(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.As("worker:T1", WriteFile("T1.here", "one\n"), Line{Text: "Done.", DelayMS: 5000})
	w.As("worker:T2", WriteFile("T2.here", "two\n"), "Done.")
	w.Lead(Plan(Task("T1", "One", []string{"T1.here"}), Task("T2", "Two", []string{"T2.here"}, "T1")), Delegate(), "I wait.", "It is paused.", "I wait.", Seal(), "Done.")
	r := w.start("--check", Changed)
	w.worktree("T1.here")
	w.Must(t, "mission", "pause")
	r.kill()
	res := harness.Wait(t, w.Workdir.Command("mission", "resume"))
	b := w.Board()
	if res.Code != 0 || b.State != pawl.MissionSealed {
		t.Fatalf("exit %d, the mission is %s\n%s\n%s", res.Code, b.State, res.Stderr, w.reported(b))
	}
	paused := strings.Index(res.Stderr, "the mission is paused")
	if other := strings.Index(res.Stderr, "T2 started"); paused < 0 || other < paused {
		t.Errorf("T2 started before the pause\n%s", res.Stderr)
	}
}
