//go:build e2e

package mission

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
)

// simple is a mission with one task.
func (w *Env) simple() {
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	w.As("worker:T1", WriteFile("a.txt", "a\n"), "Done.")
	w.Lead(Plan(Task("T1", "Write it", nil)), Delegate(), "I wait.", Seal(), "Done.")
}

// TestDirty: what is not committed is no part of a mission, and stays.
func TestDirty(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.Write(t, "notes.txt", "changed by the user\n")
	w.Write(t, "new.txt", "new\n")
	w.Write(t, "other.txt", "staged\n")
	w.Git("add", "other.txt")
	before := w.Git("status", "--porcelain")
	w.simple()
	out := w.Run("--check", held, "Write it down.")
	b := w.Board()
	if out.Code != 0 || b.State != pawl.MissionSealed {
		t.Fatalf("exit %d, the mission is %s\n%s\n%s", out.Code, b.State, out.Stderr, w.reported(b))
	}
	after := strings.ReplaceAll(w.Git("status", "--porcelain"), "\n?? .pawl/", "")
	if before != after {
		t.Errorf("before %q, after %q", before, after)
	}
	if files := w.Git("ls-tree", "-r", "--name-only", b.Mission.Branch); files != "a.txt\nnotes.txt\nother.txt" {
		t.Errorf("merged was %s", files)
	}
	w.has(b, "notes.txt", "first")
	w.clean()
}

// TestSubfolder: a mission may begin below the top of a repository.
func TestSubfolder(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.Commit(map[string]string{"below/deep.txt": "deep\n"})
	top := w.Dir
	w.simple()
	script := w.Script()
	w.Dir = filepath.Join(top, "below")
	out := w.Workdir.Run(t, "mission", "--model", "script:"+script, "--mode", "guard", "--check", held, "Write it down.")
	b := w.Board()
	if out.Code != 0 || b.State != pawl.MissionSealed {
		t.Fatalf("exit %d, the mission is %s\n%s\n%s", out.Code, b.State, out.Stderr, w.reported(b))
	}
	w.clean()
}

// TestTwoMissions: two in one repository at once do not see each other.
func TestTwoMissions(t *testing.T) {
	t.Parallel()
	w := notes(t)
	w.simple()
	one := w.start()
	two := w.start()
	for _, r := range []*running{one, two} {
		if code := r.end(); code != 0 {
			t.Errorf("exit %d\n%s", code, r.stderr.String())
		}
	}
	branches := strings.Fields(w.Git("for-each-ref", "--format=%(refname)", "refs/heads/pawl"))
	if len(branches) != 2 {
		t.Fatalf("there are %q", branches)
	}
	for _, branch := range branches {
		if text := w.Git("show", branch+":a.txt"); text != "a" {
			t.Errorf("%s has %q", branch, text)
		}
	}
	w.clean()
}

// TestNoPlace: where no mission is possible an error says what to do.
func TestNoPlace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prepare func(w *Env)
		want    string
		args    []string
	}{
		"without git": {func(w *Env) {
			if err := os.RemoveAll(filepath.Join(w.Dir, ".git")); err != nil {
				w.t.Fatal(err)
			}
		}, "git init", []string{"--check", held}},
		"without a commit": {func(w *Env) {
			if err := os.RemoveAll(filepath.Join(w.Dir, ".git")); err != nil {
				w.t.Fatal(err)
			}
			w.Git("init", "-q", "-b", "main", ".")
		}, "git commit", []string{"--check", held}},
		"without checks":      {func(*Env) {}, "--check", nil},
		"an unknown check":    {func(*Env) {}, "no-such-program", []string{"--check", "no-such-program"}},
		"a check in the tree": {func(w *Env) { w.Commit(map[string]string{"check": "#!/bin/sh\n"}) }, "./check", []string{"--check", "./check"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := notes(t)
			test.prepare(w)
			w.simple()
			out := w.Run(append(test.args, "Write it down.")...)
			reported := out.Stderr
			if len(w.Sessions(t)) > 0 { // else it did not come to a mission
				reported += w.reported(w.Board())
			}
			if out.Code == 0 || !strings.Contains(reported, test.want) {
				t.Errorf("exit %d, without %q: %s", out.Code, test.want, reported)
			}
			w.clean()
		})
	}
}

// TestRateLimit: a provider that takes two calls at once has six workers wait, and
// none of them fail.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	const workers, most = 6, 2
	w := notes(t)
	w.As("worker", Line{Calls: []Call{Shell("echo mine > $(basename $PWD).txt")}, DelayMS: 300}, Line{Text: "Done.", DelayMS: 300})
	w.As("reviewer", Verdict(true, "goal"), "I have looked.")
	var tasks []Object
	for i := range workers {
		tasks = append(tasks, Task(fmt.Sprintf("T%d", i+1), "Write it", nil))
	}
	w.Lead(Plan(tasks...), Delegate(), "I wait.", Seal(), "Done.")
	model, err := fakeprovider.Open(w.Script())
	if err != nil {
		t.Fatal(err)
	}
	var now, refused, served atomic.Int64
	handler := fakeprovider.Handler(model, fakeprovider.Config{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		defer now.Add(-1)
		if now.Add(1) > most {
			refused.Add(1)
			r.Header.Set(fakeprovider.FaultHeader, "429")
		} else {
			served.Add(1)
		}
		handler.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	w.put(filepath.Join(w.data(), "models.json"), fmt.Sprintf(
		`{"providers":[{"id":"fake","protocol":"anthropic","base_url":%q,"local":true}],"models":[{"ref":"fake/lead"},{"ref":"fake/worker"},{"ref":"fake/reviewer"}]}`, server.URL))
	out := w.Workdir.Run(t, "mission", "--model", "fake/lead", "--worker-model", "fake/worker", "--reviewer", "fake/reviewer",
		"--mode", "guard", "--workers", fmt.Sprint(workers), "--check", held, "Write it down.")
	if out.Code != 0 {
		t.Fatalf("exit %d\n%s", out.Code, out.Stderr)
	}
	b := w.Board()
	if b.State != pawl.MissionSealed || b.Mission.Attempts != workers {
		t.Fatalf("exit %d, the mission is %s after %d attempts\n%s\n%s", out.Code, b.State, b.Mission.Attempts, out.Stderr, w.reported(b))
	}
	if refused.Load() == 0 {
		t.Error("nobody was refused: the limit was not reached")
	}
	t.Logf("%d calls were served, %d were refused with 429", served.Load(), refused.Load())
	w.clean()
}
