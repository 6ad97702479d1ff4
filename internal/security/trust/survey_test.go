package trust_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/trust"
	"github.com/pawl-dev/pawl/internal/test/security"
)

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func survey(t *testing.T, dir string) trust.Parts {
	t.Helper()
	parts, err := trust.Survey(dir)
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

// brief is a part as a line: kind, path, and ! if it counts for the hash.
func brief(parts trust.Parts) []string {
	var lines []string
	for _, p := range parts {
		mark := ""
		if p.Executable {
			mark = "!"
		}
		lines = append(lines, fmt.Sprintf("%s %s%s", p.Kind, p.Path, mark))
	}
	return lines
}

func TestSurvey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"nothing", map[string]string{"README.md": "x", "src/AGENTS.md": "x"}, nil},
		{"hooks only", map[string]string{".pawl/hooks/x.json": "x"}, []string{"hook .pawl/hooks/x.json!"}},
		{"rules only", map[string]string{".codex/rules/x.md": "x"}, []string{"instructions .codex/rules/x.md"}},
		{"all of pawl's own folder", map[string]string{".pawl/other/deep/x": "x", ".agents/x": "x"}, []string{"config .agents/x!", "config .pawl/other/deep/x!"}},
		{"another's caches", map[string]string{".claude/worktrees/a/b": "x", ".claude/settings.json": "{}"}, []string{"config .claude/settings.json!"}},
		{"each kind", map[string]string{
			".pawl/config.json": "{}", ".agents/skills/a/run.sh": "x", ".claude/agents/a.md": "x", ".claude/commands/a.md": "x", ".gemini/.env": "x",
			".cursor/mcp.json": "{}", ".opencode/plugin/a.js": "x", ".mcp.json": "{}", "AGENTS.md": "x", "CLAUDE.md": "x", "GEMINI.md": "x", ".cursorrules": "x",
			".env": "x", ".env.local": "x", ".environment": "x", ".envrc": "x", "go.mod": "x", "package.json": "{}",
		}, []string{
			"skill .agents/skills/a/run.sh!", "agent .claude/agents/a.md!", "command .claude/commands/a.md!", "server .cursor/mcp.json!", "instructions .cursorrules",
			"variables .env", "variables .env.local", "variables .envrc!", "variables .gemini/.env", "server .mcp.json!", "hook .opencode/plugin/a.js!", "config .pawl/config.json!",
			"instructions AGENTS.md", "instructions CLAUDE.md", "instructions GEMINI.md", "language go.mod!", "language package.json!",
		}},
		{"a file in a folder's place", map[string]string{".pawl": "x", ".claude": "x"}, []string{"config .claude!", "config .pawl!"}},
		{"git", map[string]string{
			".git/HEAD": "ref: x", ".git/hooks/pre-commit": "x", ".git/hooks/pre-push.sample": "x",
			".git/config": "[core]\n\tbare = false\n\tfsmonitor = evil\n[remote \"origin\"]\n\turl = x\n[filter \"a.b\"] clean = evil\n[alias]\n\tst = status\n\tx = !evil\n[include]\n\tpath = ../more\n",
		}, []string{"git .git/config!", "git .git/config!", "git .git/config!", "git .git/config!", "git .git/hooks/pre-commit!"}},
		{"a worktree", map[string]string{".git": "gitdir: /elsewhere"}, []string{"git .git!"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, tt.files)
			if diff := cmp.Diff(tt.want, brief(survey(t, dir))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestHash: a change of what can run something asks again; any other does not.
// Rows A7, A12.
func TestHash(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		".pawl/hooks/a.sh": "one", ".mcp.json": `{"mcpServers":{}}`, ".agents/skills/s/run.sh": "x", "AGENTS.md": "x", ".env": "x", "go.mod": "module a", "main.go": "x",
		".git/config": "[core]\n\tbare = false\n[alias]\n\tx = !one\n", ".git/HEAD": "x",
	}
	lay := func(change map[string]string) string {
		dir := t.TempDir()
		put(t, dir, base)
		put(t, dir, change)
		return survey(t, dir).Hash()
	}
	first := lay(nil)
	for name, text := range map[string]string{
		".pawl/hooks/a.sh": "two", ".pawl/hooks/b.sh": "", ".mcp.json": `{"mcpServers":{"a":{}}}`, ".agents/skills/s/run.sh": "y", ".agents/skills/s/other": "", ".claude/settings.json": "{}",
		"package.json": "{}", ".envrc": "", ".git/hooks/pre-commit": "", ".git/config": "[alias]\n\tx = !two\n", ".claude/agents/a.md": "", ".pawl/commands/x.md": "",
	} {
		if lay(map[string]string{name: text}) == first {
			t.Errorf("%s has changed, and nobody is asked", name)
		}
	}
	for name, text := range map[string]string{
		"AGENTS.md": "y", ".env": "y", "go.mod": "module b", "main.go": "y", "README.md": "", "sub/.pawl/hooks/a.sh": "", ".git/config": "[core]\n\tbare = true\n[alias]\n\tx = !one\n", ".git/index": "",
		".pawl/missions/01J/TODO.md": "x", ".pawl/missions/01J/run.sh": "x", ".pawl/verification-checklist.md": "x", ".pawl/.gitignore": "x",
	} {
		if lay(map[string]string{name: text}) != first {
			t.Errorf("%s has changed, and somebody is asked", name)
		}
	}
}

func TestHashOf(t *testing.T) {
	t.Parallel()
	lists := [][]string{nil, {""}, {"", ""}, {"a", "b"}, {"b", "a"}, {"ab"}, {"a", "", "b"}, {"a\x00b"}, {"npx", "server", "-y"}, {"npx", "server -y"}}
	seen := map[string][]string{}
	for _, list := range lists {
		h := trust.HashOf(list...)
		if twin, ok := seen[h]; ok || len(h) != 64 {
			t.Errorf("%q and %q are %s", list, twin, h)
		}
		seen[h] = list
	}
}

// TestLinks: no link is followed, out of the directory or within it; a pipe keeps
// nobody waiting.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	put(t, outside, map[string]string{"hooks/secret.sh": "secret", "config": "[alias]\n\tx = !secret\n"})
	put(t, dir, map[string]string{".pawl/keep": "", ".git/HEAD": "x", ".agents/x": ""})
	for name, target := range map[string]string{
		".claude": outside, ".pawl/hooks": outside + "/hooks", ".pawl/up": "../../..", ".pawl/self": ".", ".git/hooks": outside + "/hooks", "AGENTS.md": "/etc/passwd", ".mcp.json": "none",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, ".codex"), 0o700), syscall.Mkfifo(filepath.Join(dir, ".codex/pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	parts := survey(t, dir)
	want := []string{
		"config .agents/x!", "link .claude!", "config .codex/pipe!", "link .git/hooks!", "link .mcp.json!", "link .pawl/hooks!", "config .pawl/keep!", "link .pawl/self!", "link .pawl/up!", "link AGENTS.md!",
	}
	if diff := cmp.Diff(want, brief(parts)); diff != "" {
		t.Error(diff)
	}
	before := parts.Hash()
	if err := errors.Join(os.Remove(filepath.Join(dir, ".claude")), os.Symlink(outside+"/hooks", filepath.Join(dir, ".claude"))); err != nil {
		t.Fatal(err)
	}
	if survey(t, dir).Hash() == before {
		t.Error("a link leads elsewhere, and nobody is asked")
	}
	if err := errors.Join(os.Symlink(outside+"/config", filepath.Join(dir, ".git/config"))); err != nil {
		t.Fatal(err)
	}
	if _, err := trust.Survey(dir); err == nil {
		t.Error("git's configuration is a link")
	}
}

// TestBounds: a directory that cannot be shown cannot be trusted.
func TestBounds(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 2001 {
		many[fmt.Sprintf(".pawl/hooks/%d", i)] = ""
	}
	for name, files := range map[string]map[string]string{
		"many parts":   many,
		"deep":         {".pawl/" + strings.Repeat("a/", 20) + "b": ""},
		"large":        {".pawl/x": strings.Repeat("x", 4<<20+1)},
		"many helpers": {".git/config": strings.Repeat("[alias]\nx = !y\n", 201)},
	} {
		dir := t.TempDir()
		put(t, dir, files)
		if parts, err := trust.Survey(dir); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: %d parts, %v", name, len(parts), err)
		}
	}
	if _, err := trust.Survey(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestShow: what a person decides by cannot be forged by a name.
func TestShow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, map[string]string{
		".pawl/hooks/a\nb.sh": "", ".pawl/hooks/\x1b[2Jc.sh": "", ".pawl/hooks/\u202egpj.sh": "", ".pawl/hooks/größe.sh": "",
		".git/config": "[alias]\n\tx = !a\x1b]52;c;x\x07b\n", ".git/HEAD": "x",
	})
	text := survey(t, dir).Show()
	for _, r := range text {
		if r != '\n' && (r < ' ' || r == 0x7f || r == '\u202e') {
			t.Errorf("%q is in %q", r, text)
		}
	}
	for _, want := range []string{`".pawl/hooks/a\nb.sh"`, `".pawl/hooks/\u202egpj.sh"`, `.pawl/hooks/größe.sh: runs on`, `makes git run a program: alias.x = !a\x1b]52`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if got := (trust.Parts{}).Show(); got != "The project has no configuration that needs trust.\n" {
		t.Error(got)
	}
}

// TestHostile: looking at a hostile directory runs nothing, and shows it. Rows A1,
// A4, A6, A7, A16, A17.
func TestHostile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir, canary := filepath.Join(root, "ws"), filepath.Join(root, "canary")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(canary, 0o700)); err != nil {
		t.Fatal(err)
	}
	tricks := security.Hostile(t, dir, canary)
	parts := survey(t, dir)
	if got := security.Tripped(t, canary); len(got) > 0 {
		t.Errorf("it ran %q", got)
	}
	shown := map[string]bool{}
	for _, p := range parts {
		shown[p.Path] = true
	}
	// What pawl never acts upon by itself is not shown.
	apart := []string{"Makefile", ".yarnrc.yml", ".npmrc", ".aider.conf.yml", ".ripgreprc", "main.go", "x.ts", "sub/AGENTS.md"}
	for _, trick := range tricks {
		top, _, _ := strings.Cut(trick.Path, "/")
		if !shown[trick.Path] && !slices.Contains(apart, trick.Path) && !slices.Contains([]string{"node_modules", "bin", ".yarn", ".vscode"}, top) {
			t.Errorf("%s is not shown", trick.Path)
		}
	}
}
