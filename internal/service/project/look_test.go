package project_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// brought is what a repository might bring.
var brought = map[string]string{
	".claude/agents/reviewer.md":  "---\nname: reviewer\ndescription: Reviews.\n---\nYou review.",
	".pawl/agents/writer.md":      "---\ndescription: Writes.\nmode: primary\n---\nYou write.",
	".pawl/agents/secret.md":      "---\nmode: all\nhidden: true\n---\nYou hide.",
	".pawl/agents/build.md":       "You are another build.",
	".claude/commands/fix.md":     "---\ndescription: Fixes.\nargument-hint: \"[number]\"\n---\nFix $1.",
	".claude/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Reads PDFs.\n---\nRead.",
	"go.mod":                      "module x",
}

func TestLook(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	w.put(w.dir, brought)
	w.put(w.home, map[string]string{".pawl/commands/mine.md": "Do it.", ".pawl/commands/empty.md": ""})
	w.git("init", "-q", "-b", "work")
	detected, _ := sandbox.Detect(t.Context())
	mode := "guard"
	if detected.Name() == "none" {
		mode = "ask"
	}
	own := []pawl.AgentInfo{
		{Name: "build", Description: "Works on tasks: edits files and runs commands.", Origin: "built-in", Mode: "primary", Native: true},
		{Name: "explore", Description: "Searches the project and answers questions about it. Changes nothing.", Origin: "built-in", Mode: "subagent", Native: true},
		{Name: "general", Description: "Works on a part of a task by itself.", Origin: "built-in", Mode: "subagent", Native: true},
		{Name: "plan", Description: "Explores and plans. Changes nothing until you approve the plan.", Origin: "built-in", Mode: "primary", Native: true},
	}
	parts := []string{
		"command .claude/commands/fix.md: adds a command",
		"skill .claude/skills/pdf/SKILL.md: is part of a skill, whose scripts the model can run",
		"agent .claude/agents/reviewer.md: defines an agent: its prompt and tools",
		"agent .pawl/agents/build.md: defines an agent: its prompt and tools",
		"agent .pawl/agents/secret.md: defines an agent: its prompt and tools",
		"agent .pawl/agents/writer.md: defines an agent: its prompt and tools",
		"language go.mod: starts gopls, if installed, which can run the project's build tools",
	}
	want := pawl.Project{
		Dir: w.dir, Top: w.dir, Branch: "work", Mode: mode, Modes: []string{"plan", "ask", "guard", "auto", "yolo"}, Sandbox: detected.Name(),
		Trust: pawl.TrustInfo{State: "unknown"}, Agents: own, Skills: []pawl.SkillInfo{}, Servers: []pawl.ServerInfo{},
		Commands: []pawl.CommandInfo{{Name: "mine", Origin: "user"}},
		Notes:    []string{filepath.Join(w.home, ".pawl/commands/empty.md") + ": the file has no prompt: write it below the front matter"},
	}
	same := func(name string, want, got pawl.Project) {
		t.Helper()
		var seen []string
		for _, part := range got.Trust.Parts {
			if !strings.HasPrefix(part, "git ") { // what git brings of itself
				seen = append(seen, part)
			}
		}
		if got.Trust.Hash == "" {
			t.Errorf("%s: what it brings has no hash", name)
		}
		got.Trust.Hash, got.Trust.Parts = "", nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(parts, seen, sorted); diff != "" {
			t.Errorf("%s: parts (-want +got):\n%s", name, diff)
		}
	}
	same("a stranger's", want, w.look())

	w.trust()
	want.Trust.State = "trusted"
	want.Agents = slices.Concat(own, []pawl.AgentInfo{
		{Name: "reviewer", Description: "Reviews.", Origin: "project", Mode: "subagent"},
		{Name: "secret", Origin: "project", Mode: "all", Hidden: true},
		{Name: "writer", Description: "Writes.", Origin: "project", Mode: "primary"},
	})
	want.Commands = []pawl.CommandInfo{{Name: "fix", Description: "Fixes.", Arguments: "[number]", Origin: "project"}, {Name: "mine", Origin: "user"}}
	want.Skills = []pawl.SkillInfo{{Name: "pdf", Description: "Reads PDFs.", Origin: "project"}}
	want.Notes = []string{filepath.Join(w.dir, ".pawl/agents/build.md") + ": a built-in agent has this name: rename it", want.Notes[0]}
	same("a trusted one", want, w.look())

	// What has changed since counts for nothing, at once.
	w.put(w.dir, map[string]string{".claude/commands/fix.md": "Break $1."})
	if f := w.look(); f.Trust.State != "changed" || len(f.Commands) != 1 || len(f.Skills) != 0 {
		t.Errorf("what has changed is %s, with %v", f.Trust.State, f.Commands)
	}
}

func TestLookRefuses(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	w.put(w.dir, map[string]string{"file": "x"})
	for dir, want := range map[string]pawl.Code{"": pawl.CodeInvalid, ".": pawl.CodeInvalid, "work": pawl.CodeInvalid, w.dir + "/gone": pawl.CodeNotFound, w.dir + "/file": pawl.CodeInvalid} {
		if _, err := w.Look(t.Context(), dir); err == nil || pawl.CodeOf(err) != want {
			t.Errorf("look at %q: %v", dir, err)
		}
		if _, err := w.Files(t.Context(), dir, "", 0); err == nil || pawl.CodeOf(err) != want {
			t.Errorf("files of %q: %v", dir, err)
		}
		if err := w.Trust(t.Context(), dir, "x"); err == nil || pawl.CodeOf(err) != want {
			t.Errorf("trust %q: %v", dir, err)
		}
		if _, _, err := w.Expand(t.Context(), dir, says("x")); err == nil || pawl.CodeOf(err) != want {
			t.Errorf("expand in %q: %v", dir, err)
		}
	}
}

// What is trusted is what was shown.
func TestTrust(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	w.put(w.dir, map[string]string{".mcp.json": "{}"})
	shown := w.look().Trust.Hash
	if err := w.Trust(t.Context(), w.dir, ""); pawl.CodeOf(err) != pawl.CodeInvalid {
		t.Errorf("trust in nothing: %v", err)
	}
	w.put(w.dir, map[string]string{".mcp.json": `{"mcpServers":{"x":{"command":"evil"}}}`})
	if err := w.Trust(t.Context(), w.dir, shown); pawl.CodeOf(err) != pawl.CodeConflict {
		t.Errorf("trust in what was there before: %v", err)
	}
	if state := w.look().Trust.State; state != "unknown" {
		t.Errorf("it is %s", state)
	}
	w.trust()
	if state := w.look().Trust.State; state != "trusted" {
		t.Errorf("it is %s", state)
	}
}

// Names that would act on a terminal do not.
func TestHostileNames(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	w.put(w.dir, map[string]string{".pawl/commands/\x1b[2J\u202e.md": "x", ".pawl/agents/a.md": "---\ndescription: \"a\\e[2Jb\"\nmode: all\n---\nx"})
	w.put(w.home, map[string]string{".pawl/commands/\x1b]0;x\a.md": "x"})
	check := func(f pawl.Project) {
		t.Helper()
		for _, text := range append(append([]string{}, f.Trust.Parts...), f.Notes...) {
			if strings.ContainsAny(text, "\x1b\a\u202e") {
				t.Errorf("%q acts on a terminal", text)
			}
		}
		for _, a := range f.Agents {
			if strings.ContainsAny(a.Description, "\x1b") {
				t.Errorf("%q acts on a terminal", a.Description)
			}
		}
	}
	f := w.look()
	if check(f); len(f.Notes) != 1 || len(f.Trust.Parts) != 2 {
		t.Errorf("notes %q, parts %q", f.Notes, f.Trust.Parts)
	}
	w.trust()
	f = w.look()
	if check(f); len(f.Notes) != 2 || len(f.Agents) != 5 {
		t.Errorf("notes %q, agents %v", f.Notes, f.Agents)
	}
}

// A directory in which no work can be done says so; so does too much that is wrong.
func TestNotes(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	for i := range 150 {
		w.put(w.home, map[string]string{".pawl/commands/c" + strings.Repeat("x", i) + ".md": ""})
	}
	f := w.look()
	if len(f.Notes) != 101 || f.Notes[100] != "and 50 more: run `pawl doctor` to see all" {
		t.Errorf("%d notes, the last %q", len(f.Notes), f.Notes[len(f.Notes)-1])
	}
	w.put(w.dir, map[string]string{".pawl/config.json": "{"})
	w.trust()
	if f := w.look(); f.Mode != "" || !strings.HasPrefix(f.Notes[0], "sessions cannot run here: ") {
		t.Errorf("mode %q, notes %q", f.Mode, f.Notes[0])
	}
	if err := os.WriteFile(os.Getenv("PAWL_CONFIG"), []byte(`{"permissions":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := w.Look(t.Context(), w.dir); err == nil {
		t.Errorf("a configuration that cannot be read goes for %+v", f)
	}
}
