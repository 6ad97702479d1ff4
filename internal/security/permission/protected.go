package permission

import (
	"slices"
	"strings"
)

// protectedNames are files and directories that configure other programs: git,
// editors, shells, agents. Writing them can run code later, outside of the sandbox.
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

// ProtectedNames returns the names that are protected anywhere in a workspace,
// whether they exist or not. A name with a slash matches the end of a path.
func ProtectedNames() []string { return slices.Clone(protectedNames) }

// Protected reports whether a path contains a protected name, in any spelling that
// a file system may treat as equal. Everything in .git is protected, and .git
// itself: only git writes there.
func Protected(path string) bool {
	for name := range strings.SplitSeq(fold(path), "/") {
		if protectedFolded[name] {
			return true
		}
	}
	return false
}

// protectedFolded has the first parts of the protected names, folded.
var protectedFolded = func() map[string]bool {
	names := map[string]bool{}
	for _, name := range protectedNames {
		first, _, _ := strings.Cut(fold(name), "/")
		names[first] = true
	}
	return names
}()
