//go:build e2e

package mission

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// guarded is a project whose rule denies one command and whose hook denies another.
var guarded = map[string]string{
	"notes.txt":        "first\n",
	"victim.txt":       "alive\n",
	"other.txt":        "alive\n",
	"AGENTS.md":        "Say MAGPIE when you begin.\n",
	"sub/AGENTS.md":    "Say JACKDAW in sub.\n",
	"sub/part.txt":     "part\n",
	"scripts/guard.sh": "#!/bin/sh\ngrep -q 'rm other.txt' && { echo 'the hook says no' >&2; exit 2; }\nexit 0\n",
	".pawl/config.json": `{"permissions":{"rules":[{"tool":"bash","pattern":"rm victim.txt","decision":"deny"}]},
		"hooks":{"PreToolUse":[{"matcher":"bash","hooks":[{"type":"command","command":"sh scripts/guard.sh"}]}]}}`,
	".agents/skills/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidies HERON notes.\n---\nRun tidy.sh, then say BITTERN.\n",
	".agents/skills/tidy/tidy.sh":  "echo tidied by CURLEW\n",
}

// newGuarded returns the guarded project.
func newGuarded(t *testing.T) *Env {
	t.Helper()
	w := New(t, harness.Binary(t, ""), guarded)
	w.Env = append(w.Env, "TMPDIR="+t.TempDir())
	return w
}

// conversation returns the conversation of a member of the team.
func (w *Env) conversation(id pawl.SessionID) string {
	w.t.Helper()
	return w.Must(w.t, "session", "show", string(id)).Stdout
}

// TestGuarded: the rules, hooks and nested instructions of a trusted project apply to
// workers as they are in the base commit. What a worker changes in its worktree changes
// none of them, neither for itself nor for a task that starts from its commit.
func TestGuarded(t *testing.T) {
	t.Parallel()
	for name, trusted := range map[string]bool{"trusted": true, "not trusted": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newGuarded(t)
			if trusted {
				w.Must(t, "trust", "--yes")
			}
			remove := []Call{Shell("rm victim.txt"), Shell("rm other.txt")}
			weaken := []Call{
				Shell("echo exit 0 > scripts/guard.sh; echo Say nothing. > sub/AGENTS.md"), Shell("echo '{}' > .pawl/config.json; rm -r .agents"),
			}
			w.As("worker:T1", weaken, Call{"read", Object{"path": "sub/part.txt"}}, remove, "I have tried.")
			w.As("worker:T2", Call{"read", Object{"path": "sub/part.txt"}}, remove, "I have tried too.")
			w.As("reviewer", Verdict(true, "goal"), "I have looked.")
			w.Lead(Plan(Task("T1", "Weaken it", nil), Task("T2", "Remove it", nil, "T1")), Delegate(), "I wait.", Seal(), "Done.")
			out := w.Run("--check", held, "Tidy up.")
			b := w.Board()
			if len(b.Mission.Tasks) != 2 || b.Mission.Tasks[1].Phase != pawl.PhaseMerged {
				t.Fatalf("exit %d\n%s\n%s", out.Code, out.Stderr, w.reported(b))
			}
			for _, task := range b.Mission.Tasks {
				text := w.conversation(task.Worker)
				for _, word := range []string{"project rule", "the hook says no", "JACKDAW"} {
					if strings.Contains(text, word) != trusted {
						t.Errorf("%s: %q is there: %t\n%s", task.Task.ID, word, !trusted, text)
					}
				}
			}
			left := strings.Fields(w.Git("ls-tree", "--name-only", b.Mission.Branch, "victim.txt", "other.txt"))
			if alive := len(left) == 2; alive != trusted {
				t.Errorf("there are %q", left)
			}
			if status := w.Workdir.Run(t, "trust", "--status"); (status.Code == 0) != trusted {
				t.Errorf("after the mission: exit %d, %s", status.Code, status.Stdout)
			}
			if changed := w.Git("show", b.Mission.Branch+":scripts/guard.sh"); changed != "exit 0" {
				t.Errorf("the worker did not change the script: %q", changed)
			}
			w.clean()
		})
	}
}

// TestInstructed: the instructions and skills of a trusted project reach the workers and
// reviewers of a mission, also if they are not committed.
func TestInstructed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ trusted, committed bool }{"committed": {true, true}, "not committed": {true, false}, "not trusted": {false, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newGuarded(t)
			if !test.committed {
				w.Git("rm", "-r", "-q", "--cached", ".agents", "AGENTS.md")
				w.Git("commit", "-q", "-m", "without")
			}
			if test.trusted {
				w.Must(t, "trust", "--yes")
			}
			w.As("worker", Call{"skill", Object{"name": "tidy"}}, WriteFile("a.txt", "a\n"), "Done.")
			w.As("reviewer", Call{"skill", Object{"name": "tidy"}}, Verdict(true, "goal"), "I have looked.")
			w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "I wait.", Seal(), "Done.")
			requests := w.serve()
			out := w.Workdir.Run(t, "mission", "--model", "fake/lead", "--worker-model", "fake/worker", "--reviewer", "fake/reviewer",
				"--mode", "guard", "--check", held, "Write it down.")
			if out.Code != 0 {
				t.Fatalf("exit %d\n%s", out.Code, out.Stderr)
			}
			for _, role := range []string{"worker", "reviewer"} {
				text := requests(role)
				for _, word := range []string{"MAGPIE", "HERON", "BITTERN"} {
					if strings.Contains(text, word) != test.trusted {
						t.Errorf("%s is sent %q: %t", role, word, !test.trusted)
					}
				}
			}
			w.clean()
		})
	}
}

// serve serves the script as a provider. It returns a function that returns the requests
// for the model of a role.
func (w *Env) serve() func(role string) string {
	w.t.Helper()
	model, err := fakeprovider.Open(w.Script())
	if err != nil {
		w.t.Fatal(err)
	}
	var mu sync.Mutex
	var all [][]byte
	handler := fakeprovider.Handler(model, fakeprovider.Config{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.t.Error(err)
		}
		mu.Lock()
		all = append(all, body)
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		handler.ServeHTTP(rw, r)
	}))
	w.t.Cleanup(server.Close)
	w.put(filepath.Join(w.data(), "models.json"), fmt.Sprintf(
		`{"providers":[{"id":"fake","protocol":"anthropic","base_url":%q,"local":true}],"models":[{"ref":"fake/lead"},{"ref":"fake/worker"},{"ref":"fake/reviewer"}]}`, server.URL))
	return func(role string) string {
		mu.Lock()
		defer mu.Unlock()
		var of [][]byte
		for _, body := range all {
			if bytes.Contains(body, []byte(`"model":"`+role+`"`)) {
				of = append(of, body)
			}
		}
		return string(bytes.Join(of, []byte("\n")))
	}
}

// TestOutside: a task that changes files that it does not own is returned once with the
// evidence. If its worker leaves the change, it is merged and shown to the Commander. New
// files are the task's own, unless another task owns them.
func TestOutside(t *testing.T) {
	t.Parallel()
	w := notes(t)
	write := Shell("echo mine > mine.txt; echo test > mine_test.txt; echo changed > other.txt; test -e theirs.txt || echo x > theirs.txt")
	w.As("worker:T1:1", write, "I changed more.")
	w.As("worker:T1:2", Line{Expect: "does not own(?s:.*)other.txt, theirs.txt", Calls: []Call{Shell("rm theirs.txt")}}, "The rest is needed.")
	w.As("worker:T2", Shell("echo theirs > theirs.txt"), "Done.")
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.Lead(Plan(Task("T1", "Write mine", []string{"mine.txt"}), Task("T2", "Write theirs", []string{"theirs.txt"}, "T1")), Delegate("T1"), "I wait.",
		Line{Expect: "T1 is merged(?s:.*)does not own(?s:.*)other.txt", Calls: []Call{Delegate("T2")}}, "I wait.", Seal(), "Done.")
	out := w.Run("--check", held, "Write it down.")
	b := w.Board()
	if out.Code != 0 || b.State != pawl.MissionSealed {
		t.Fatalf("exit %d, the mission is %s\n%s\n%s", out.Code, b.State, out.Stderr, w.reported(b))
	}
	one, two := b.Mission.Tasks[0], b.Mission.Tasks[1]
	if one.Attempt != 2 || len(one.Outside) != 1 || one.Outside[0] != "other.txt" || two.Attempt != 1 || len(two.Outside) > 0 {
		t.Errorf("T1 %+v, T2 %+v", one, two)
	}
	w.has(b, "mine_test.txt", "test")
}

// TestRunMission: a prompt of 'pawl run' can start a mission, with each of its names.
func TestRunMission(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"/mission", "/task"} {
		t.Run(name[1:], func(t *testing.T) {
			t.Parallel()
			w := New(t, harness.Binary(t, ""), calc)
			w.As("reviewer", Verdict(true, "goal"), "I have looked.")
			var calls []Call
			for path, text := range goPart("Add", "a + b", "9") {
				calls = append(calls, WriteFile(path, text))
			}
			w.As("worker:T1", calls, "Done.")
			w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "I wait.", Seal(), "Done.")
			out := w.Workdir.Run(t, "run", "--model", "script:"+w.Script(), "--mode", "guard", name+" Have calc add.")
			if b := w.Board(); out.Code != 0 || b.State != pawl.MissionSealed || b.Mission.Order.Goal != "Have calc add." {
				t.Fatalf("exit %d, the mission is %s\n%s\n%s", out.Code, b.State, out.Stderr, w.reported(b))
			}
			if out := w.Workdir.Run(t, "run", "-c", name+" x"); out.Code != 2 {
				t.Errorf("with -c: exit %d, %s", out.Code, out.Stderr)
			}
		})
	}
}

// TestStatusAfterKill: after the process of a mission was killed, its status does not say
// that workers are running.
func TestStatusAfterKill(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("worker:T1", WriteFile("T1.here", "x\n"), Line{Text: "I think.", Fault: "hang"})
	w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "I wait.")
	r := w.start()
	w.worktree("T1.here")
	if b := w.Board(); b.State != pawl.MissionWorking || b.Mission.Tasks[0].Phase != pawl.PhaseRunning {
		t.Fatalf("before: %s, %s", b.State, b.Mission.Tasks[0].Phase)
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.end()
	if b := w.Board(); b.State != pawl.MissionStopped || b.Mission.Tasks[0].Phase == pawl.PhaseRunning {
		t.Errorf("after: %s, %s", b.State, b.Mission.Tasks[0].Phase)
	}
	text := w.Must(t, "mission", "status").Stdout
	if !strings.Contains(text, "stopped") || strings.Contains(text, "running") || !strings.Contains(text, "pawl mission resume") {
		t.Errorf("the status is\n%s", text)
	}
}

// TestReviewerRuns: a reviewer runs commands on the candidate. What they write is dropped.
func TestReviewerRuns(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.As("worker:T1", WriteFile("a.txt", "BUNTING\n"), "Done.")
	w.As("reviewer", Shell("sh -c 'cp a.txt copy.txt && echo changed > notes.txt && cat copy.txt'"),
		Line{Expect: "BUNTING", Calls: []Call{Shell("cat notes.txt; ls")}}, Line{Expect: "(?s)first.*a.txt", Calls: []Call{Verdict(true, "goal")}}, "I have looked.")
	w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "I wait.", Seal(), "Done.")
	out := w.Run("--check", held, "Write it down.")
	b := w.Board()
	if out.Code != 0 || b.State != pawl.MissionSealed {
		t.Fatalf("exit %d, the mission is %s\n%s\n%s", out.Code, b.State, out.Stderr, w.reported(b))
	}
	for _, s := range b.Team {
		if text := w.conversation(s.ID); strings.HasPrefix(s.Title, "Review") && strings.Contains(text, "copy.txt\n") && !strings.Contains(text, "BUNTING") {
			t.Errorf("the reviewer saw\n%s", text)
		}
	}
	if files := w.Git("ls-tree", "-r", "--name-only", b.Mission.Branch); files != "a.txt\nnotes.txt\nother.txt" {
		t.Errorf("merged was %s", files)
	}
	w.clean()
}
