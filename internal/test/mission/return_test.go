//go:build e2e

package mission

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// edit changes a part of a file.
func edit(path, old, now string) Call {
	return Call{"edit", Object{"path": path, "old": old, "new": now}}
}

// read looks at a file, which an edit of it needs.
func read(path string) Call { return Call{"read", Object{"path": path}} }

// await is a command that waits until a file is there, though not forever.
func await(path string) Call {
	return Shell("for i in $(seq 600); do test -e " + path + " && exit; sleep 0.1; done; exit 1")
}

// TestConflict: two workers change the same line. The second one's work comes back
// with git's marks, the next attempt settles them, and both changes are there.
func TestConflict(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("worker:T1", []Call{read("notes.txt")}, []Call{edit("notes.txt", "second", "second by one")}, "Done.")
	w.As("worker:T2", []Call{read("notes.txt")}, []Call{edit("notes.txt", "second", "second by two")}, "Done.")
	for _, id := range []string{"T1", "T2"} {
		w.As("worker:"+id+":2", read("notes.txt"),
			Line{Expect: "(?s)<<<<<<<.*=======.*>>>>>>>", Calls: []Call{WriteFile("notes.txt", "first\nsecond by one and second by two\nthird\n")}}, "Both hold.")
	}
	w.Lead(Plan(Task("T1", "One", nil), Task("T2", "Two", nil)), Delegate(), "I wait.", Seal(), "Done.")
	b := w.goes()
	got := w.returns(b)
	if len(got) != 1 || !strings.HasSuffix(got[0], " conflict") {
		t.Errorf("came back: %q", got)
	}
	w.has(b, "notes.txt", "second by one and second by two")
	if text := w.Git("show", b.Mission.Branch+":notes.txt"); strings.Contains(text, "<<<<") {
		t.Errorf("a mark is left: %s", text)
	}
}

// TestSemanticConflict: each change passes alone, and git sees no conflict. The
// check on what is merged finds it, and the next attempt reads what it said.
func TestSemanticConflict(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.Commit(map[string]string{"count.sh": "n=$(cat *.txt | grep -c only)\ntest $n -le 1 || { echo \"only $n times\"; exit 1; }\n"})
	w.As("worker:T1", Line{Calls: []Call{WriteFile("a.txt", "only\n")}}, "Done.")
	w.As("worker:T2", Line{Calls: []Call{WriteFile("b.txt", "only\n")}}, "Done.")
	for id, file := range map[string]string{"T1": "a.txt", "T2": "b.txt"} {
		w.As("worker:"+id+":2", read(file), Line{Calls: []Call{edit(file, "only", "another one")}}, "Mended.")
	}
	w.Lead(Plan(Task("T1", "One", nil), Task("T2", "Two", nil)), Delegate(), "I wait.", Seal(), "Done.")
	b := w.goes("--check", "sh count.sh")
	got := bodies[pawl.TaskReturned](w, b.Session.ID)
	if len(got) != 1 || got[0].Why != pawl.ReturnCheck {
		t.Fatalf("came back: %+v", got)
	}
	if text := w.subtask(b, got[0].Task, 2); !strings.Contains(text, "only 2 times") || !strings.Contains(text, "Its changes are in your working directory.") {
		t.Errorf("the next attempt was told: %s", text)
	}
}

// TestWorkerFails: a worker whose model fails permanently, and one that has no steps
// left, leave what they have to the next. After three the Commander plans anew.
func TestWorkerFails(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("worker:T1:1", WriteFile("half.txt", "half\n"), Line{Fault: "error", Text: "the account is closed"})
	w.As("worker:T1:2", Line{Fault: "error"})
	w.As("worker:T1:3", Line{Fault: "error"})
	w.As("worker:T1:4", read("half.txt"), Line{Expect: "half", Calls: []Call{edit("half.txt", "half", "whole")}}, "Done.")
	again := Task("T1", "Write it", nil)
	again["detail"] = "In smaller steps."
	w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "I wait.",
		Line{Expect: "(?s)T1 came back .failed. after 3 attempts", Calls: []Call{Plan(again), Delegate()}}, "I wait again.", Seal(), "Done.")
	b := w.goes()
	if diff := cmp.Diff([]string{"T1 failed", "T1 failed", "T1 failed"}, w.returns(b)); diff != "" {
		t.Error(diff)
	}
	w.has(b, "half.txt", "whole")
	if text := w.subtask(b, "T1", 2); !strings.Contains(text, "the account is closed") {
		t.Errorf("the second attempt was told: %s", text)
	}
	if text := w.subtask(b, "T1", 4); !strings.Contains(text, "In smaller steps.") {
		t.Errorf("the last attempt was told: %s", text)
	}
}

// TestWorkerEndsEarly: a worker whose reply is cut off, or that has no steps left,
// leaves what it has to the next one.
func TestWorkerEndsEarly(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("worker:T1:1", WriteFile("T1.txt", "one\n"), Line{Text: "And now", Finish: "max_tokens"})
	w.As("worker:T2:1", WriteFile("T2.txt", "two\n"))
	for i := range 250 {
		w.As("worker:T2:1", Call{"grep", Object{"pattern": fmt.Sprintf("word%d", i)}})
	}
	for _, id := range []string{"T1", "T2"} {
		w.As("worker:"+id+":2", read(id+".txt"), Line{Expect: "one|two", Text: "It is there."})
	}
	w.Lead(Plan(Task("T1", "One", nil), Task("T2", "Two", nil)), Delegate(), "I wait.", Seal(), "Done.")
	b := w.goes()
	for _, r := range bodies[pawl.TaskReturned](w, b.Session.ID) {
		want := map[string]string{"T1": "max_tokens", "T2": "max_steps"}[r.Task]
		if r.Why != pawl.ReturnFailed || !strings.Contains(r.Text, want) {
			t.Errorf("%s came back: %s: %s", r.Task, r.Why, r.Text)
		}
	}
	w.has(b, "T1.txt", "one")
	w.has(b, "T2.txt", "two")
}

// TestWorkerHangs: a worker that gives no sign is asked, then ended, and another
// one gets its task.
func TestWorkerHangs(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("worker:T1:1", WriteFile("a.txt", "a\n"), Line{Text: "I think about it.", Fault: "hang"})
	w.As("worker:T1", read("a.txt"), Line{Expect: "a", Text: "It is there."})
	w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "I wait.", Seal(), "Done.")
	b := w.goes("--stuck", "4s")
	if got := w.returns(b); len(got) == 0 || got[0] != "T1 stuck" {
		t.Errorf("came back: %q", got)
	}
	w.has(b, "a.txt", "a")
	first := bodies[pawl.TaskStarted](w, b.Session.ID)[0].Worker
	if prompts := bodies[pawl.Prompted](w, first); len(prompts) != 2 || !strings.Contains(prompts[1].Parts.Text(), "made no progress") {
		t.Errorf("it was told %d times: %+v", len(prompts), prompts)
	}
}

// TestProtected: what must stay as it is cannot be merged.
func TestProtected(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("worker:T1:1", Shell("echo changed > other.txt"), "Done.")
	w.As("worker:T1:2", WriteFile("a.txt", "a\n"), "Done without.")
	w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "I wait.", Seal(), "Done.")
	b := w.goes("--protect", "other.txt")
	if diff := cmp.Diff([]string{"T1 protected"}, w.returns(b)); diff != "" {
		t.Error(diff)
	}
	w.has(b, "other.txt", "other")
	if text := w.subtask(b, "T1", 2); !strings.Contains(text, "Protected files were changed: other.txt") {
		t.Errorf("the second attempt was told: %s", text)
	}
}

// TestRefused: a file that differs from another in case only is not taken over.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("worker:T1:1", WriteFile("Notes.txt", "first\n"), "Done.")
	w.As("worker:T1:2", WriteFile("more.txt", "a\n"), "Done with another name.")
	w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "I wait.", Seal(), "Done.")
	b := w.goes()
	if diff := cmp.Diff([]string{"T1 refused"}, w.returns(b)); diff != "" {
		t.Error(diff)
	}
	if text := w.subtask(b, "T1", 2); !strings.Contains(text, "differ only in case") {
		t.Errorf("the second attempt was told: %s", text)
	}
}

// TestStaysInside: a worker that writes elsewhere, by a command or a tool, changes
// nothing there, and the mission goes on.
func TestStaysInside(t *testing.T) {
	t.Parallel()
	w := notes(t)
	worktrees := filepath.Join(w.data(), "worktrees")
	user, plan := filepath.Join(w.Dir, "evil.txt"), filepath.Join(w.Dir, ".pawl", "evil.txt")
	w.As("worker:T1",
		[]Call{
			Shell("echo evil > " + user), Shell("echo evil > ../evil.txt"), Shell("for d in " + worktrees + "/*/*; do echo evil > $d/evil.txt; done"),
			Shell("echo evil >> " + filepath.Join(w.Dir, "notes.txt")), Shell("git -C " + w.Dir + " branch evil"),
		},
		[]Call{WriteFile(user, "evil"), WriteFile("../evil.txt", "evil"), WriteFile(plan, "evil"), Shell("ln -s " + w.Dir + " out && echo evil > out/evil.txt; rm -f out evil.txt")},
		WriteFile("a.txt", "a\n"), "Done.")
	w.As("worker:T2", WriteFile("b.txt", "b\n"), await("gone || test -e b.txt"), "Done.")
	w.Lead(Plan(Task("T1", "Write it", nil), Task("T2", "Write more", nil)), Delegate(), "I wait.", Seal(), "Done.")
	b := w.goes()
	for _, path := range []string{user, plan, filepath.Join(w.Dir, "..", "evil.txt"), filepath.Join(worktrees, "evil.txt")} {
		if exists(path) {
			t.Errorf("%s is there", path)
		}
	}
	if text := w.Read(t, "notes.txt"); strings.Contains(text, "evil") {
		t.Errorf("the user's file is %q", text)
	}
	if out := w.Git("branch", "--list", "evil"); out != "" {
		t.Errorf("there is a branch %s", out)
	}
	if files := w.Git("ls-tree", "-r", "--name-only", b.Mission.Branch); strings.Contains(files, "evil") {
		t.Errorf("merged was %s", files)
	}
	w.has(b, "b.txt", "b")
}
