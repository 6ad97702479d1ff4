//go:build e2e

package mission

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// running is a mission that runs while the test does something.
type running struct {
	*Env
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

// start has the mission run.
func (w *Env) start(args ...string) *running {
	w.t.Helper()
	return w.begin(w.Command(append(args, "--check", held, "Write it down.")...))
}

// begin starts a command, which ends with the test.
func (w *Env) begin(cmd *exec.Cmd) *running {
	w.t.Helper()
	r := &running{Env: w, cmd: cmd}
	cmd.Stdout, cmd.Stderr = &r.stdout, &r.stderr
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return r
}

// end waits for the end, and returns the exit code.
func (r *running) end() int {
	r.t.Helper()
	var exit *exec.ExitError
	if err := r.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return r.cmd.ProcessState.ExitCode()
}

// sealed waits for the end, which is to be a seal.
func (r *running) sealed() pawl.Board {
	r.t.Helper()
	code := r.end()
	b := r.Board()
	if code != 0 || b.State != pawl.MissionSealed {
		r.t.Fatalf("exit %d, the mission is %s\n%s\n%s\n%s", code, b.State, r.stdout.String(), r.stderr.String(), r.reported(b))
	}
	r.clean()
	return b
}

// until waits for something that a mission does.
func (w *Env) until(what string, done func() bool) {
	w.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(soon); !done(); <-tick.C {
		if time.Now().After(end) {
			w.t.Fatalf("it did not come to it: %s\n%s", what, w.reported(w.Board()))
		}
	}
}

// worktree waits for a worktree that has a file, and returns where it is.
func (w *Env) worktree(file string) string {
	w.t.Helper()
	var found []string
	w.until("a workplace has "+file, func() bool {
		found, _ = filepath.Glob(filepath.Join(w.data(), "worktrees", "*", "*", file))
		return len(found) > 0
	})
	return filepath.Dir(found[0])
}

// put writes a file, for instance one that a worker waits for.
func (w *Env) put(path, text string) {
	w.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// signals returns the directory where awaitSignal looks for a file with the name of the
// worktree. A command does not see what others create in its workspace while it runs, nor
// temporary files.
func (w *Env) signals() string { return w.Dir + "-signals" }

// awaitSignal is a command that waits for signal, though not forever.
func (w *Env) awaitSignal() Call {
	w.t.Helper()
	text, err := json.Marshal(Object{"sandbox": Object{"readable": []string{w.signals()}}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.configure(text)
	if err := os.MkdirAll(w.signals(), 0o755); err != nil {
		w.t.Fatal(err)
	}
	return Shell(`for i in $(seq 3000); do test -e "` + w.signals() + `/$(basename "$PWD")" && exit; sleep 0.1; done; exit 1`)
}

// configure writes the user's configuration.
func (w *Env) configure(text []byte) {
	w.t.Helper()
	dir := filepath.Join(w.Dir+"-home", ".config", "pawl")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "pawl.json"), text, 0o600)); err != nil {
		w.t.Fatal(err)
	}
	w.Env = append(w.Env, "XDG_CONFIG_HOME="+filepath.Dir(dir))
}

// signal ends awaitSignal in a worktree.
func (w *Env) signal(worktree string) {
	w.t.Helper()
	w.put(filepath.Join(w.signals(), filepath.Base(worktree)), "")
}

// waits are the replies of a worker that says where it is, waits for a signal, and
// leaves another file.
func (w *Env) waits(id string) []any {
	return []any{WriteFile(id+".here", id+"\n"), w.awaitSignal(), Shell("true"), "Done."}
}

// todo is the mission's plan, as a file.
func (w *Env) todo(b pawl.Board) string {
	return filepath.Join(w.Dir, ".pawl", "missions", string(b.Session.ID), "TODO.md")
}

func (w *Env) file(path string) string {
	w.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// TestEdits: what a person makes of the plan while it runs is taken in.
func TestEdits(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.As("worker:T1", w.waits("T1")...)
	w.As("worker:T9", WriteFile("T9.txt", "nine\n"), "Done.")
	w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "I wait.",
		Line{Expect: "(?s)T1 is merged.*T9: planned", Calls: []Call{Delegate()}}, "I wait.", Seal(), "Done.")
	r := w.start()
	at := w.worktree("T1.here")
	todo := w.todo(w.Board())
	w.put(todo, strings.Replace(w.file(todo), "**T1**: Write it", "**T1**: Write it well", 1)+"\n- [ ] **T9**: Write more\n  > As the user likes it.\n")
	w.signal(at)
	b := r.sealed()
	if title := b.Mission.Task("T1").Task.Title; title != "Write it well" {
		t.Errorf("the title is %q", title)
	}
	if text := w.subtask(b, "T9", 1); !strings.Contains(text, "As the user likes it.") {
		t.Errorf("the worker was told: %s", text)
	}
	w.has(b, "T9.txt", "nine")
}

// TestBadEdits: an edit that cannot be taken over is put aside and told, and the
// plan stays.
func TestBadEdits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit func(text string) string
		want string
	}{
		"broken": {func(text string) string { return text + "\nplease do it\n" }, "(?s)cannot be taken over.*please do it"},
		"a merged task": {func(text string) string {
			return strings.Replace(text[:strings.Index(text, "- [x] **T1**")]+text[strings.Index(text, "- [ ] **T2**"):], "  - after: T1\n", "", 1)
		}, "(?s)cannot be taken over.*T1 is merged and cannot be dropped"},
	} {
		t.Run(name, func(t *testing.T) {
			w := notes(t)
			w.As("reviewer", Verdict(true, "goal"), "I have looked.")
			w.As("worker:T1", WriteFile("T1.txt", "one\n"), "Done.")
			w.As("worker:T2", w.waits("T2")...)
			w.Lead(Plan(Task("T1", "Write it", nil), Task("T2", "More", nil, "T1")), Delegate(), "I wait.", Line{Expect: test.want, Text: "I see."}, Seal(), "Done.")
			r := w.start()
			at := w.worktree("T2.here")
			todo := w.todo(w.Board())
			w.until("the plan shows it", func() bool {
				return strings.Contains(w.file(todo), "- [x] **T1**") && strings.Contains(w.file(todo), "state: working")
			})
			edited := test.edit(w.file(todo))
			w.put(todo, edited)
			w.signal(at)
			r.sealed()
			if output := r.stderr.String(); !strings.Contains(output, "Your edit of the plan was rejected") || !strings.Contains(output, "TODO.rejected.md") {
				t.Errorf("the user reads\n%s", output)
			}
			if kept := w.file(strings.TrimSuffix(todo, ".md") + ".rejected.md"); !strings.HasPrefix(kept, edited[:strings.Index(edited, "\n<!-- pawl:")]) {
				t.Errorf("kept was %q", kept)
			}
			if text := w.file(todo); !strings.Contains(text, "- [x] **T2**") {
				t.Errorf("the plan is %q", text)
			}
		})
	}
}

// TestSteer: what a person says reaches the Commander while it waits for workers,
// and what the Commander says reaches them.
func TestSteer(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.As("worker:T1", WriteFile("T1.here", "one\n"), w.awaitSignal(), Line{Expect: "Use the new one.", Calls: []Call{Shell("true")}}, "Done.")
	w.As("worker:T2", WriteFile("T2.here", "two\n"), Line{Text: "I think.", Fault: "hang"})
	w.Lead(Plan(Task("T1", "One", nil), Task("T2", "Two", nil)), Delegate(), "I wait.",
		Line{Expect: "Drop the second.", Calls: []Call{
			{"task_message", Object{"task": "T1", "text": "Use the new one."}}, {"task_cancel", Object{"task": "T2"}},
		}},
		Line{Expect: "T2 came back .canceled.", Calls: []Call{Plan(Task("T1", "One", nil))}}, "I wait again.", Seal(), "Done.")
	r := w.start()
	at := w.worktree("T1.here")
	w.worktree("T2.here")
	id := string(w.Board().Session.ID)
	said := w.begin(w.Workdir.Command("run", "-s", id, "--if-busy", "steer", "Drop the second."))
	w.until("the Commander acts", func() bool {
		b := w.Board()
		return b.Mission.Task("T2") == nil
	})
	w.signal(at)
	b := r.sealed()
	if code := said.end(); code != 0 {
		t.Errorf("to say it: exit %d\n%s", code, said.stderr.String())
	}
	if diff := cmp.Diff([]string{"T2 canceled"}, w.returns(b)); diff != "" {
		t.Error(diff)
	}
	if files := w.Git("ls-tree", "-r", "--name-only", b.Mission.Branch); strings.Contains(files, "T2") {
		t.Errorf("merged was %s", files)
	}
}

// TestSteerWhileMerging: what a person says while work is being merged and checked
// is heard before the next worker is waited for.
func TestSteerWhileMerging(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.Commit(map[string]string{"slow.sh": "if test -e T1.h*; then sleep 4; fi\n"})
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.As("worker:T1", WriteFile("T1.here", "one\n"), w.awaitSignal(), Shell("true"), "Done.")
	w.As("worker:T2", WriteFile("T2.here", "two\n"), w.awaitSignal(), Line{Expect: "Hurry.", Calls: []Call{Shell("true")}}, "Done.")
	w.Lead(Plan(Task("T1", "One", nil), Task("T2", "Two", nil)), Delegate(), "I wait.",
		Line{Expect: "It is late.", Calls: []Call{{"task_message", Object{"task": "T2", "text": "Hurry."}}}}, "I wait again.", Seal(), "Done.")
	r := w.start("--check", "sh slow.sh")
	one, at := w.worktree("T1.here"), w.worktree("T2.here")
	w.until("the Commander waits", func() bool { return len(bodies[pawl.Replied](w, w.Board().Session.ID)) == 3 })
	w.signal(one)
	w.until("the first is checked", func() bool {
		b := w.Board()
		one := b.Mission.Task("T1")
		for _, s := range b.Team {
			if s.ID == one.Worker && s.Turns > 0 && s.State() == pawl.StateIdle {
				return true
			}
		}
		return false
	})
	id := w.Board().Session.ID
	said := w.begin(w.Workdir.Command("run", "-s", string(id), "--if-busy", "steer", "It is late."))
	w.until("the Commander acts", func() bool {
		for _, f := range bodies[pawl.CallFinished](w, id) {
			if f.Result.Content == "Sent." {
				return true
			}
		}
		return false
	})
	w.signal(at)
	r.sealed()
	if code := said.end(); code != 0 {
		t.Errorf("to say it: exit %d\n%s", code, said.stderr.String())
	}
}

// atWork are the processes that are in a worktree.
func (w *Env) atWork() (list []string) {
	w.t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, link := range links {
		if dir, err := os.Readlink(link); err == nil && strings.Contains(dir, filepath.Join(w.data(), "worktrees")) {
			list = append(list, link+" "+dir)
		}
	}
	return list
}

// TestStopped: nobody works on once a mission is stopped, what workers had is kept,
// and with the next prompt it goes on from there.
func TestStopped(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.As("worker:T1:1", WriteFile("T1.here", "one\n"), w.awaitSignal(), "Done.")
	w.As("worker:T1:2", read("T1.here"), Line{Expect: "one", Text: "It is there already."})
	w.Lead(Plan(Task("T1", "One", nil)), Delegate(), "I wait.", "I wait.", Seal(), "Done.")
	r := w.start()
	w.worktree("T1.here")
	w.until("a command of the worker's runs", func() bool { return len(w.atWork()) > 0 })
	if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := r.end(); code != 130 {
		t.Errorf("exit %d\n%s", code, r.stderr.String())
	}
	b := w.Board()
	if b.State != pawl.MissionStopped {
		t.Errorf("the mission is %s", b.State)
	}
	if list := w.atWork(); len(list) > 0 {
		t.Errorf("still at work: %q", list)
	}
	left := w.left() // the base commit, whose guards apply to the worker, and its worktree
	if len(left) != 2 || !slices.ContainsFunc(left, func(dir string) bool { return exists(filepath.Join(dir, "T1.here")) }) {
		t.Errorf("kept was %q", left)
	}
	out := w.Workdir.Run(w.t, "run", "-s", string(b.Session.ID), "Go on.")
	b = w.Board()
	if out.Code != 0 || b.State != pawl.MissionSealed {
		t.Fatalf("exit %d, the mission is %s\n%s\n%s", out.Code, b.State, out.Stderr, w.reported(b))
	}
	if diff := cmp.Diff([]string{"T1 stopped"}, w.returns(b)); diff != "" {
		t.Error(diff)
	}
	w.has(b, "T1.here", "one")
	w.clean()
}

// TestGoesOn: a mission that was blocked, or had spent all, goes on with a prompt,
// from what its workers had.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		state pawl.MissionState
		args  []string
		lead  []any
	}{
		"after a block": {pawl.MissionBlocked, nil, []any{
			Line{Calls: []Call{{"block", Object{"reason": "Ask me."}}}, DelayMS: 3000}, "I need somebody.",
		}},
		"after a budget": {pawl.MissionStopped, []string{"--max-tokens", "500", "--stuck", "20s"}, []any{"I wait."}},
	} {
		t.Run(name, func(t *testing.T) {
			w := notes(t)
			w.As("reviewer", Verdict(true, "goal"), "I have looked.")
			for _, id := range []string{"T1", "T2"} {
				w.As("worker:"+id+":1", Line{Calls: []Call{WriteFile(id+".here", id+"\n")}, DelayMS: 1000, Usage: Object{"input": 300, "output": 1}}, Line{Text: "I think.", Fault: "hang"})
				w.As("worker:"+id+":2", Shell("test -e "+id+".here || echo "+id+" > "+id+".here"), "It is there.") // its budget may have ended it before
			}
			w.Lead(Plan(Task("T1", "One", nil), Task("T2", "Two", nil)), Delegate())
			w.Lead(test.lead...)
			w.Lead(Line{Expect: "Go on.", Text: "I wait."}, Seal(), "Done.")
			b := w.ends(test.state, test.args...)
			if left := w.left(); len(left) > 3 { // the worktrees, and the base commit
				t.Errorf("left is %q", left)
			}
			out := w.Workdir.Run(t, "run", "-s", string(b.Session.ID), "Go on.")
			b = w.Board()
			if out.Code != 0 || b.State != pawl.MissionSealed {
				t.Fatalf("exit %d, the mission is %s\n%s\n%s", out.Code, b.State, out.Stderr, w.reported(b))
			}
			w.has(b, "T1.here", "T1")
			w.has(b, "T2.here", "T2")
			if b.Mission.Attempts > 4 {
				t.Errorf("there were %d attempts", b.Mission.Attempts)
			}
			w.clean()
		})
	}
}
