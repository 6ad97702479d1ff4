package protect

import (
	"flag"
	"os"
	"path"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/reference/protected.md")

func TestProtected(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		".git", ".git/config", "sub/.git/hooks/x", ".git/anything", "/home/me/.bashrc", ".GIT/config", ".gIt", "a/.Git/x",
		".g\u200cit/hooks/x", ".git\u200d/config", "\ufeff.git", ".git.", ".git ", ".git. . /x", ".git::$INDEX_ALLOCATION/config", "GIT~1/config",
		`.git\hooks\x`, `sub\.claude\settings.json`, "./.git//config", ".gıtmodules/../.git",
		".gitmodules", ".pawl", ".pawl/hooks.json", ".agents/x", ".claude/settings.json", ".cUrSoR/mcp.json", ".codex/x", ".gemini/.env",
		".mcp.json", ".vscode/settings.json", ".idea/x", ".husky/pre-commit", ".envrc", "a/b/.npmrc", ".ripgreprc", ".zshrc", ".profile",
		".bash\u005fprofile", ".\uff43laude/x", "\uff0egit/hooks/x", "\u2024claude/x", ".ſsh/config", ".\u212bgents/../.agents", "x/.config/fish/config.fish",
		"my.code-workspace", "a/.Cargo/Config.toml", ".cargo/config", "mise.local.toml", "x/.yarn/releases/yarn.cjs", ".github/hooks/a.json", ".config/systemd/user/x.service",
	} {
		if !Protected(path) {
			t.Errorf("%q is not protected", path)
		}
	}
	for _, path := range []string{
		"", ".", "a", "git/config", ".github/workflows/x.yml", ".gitignore", ".gitattributes", "x.git/config", "a.claude", "claude/x", ".envrc.md/x",
		".cargo", ".cargo/registry/x", "config.toml", "cargo/config.toml", ".config/app.json", ".yarn/cache/x.zip", "Makefile", "package.json", "AGENTS.md", "CLAUDE.md",
		".github/hooks.md", "promise.toml", ".gradle/x", "Dockerfile", ".editorconfig",
	} {
		if Protected(path) {
			t.Errorf("%q is protected: %s", path, Reason(path))
		}
	}
}

// TestFoldFast: the short way for ordinary names gives the same as the long one.
func TestFoldFast(t *testing.T) {
	t.Parallel()
	for b := range 256 {
		for _, name := range []string{"a" + string([]byte{byte(b)}) + "b", "ab" + string([]byte{byte(b)}), string([]byte{byte(b)}) + "ab"} {
			if long := strings.TrimPrefix(FoldName("\u200d"+name), "\u200d"); folded(name) && long != name {
				t.Errorf("%q is folded to %q", name, long)
			}
		}
	}
	if folded("git~1") {
		t.Error("the short name of .git is not folded")
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, name := range Names() {
		if seen[name] || name != Fold(name) {
			t.Errorf("%q is listed twice or not folded", name)
		}
		seen[name] = true
		if _, err := path.Match(name, ""); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		name = strings.ReplaceAll(name, "*", "x")
		for _, spelling := range []string{name, "sub/" + name, "/abs/" + strings.ToUpper(name), name + "/below"} {
			if !Protected(spelling) {
				t.Errorf("%q is not protected", spelling)
			}
		}
		if Reason("sub/"+name) != Reason(name) || !Entry("sub/"+name) || Entry(name+"/below") || strings.Count(name, "/") >= maxElements {
			t.Errorf("%q is not found by its last elements", name)
		}
	}
	Names()[0], Groups()[0].Names[0] = "changed", "changed"
	if Names()[0] == "changed" || Groups()[0].Names[0] == "changed" {
		t.Error("the table can be changed from outside")
	}
}

func TestAbove(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		".cargo": true, "sub/.Cargo": true, ".config": true, ".jj/repo": true, ".yarn": true,
		".cargo/config.toml": false, "cargo": false, ".vscode": false, ".cargo/x": false, "": false,
	} {
		if Above(name) != want {
			t.Errorf("Above(%q) is %v", name, !want)
		}
	}
}

// TestDocs compares the reference page with the table.
func TestDocs(t *testing.T) {
	t.Parallel()
	const page = "../../../docs/reference/protected.md"
	var b strings.Builder
	b.WriteString("| Names | Protected because |\n|---|---|\n")
	for _, g := range Groups() {
		b.WriteString("| `" + strings.Join(g.Names, "`, `") + "` | " + g.Reason + " |\n")
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	start, end := strings.Index(string(text), "| Names |"), strings.LastIndex(string(text), " |\n")
	if start < 0 || end < start {
		t.Fatalf("%s has no table", page)
	}
	want := string(text[:start]) + b.String() + string(text[end+3:])
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s differs from the table of names: run go test ./internal/security/protect -run TestDocs -update", page)
	}
}
