package permission

import (
	"strings"
	"testing"
)

func TestProtected(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		".git", ".git/config", "sub/.git/hooks/x", ".git/anything", "/home/me/.bashrc", ".GIT/config", ".gIt", "a/.Git/x",
		".g\u200cit/hooks/x", ".git\u200d/config", "\ufeff.git", ".git.", ".git ", ".git. . /x", ".git::$INDEX_ALLOCATION/config", "GIT~1/config",
		`.git\hooks\x`, `sub\.claude\settings.json`, "./.git//config", ".gıtmodules/../.git",
		".gitmodules", ".pawl", ".pawl/hooks.json", ".agents/x", ".claude/settings.json", ".cUrSoR/mcp.json", ".codex/x", ".gemini/.env",
		".mcp.json", ".vscode/settings.json", ".idea/x", ".husky/pre-commit", ".envrc", "a/b/.npmrc", ".ripgreprc", ".zshrc", ".profile",
		".bash\u005fprofile", ".\uff43laude/x", "\uff0egit/hooks/x", "\u2024claude/x", ".ſsh/config", ".\u212bgents/../.agents", "x/.config/fish/config.fish",
	} {
		if !Protected(path) {
			t.Errorf("%q is not protected", path)
		}
	}
	for _, path := range []string{"", ".", "a", "git/config", ".github/workflows/x.yml", ".gitignore", ".gitattributes", "x.git/config", "a.claude", "claude/x", ".envrc.md/x"} {
		if Protected(path) {
			t.Errorf("%q is protected", path)
		}
	}
	names := ProtectedNames()
	for _, name := range names {
		for _, spelling := range []string{name, "sub/" + name, "/abs/" + strings.ToUpper(name), name + "/below"} {
			if !Protected(spelling) {
				t.Errorf("%q is not protected", spelling)
			}
		}
	}
	names[0] = "changed"
	if ProtectedNames()[0] == "changed" {
		t.Error("the list can be changed from outside")
	}
}
