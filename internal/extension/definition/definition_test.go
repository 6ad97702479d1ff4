package definition_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/workspace"
)

var update = flag.Bool("update", false, "write the golden files anew")

// put makes files. A text that begins with -> is a link.
func put(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if to, link := strings.CutPrefix(text, "->"); link {
			err = errors.Join(err, os.Symlink(to, path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func folder(t *testing.T, dir string) frontmatter.Directory {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return frontmatter.Directory{Tree: w, Path: dir}
}

// sources are all places, trusted.
func sources(t *testing.T, base string) frontmatter.Sources {
	t.Helper()
	return frontmatter.Sources{
		Project: folder(t, filepath.Join(base, "repo")), Dir: "sub", Trusted: func(string) bool { return true },
		Home: folder(t, filepath.Join(base, "home")), Config: folder(t, filepath.Join(base, "home/.config/pawl")),
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: run with -update if this is right:\n%s", path, got)
	}
}

func TestAgents(t *testing.T) {
	t.Parallel()
	base := put(t, map[string]string{
		"repo/.pawl/agents/review.md":        "---\ndescription: the top's\n---\nReview.",
		"repo/sub/.claude/agents/review.md":  "---\nname: reviewer\ndescription: Use when: asked\ntools: Read, Grep, Bash(git:*), Mystery\nmodel: sonnet\npermissionMode: bypassPermissions\nhooks: {x: y}\n---\nReview.",
		"repo/.opencode/agent/one.md":        "---\nmode: primary\nhidden: true\n---\nOne.",
		"repo/.opencode/agents/many.md":      "---\nmode: boss\nmodel: evil/model\npermission: {edit: deny, bash: {\"git *\": allow, \"*\": ask}, \"*\": allow}\n---\nMany.",
		"repo/.pawl/agents/build.md":         "---\n---\nI am build.",
		"repo/.pawl/agents/empty.md":         "---\ndescription: x\n---\n",
		"repo/.pawl/agents/off.md":           "---\ndisable: true\n---\nOff.",
		"repo/.pawl/agents/bomb.md":          "---\na: &a x\nb: *a\n---\nx",
		"repo/.pawl/agents/a b.md":           "x",
		"repo/.pawl/agents/.hidden.md":       "x",
		"repo/.pawl/agents/note.txt":         "x",
		"repo/.pawl/agents/sub/deep.md":      "x",
		"repo/.pawl/agents/link.md":          "->../../../out/secret.md",
		"repo/.claude/agents":                "->../../out",
		"out/secret.md":                      "s3cret",
		"repo/.pawl/agents/huge.md":          strings.Repeat("x", 300<<10),
		"repo/.pawl/agents/esc\x1b.md":       "x",
		"home/.claude/agents/mine.md":        "---\nmodel: opus\n---\nMine.",
		"home/.config/opencode/agent/far.md": "---\nmodel: anthropic/claude-x\n---\nFar.",
		"home/.config/pawl/agents/build.md":  "---\ndescription: my own build\n---\nBuild.",
		"home/.config/pawl/agents/mine.md":   "---\nmode: all\n---\nMine, by pawl.",
	})
	set := definition.Agents(sources(t, base), "build", "plan")
	golden(t, "agents.txt", strings.ReplaceAll(set.Show(), base, ""))
	for _, a := range set.Agents {
		if strings.Contains(a.Prompt, "s3cret") {
			t.Error("what a link leads to was read")
		}
	}
}

// TestAgentFields: what happens to each way to say something. Row H5 for what a
// file would loosen.
func TestAgentFields(t *testing.T) {
	t.Parallel()
	number := func(f float64) *float64 { return &f }
	edits := []string{"bash", "bash_kill", "bash_output", "codesearch", "diagnostics", "glob", "grep", "list", "mcp__*", "plan_exit", "question", "read", "skill", "task", "todoread", "todowrite", "webfetch", "websearch"}
	ours := slices.Sorted(slices.Values(append(slices.DeleteFunc(slices.Clone(edits), definition.OfServers), "apply_patch", "edit", "write")))
	notAllowed := func(name string) definition.Ignored {
		return definition.Ignored{Key: "tools", Why: `unknown tool "` + name + `": it is not allowed`}
	}
	for name, tt := range map[string]struct {
		tool, head string
		user       bool
		want       definition.Agent
	}{
		"nothing":           {"pawl", "", false, definition.Agent{Mode: "all"}},
		"claude's mode":     {"claude", "", false, definition.Agent{Mode: "subagent"}},
		"claude's tools":    {"claude", "tools: Read, Grep, Glob, LS, Edit, MultiEdit, Write, WebFetch, WebSearch, Task, TodoWrite, NotebookEdit", false, definition.Agent{Mode: "subagent", Tools: []string{"edit", "glob", "grep", "list", "read", "task", "todoread", "todowrite", "webfetch", "websearch", "write"}, Ignored: []definition.Ignored{notAllowed("NotebookEdit")}}},
		"bash and its kin":  {"claude", "tools: [Bash]", false, definition.Agent{Mode: "subagent", Tools: []string{"bash", "bash_kill", "bash_output"}}},
		"only unknown ones": {"claude", "tools: mcp__x y", false, definition.Agent{Mode: "subagent", Tools: []string{"mcp__x"}, Ignored: []definition.Ignored{notAllowed("y")}}},
		"servers":           {"claude", "tools: mcp__x__y, mcp__z, mcp__a__*, mcp__b__c*", false, definition.Agent{Mode: "subagent", Tools: []string{"mcp__a__*", "mcp__x__y", "mcp__z"}, Ignored: []definition.Ignored{notAllowed("mcp__b__c*")}}},
		"a server off":      {"claude", "disallowedTools: mcp__x", false, definition.Agent{Mode: "subagent", Tools: ours}},
		"their spelling":    {"opencode", "tools: {'hub_*': false}", false, definition.Agent{Mode: "all", Tools: ours}},
		"a server denied":   {"opencode", "permission: {'hub_*': {a: ask}}", false, definition.Agent{Mode: "all", Rules: []definition.Rule{{Tool: "mcp__*", Decision: "ask"}}}},
		"none":              {"pawl", "tools: []", false, definition.Agent{Mode: "all", Tools: []string{}}},
		"all":               {"pawl", "tools: '*'", false, definition.Agent{Mode: "all"}},
		"a rule is no tool": {"claude", "tools: Bash(git log:*)", false, definition.Agent{Mode: "subagent", Tools: []string{}, Ignored: []definition.Ignored{notAllowed("Bash(git log:*)")}}},
		"opencode's map":    {"opencode", "tools: {write: false, read: true}", false, definition.Agent{Mode: "all", Tools: edits}},
		"all off but some":  {"opencode", "tools: {'*': false, read: true, grep: true, x: true}", false, definition.Agent{Mode: "all", Tools: []string{"grep", "read"}, Ignored: []definition.Ignored{notAllowed("x")}}},
		"a pattern off":     {"opencode", "tools: {'web*': false, 'todo*': false, 'bash*': false, edit: false, 'p*': false, 'c*': false, 'd*': false, 'q*': false, 's*': false, 't*': false}", false, definition.Agent{Mode: "all", Tools: []string{"glob", "grep", "list", "mcp__*", "read"}}},
		"not true":          {"opencode", "tools: {'*': maybe}", false, definition.Agent{Mode: "all", Tools: []string{}}},
		"disallowed":        {"claude", "disallowedTools: Write, Bash(rm:*)", false, definition.Agent{Mode: "subagent", Tools: edits[3:]}},
		"steps":             {"opencode", "maxSteps: 7\ntemperature: 0.5\ntop_p: 1\ncolor: '#ff0000'\nhidden: true", false, definition.Agent{Mode: "all", Steps: 7, Temperature: number(0.5), TopP: number(1), Color: "#ff0000", Hidden: true}},
		"too much":          {"pawl", "steps: 99999\ntemperature: hot", false, definition.Agent{Mode: "all", Faults: []string{"steps: must be a number from 1 to 1000", "temperature: must be a number from 0 to 2"}}},
		"inherit":           {"claude", "model: inherit", false, definition.Agent{Mode: "subagent"}},
		"haiku":             {"claude", "model: haiku", false, definition.Agent{Mode: "subagent", Class: "small"}},
		"small":             {"pawl", "model: Small", false, definition.Agent{Mode: "all", Class: "small"}},
		"a larger one":      {"claude", "model: Opus", true, definition.Agent{Mode: "subagent", Ignored: []definition.Ignored{{Key: "model", Why: `"opus": the session's model is used; the only supported class is small`}}}},
		"a project's model": {"pawl", "model: x/y", false, definition.Agent{Mode: "all", Ignored: []definition.Ignored{{Key: "model", Why: "only your user configuration can name a model; a project can use small, or inherit the session's model"}}}},
		"a user's model":    {"pawl", "model: x/y", true, definition.Agent{Mode: "all", Model: "x/y"}},
		"bypass":            {"claude", "permissionMode: bypassPermissions", true, definition.Agent{Mode: "subagent", Ignored: []definition.Ignored{{Key: "permissionMode", Why: `"bypassPermissions": agent files cannot loosen permissions`}}}},
		"plan":              {"claude", "permissionMode: plan", false, definition.Agent{Mode: "subagent", Plan: true}},
		"a project allows":  {"pawl", "permission: {bash: allow, webfetch: deny}", false, definition.Agent{Mode: "all", Rules: []definition.Rule{{Tool: "webfetch", Decision: "deny"}}, Ignored: []definition.Ignored{{Key: "permission", Why: `"bash": a project cannot allow anything`}}}},
		"a user allows":     {"pawl", "permission: {read: allow, '*': ask}", true, definition.Agent{Mode: "all", Rules: []definition.Rule{{Tool: "*", Decision: "ask"}, {Tool: "read", Decision: "allow"}}}},
		"allow them all":    {"pawl", "permission: {'*': allow}", true, definition.Agent{Mode: "all", Ignored: []definition.Ignored{{Key: "permission", Why: `unknown tool "*"`}}}},
		"edits asked for":   {"opencode", "permission: {edit: {'*': ask, '*.env': deny}}", false, definition.Agent{Mode: "all", Rules: []definition.Rule{{Tool: "apply_patch", Decision: "ask"}, {Tool: "edit", Decision: "ask"}, {Tool: "write", Decision: "ask"}, {Tool: "apply_patch", Pattern: "*.env", Decision: "deny"}, {Tool: "edit", Pattern: "*.env", Decision: "deny"}, {Tool: "write", Pattern: "*.env", Decision: "deny"}}}},
		"an odd decision":   {"pawl", "permission: {read: sometimes}", true, definition.Agent{Mode: "all", Rules: []definition.Rule{{Tool: "read", Decision: "deny"}}, Faults: []string{`permission: "read" must be allow, ask or deny; it is denied`}}},
		"programs":          {"claude", "mcpServers: [x]\nhooks: {a: b}", true, definition.Agent{Mode: "subagent", Ignored: []definition.Ignored{{Key: "hooks", Why: "only your user configuration can set it"}, {Key: "mcpServers", Why: "only your user configuration can set it"}}}},
		"unknown":           {"pawl", "nonsense: 1", true, definition.Agent{Mode: "all", Faults: []string{`unknown key "nonsense"`}}},
	} {
		t.Run(name, func(t *testing.T) {
			places := map[string]string{"pawl": ".pawl/agents", "claude": ".claude/agents", "opencode": ".opencode/agent"}
			layer, top := frontmatter.Project, "repo/"
			if tt.user {
				layer, top = frontmatter.User, "home/"
			}
			file := top + places[tt.tool] + "/a.md"
			base := put(t, map[string]string{file: "---\n" + tt.head + "\n---\nPrompt\u202e.\n"})
			tt.want.Name, tt.want.Prompt, tt.want.Origin = "a", "Prompt\\u{202e}.", frontmatter.Origin{File: filepath.Join(base, file), Layer: layer, Tool: tt.tool}
			got := definition.Agents(sources(t, base))
			if diff := cmp.Diff([]definition.Agent{tt.want}, got.Agents); diff != "" || got.Faults != nil {
				t.Error(diff, got.Faults)
			}
		})
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	base := put(t, map[string]string{
		"repo/.pawl/commands/fix.md":              "---\ndescription: Fixes it.\nargument-hint: '[issue]'\nagent: build\nmodel: haiku\nallowed-tools: Bash(*)\n---\nFix $1.",
		"repo/.claude/commands/git/commit.md":     "Commit.",
		"repo/.claude/commands/a/b/c/d/e/deep.md": "x",
		"repo/.opencode/command/one.md":           "---\nmodel: x/y\nsubtask: true\n---\nOne.",
		"repo/sub/.opencode/commands/fix.md":      "Nearer.",
		"repo/.pawl/commands/undo.md":             "Not undo.",
		"repo/.claude/commands/odd name/x.md":     "x",
		"repo/.claude/commands/link.md":           "->../../../out/secret.md",
		"repo/.claude/commands/far":               "->../../../out",
		"out/secret.md":                           "s3cret",
		"home/.claude/commands/mine.md":           "---\nmodel: x/y\n---\nMine.",
	})
	set := definition.Commands(sources(t, base), "undo")
	golden(t, "commands.txt", strings.ReplaceAll(set.Show(), base, ""))
	if c, ok := set.Find("fix"); !ok || c.Body != "Nearer." {
		t.Errorf("%+v", c)
	}
	if c, ok := set.Find("git:commit"); !ok || c.Body != "Commit." {
		t.Errorf("%+v", c)
	}
}

// TestTrust: nothing of a project is read unless its directory is trusted. Row A19.
func TestTrust(t *testing.T) {
	t.Parallel()
	base := put(t, map[string]string{"repo/.pawl/agents/a.md": "x", "repo/.pawl/commands/a.md": "x", "repo/.pawl/agents/b c.md": "x", "home/.pawl/agents/u.md": "x", "home/.pawl/commands/u.md": "x"})
	s := sources(t, base)
	for name, tt := range map[string]struct {
		trusted func(string) bool
		want    int
	}{"nobody said so": {nil, 1}, "none": {func(string) bool { return false }, 1}, "the folder alone": {func(dir string) bool { return filepath.Base(dir) == "sub" }, 1}, "all": {func(string) bool { return true }, 2}} {
		s.Trusted = tt.trusted
		agents, commands := definition.Agents(s), definition.Commands(s)
		if len(agents.Agents) != tt.want || len(commands.Commands) != tt.want || len(agents.Faults) != tt.want-1 {
			t.Errorf("%s: %s%s", name, agents.Show(), commands.Show())
		}
	}
}
