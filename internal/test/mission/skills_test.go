//go:build e2e

package mission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/gitserver"
)

// carver is a skill that a worker does not have.
func carver(name string) map[string]string {
	return map[string]string{
		"skills/" + name + "/SKILL.md": "---\nname: " + name + "\ndescription: Carves.\nallowed-tools: Bash(rm *)\n---\nRun carve.sh: GARGANEY.\n",
		"skills/" + name + "/carve.sh": "echo carved by DUNLIN\n",
	}
}

// TestWorkerInstallsSkill: a worker installs, loads and uses a skill of a trusted owner. The
// next task can load it; the planner and the reviewer install others. The project, its trust and
// its skills stay as they are. The owner is trusted only if the user says so.
func TestWorkerInstallsSkill(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ user, project, trusted bool }{
		"trusted owner":        {user: true, trusted: true},
		"no trusted owner":     {},
		"named by the project": {project: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := gitserver.Start(t)
			commit := server.Commit("alice/tools", carver("carve"))
			server.Commit("alice/more", carver("polish"))
			server.Commit("alice/plans", carver("sketch"))
			w := newGuarded(t)
			w.Env = append(w.Env, server.Env()...)
			home, config := w.Dir+"-home", `{"skills":{"trusted_owners":["`+server.Host+`/alice"]}}`
			if test.user {
				w.put(home+".json", config)
				w.Env = append(w.Env, "PAWL_CONFIG="+home+".json")
			}
			if test.project {
				w.Commit(map[string]string{".pawl/config.json": config})
			}
			w.Must(t, "trust", "--yes")
			head := w.Git("rev-parse", "HEAD")
			expect := func(yes, no string) string {
				if test.trusted {
					return yes
				}
				return no
			}
			script := filepath.Join(home, ".agents/skills/carve/carve.sh")
			load := Call{"skill", Object{"name": "carve"}}
			w.As("worker:T1", Shell("npx -y skills@latest add https://"+server.Host+"/alice/tools --skill carve -y"),
				Line{Expect: expect("Installed skill carve from .*commit "+commit, "not permitted.*skills.trusted_owners"), Calls: []Call{load}},
				Line{Expect: expect("GARGANEY", "Unknown skill|No skill"), Calls: []Call{Shell("sh " + script + " > out.txt; echo x > " + script + "; echo end >> out.txt")}}, "Done.")
			w.As("worker:T2", load, Line{Expect: expect("GARGANEY", "Unknown skill|No skill"), Calls: []Call{WriteFile("two.txt", "two\n")}}, "Done.")
			w.As("reviewer", Call{"skill", Object{"name": "polish", "source": "https://" + server.Host + "/alice/more"}},
				Line{Expect: expect("Installed skill polish", "not permitted.*skills.trusted_owners"), Calls: []Call{Shell("rm -rf .agents; echo x > notes.txt"), Verdict(true, "goal")}}, "I have looked.")
			w.As("planner", Call{"skill", Object{"source": "https://" + server.Host + "/alice/plans"}},
				Line{Expect: expect("Installed skill sketch", "not permitted.*skills.trusted_owners"), Calls: []Call{
					Plan(Task("T1", "Carve", []string{"out.txt"}), Task("T2", "Write", []string{"two.txt"}, "T1")),
				}}, "It is planned.")
			w.Lead(Call{"delegate", Object{"planner": "Plan it."}}, Delegate(), "I wait.", Seal(), "Done.")
			out := w.Run("--check", held, "Carve it.")
			b := w.Board()
			if out.Code != 0 || b.State != pawl.MissionSealed {
				t.Fatalf("exit %d, the mission is %s\n%s\n%s", out.Code, b.State, out.Stderr, w.reported(b))
			}
			for _, task := range b.Mission.Tasks {
				if task.Attempt != 1 || len(task.Outside) > 0 {
					t.Errorf("%+v", task)
				}
			}
			w.has(b, "out.txt", expect("carved by DUNLIN\nend", "end"))
			if changed := w.Git("diff", "--name-only", head, b.Mission.Branch); changed != "out.txt\ntwo.txt" {
				t.Errorf("the mission changed %q", changed)
			}
			checkInstalled(t, home, test.trusted)
			if !test.trusted && server.Requests() > 0 {
				t.Errorf("%d requests to the server of an owner that is not trusted", server.Requests())
			}
			if status := w.Git("status", "--porcelain", "--", "AGENTS.md", ".agents", ".pawl/config.json", "notes.txt"); status != "" {
				t.Errorf("the project has changed:\n%s", status)
			}
			if status := w.Workdir.Run(t, "trust", "--status"); status.Code != 0 {
				t.Errorf("the project is not trusted any more: %s", status.Stdout)
			}
			w.clean()
		})
	}
}

// checkInstalled checks which skills the user has, and that they are pinned.
func checkInstalled(t *testing.T, home string, installed bool) {
	t.Helper()
	lock, err := os.ReadFile(filepath.Join(home, ".agents/skills/skills.lock"))
	if !installed {
		if err == nil {
			t.Errorf("installed was %s", lock)
		}
		return
	}
	for _, text := range []string{`"carve"`, `"polish"`, `"sketch"`, `/alice/tools"`, `"sha256"`, `"commit"`} {
		if !strings.Contains(string(lock), text) {
			t.Errorf("the lock file has no %s: %s, %v", text, lock, err)
		}
	}
}
