package permission

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/weak"
)

// protectedNames are files and directories that other programs take orders from:
// git, editors, shells, agents. Whoever writes them runs code later, outside of
// the sandbox.
var protectedNames = []string{
	".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir", ".git/info", ".git/modules",
	".gitmodules", ".gitconfig", ".husky",

	".pawl", ".agents", ".claude", ".codex", ".gemini", ".cursor", ".opencode", ".windsurf", ".mcp.json", ".aider.conf.yml",

	".vscode", ".idea", ".zed", ".devcontainer", ".vimrc", ".exrc", ".nvimrc", ".gdbinit",

	".envrc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".ripgreprc", ".curlrc", ".wgetrc", ".tmux.conf", ".inputrc",

	".profile", ".login", ".logout",
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
	".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
	".kshrc", ".mkshrc", ".cshrc", ".tcshrc", "config.fish",

	".ssh",
}

// ProtectedNames returns the names that are protected wherever they are in a
// workspace, also while they do not exist. One with a slash is the path's end.
func ProtectedNames() []string { return slices.Clone(protectedNames) }

// Protected reports whether writing to a path could change what other programs
// do: one of the names is in it, in any spelling that a file system may take
// for the same. Within .git that is everything, and .git itself: no tool but
// git has a business there.
func Protected(path string) bool {
	if weak.On("protected") {
		return false
	}
	for name := range strings.SplitSeq(fold(path), "/") {
		if protectedFolded[name] {
			return true
		}
	}
	return false
}

// protectedFolded has the names' first parts, as fold leaves them.
var protectedFolded = func() map[string]bool {
	names := map[string]bool{}
	for _, name := range protectedNames {
		first, _, _ := strings.Cut(fold(name), "/")
		names[first] = true
	}
	return names
}()
