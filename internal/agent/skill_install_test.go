package agent

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// carveSource returns a repository with the skill carve, and its commit.
func carveSource(t *testing.T) (dir, commit string) {
	t.Helper()
	dir = t.TempDir()
	script := `mkdir carve && printf -- '---\nname: carve\ndescription: Carves.\nallowed-tools: bash write\n---\nGARGANEY\n' > carve/SKILL.md && echo x > carve/run.sh &&
		git init -q -b main && git add . && git -c user.name=a -c user.email=a@b commit -qm one && git rev-parse HEAD`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir, strings.TrimSpace(string(out))
}

// skillInstaller gives sessions the skill tool, which installs into home whatever is in a
// repository of this machine, and recognizes the command that does.
func (w *testEnv) skillInstaller(home, source string) {
	w.t.Helper()
	w.configureProject(true, nil)
	installer := &skill.Installer{
		Dir:  filepath.Join(home, ".agents/skills"),
		Open: func(dir string) (skill.Tree, error) { return workspace.Open(dir) },
		Fetch: func(ctx context.Context, from skill.Source) (skill.Repository, error) {
			g, err := git.Find(ctx, w.dir)
			if err != nil {
				return nil, err
			}
			return g.Fetch(ctx, git.Remote{Address: "file://" + source, Ref: from.Ref, Local: true})
		},
	}
	skills := tool.Skill(func(ctx context.Context, c toolapi.Call) (*skill.Set, error) {
		return extension.Places{Home: home}.Look(ctx, c.Dir).Skills, nil
	}, func(toolapi.Call) *skill.Installer { return installer })
	more, err := w.Tools.With(skills)
	if err != nil {
		w.t.Fatal(err)
	}
	bash, _ := more.Tool("bash")
	w.Tools = more.Replace(tool.SkillCommands(bash, skills))
}

// TestSkillInstall: an agent's own command installs a skill without a program of a third
// party. Skills of a trusted owner need no permission; the user is asked about others, and
// sees the commit and the files. Where nobody can be asked, they are denied. A skill allows
// nothing.
func TestSkillInstall(t *testing.T) {
	t.Parallel()
	const denied = `"expect":"^not permitted: .*skills.trusted_owners in the user's configuration does not have github.com/alice"`
	yes, no := pawl.Answer{Outcome: pawl.OutcomeAnswered}, pawl.Answer{Outcome: pawl.OutcomeDenied, Text: "never"}
	for name, c := range map[string]struct {
		mode, owner, expect string
		answer              pawl.Answer
		absent, tool        bool
		installed           bool
		asks                int
	}{
		"trusted":           {mode: "guard", owner: "github.com/alice", expect: `"expect":"^Installed skill carve"`, installed: true},
		"trusted, by tool":  {mode: "guard", owner: "github.com/alice", tool: true, expect: `"expect":"^Installed skill carve"`, installed: true},
		"trusted, auto":     {mode: "auto", owner: "github.com/alice", expect: `"expect":"^Installed skill carve"`, installed: true},
		"trusted, plan":     {mode: "plan", owner: "github.com/alice", expect: `"expect":"^Installed skill carve"`, installed: true},
		"trusted, nobody":   {mode: "guard", owner: "github.com/alice", absent: true, expect: `"expect":"^Installed skill carve"`, installed: true},
		"allowed":           {mode: "guard", owner: "github.com/bob", answer: yes, expect: `"expect":"^Installed skill carve"`, installed: true, asks: 1},
		"allowed, ask mode": {mode: "ask", owner: "github.com/Alice", answer: yes, tool: true, expect: `"expect":"^Installed skill carve"`, installed: true, asks: 1},
		"denied":            {mode: "guard", owner: "github.com/alic", answer: no, expect: `"expect":"^Not installed: the user .*never"`, asks: 1},
		"nobody is there":   {mode: "guard", owner: "github.com/bob", absent: true, expect: denied},
		"auto":              {mode: "auto", owner: "github.com/bob", expect: denied},
		"plan":              {mode: "plan", owner: "github.com/bob", tool: true, expect: denied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, commit := carveSource(t)
			home := t.TempDir()
			call := `{"calls":[{"name":"bash","input":{"command":"npx -y skills@latest add alice/tools --skill carve -y"}}]}`
			if c.tool {
				call = `{"calls":[{"name":"skill","input":{"name":"carve","source":"alice/tools"}}]}`
			}
			w := newEnv(t, setup{script: []string{call, `{` + c.expect + `,"calls":[{"name":"skill","input":{"name":"carve"}}]}`, `{"text":"Ok."}`}})
			w.skillInstaller(home, source)
			w.authority().TrustOwners(c.owner)
			w.prompt("go", inMode(c.mode), func(p *pawl.Prompted) { p.Absent = c.absent })
			go w.answerAll(t.Context(), c.answer)
			w.mustTurn(pawl.ReasonEndTurn)
			_, err := os.Stat(filepath.Join(home, ".agents/skills/carve/SKILL.md"))
			loaded := strings.Contains(w.results()[1].Result.Content, "GARGANEY")
			check(t, []bool{c.installed, c.installed}, []bool{err == nil, loaded})
			asked := w.bodies(pawl.Asked{})
			check(t, c.asks, len(asked))
			for _, b := range asked {
				text := b.(pawl.Asked).Text
				for _, word := range []string{"Install skills?\n  | github.com/alice/tools\n", "does not have github.com/alice", commit, "+ SKILL.md", "+ run.sh"} {
					if !strings.Contains(text, word) {
						t.Errorf("the prompt does not show %q:\n%s", word, text)
					}
				}
			}
			if got := w.results()[0].Result.Meta["commit"]; c.installed && got != commit {
				t.Errorf("the log has the commit %q", got)
			}
		})
	}
}

// TestSkillCommandWithoutTool: a turn that may not use the skill tool does not get it by a
// command, which stays a command.
func TestSkillCommandWithoutTool(t *testing.T) {
	t.Parallel()
	for name, tools := range map[string][]string{"with": nil, "without": {"bash"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, _ := carveSource(t)
			var ran []pawl.CallID
			w := newEnv(t, setup{tools: []toolapi.Tool{command(&ran)}, script: []string{`{"calls":[{"name":"bash","input":{"command":"npx skills add alice/tools"}}]}`, `{"text":"Ok."}`}})
			home := t.TempDir()
			w.skillInstaller(home, source)
			w.authority().TrustOwners("github.com/alice")
			w.prompt("go", inMode("guard"), func(p *pawl.Prompted) { p.Tools = tools })
			w.mustTurn(pawl.ReasonEndTurn)
			_, err := os.Stat(filepath.Join(home, ".agents"))
			check(t, []bool{tools == nil, tools != nil}, []bool{err == nil, len(ran) == 1})
		})
	}
}
