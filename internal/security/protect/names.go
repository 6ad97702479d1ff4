package protect

import (
	"path"
	"slices"
	"strings"
)

// Group lists protected names that have the same reason.
type Group struct {
	Reason string // completes "it is protected because ..."
	// Names match in any directory. One with slashes matches consecutive elements of a path, one with a trailing slash
	// is a directory, and a star matches any part of an element. All are folded.
	Names []string
}

// groups is the table of protected names. Files that only run when somebody builds or tests the project, such as a
// Makefile or package.json, are not in it: changing them is the work of an agent. Instructions for agents (AGENTS.md,
// CLAUDE.md) are not in it either: they have no effect in a project that is not trusted.
var groups = []Group{
	{"git runs programs that its files name", []string{".git/", ".gitmodules", ".gitconfig", ".config/git/"}},
	{"installed git hooks run the commands in it", []string{
		".husky/", ".githooks/", ".pre-commit-config.yaml", ".lefthook/", ".lefthook-local/",
		"lefthook.*", ".lefthook.*", "lefthook-local.*", ".lefthook-local.*", ".config/lefthook*",
	}},
	{"Mercurial, Sapling and Jujutsu run programs that it names", []string{
		".hg/hgrc", ".hg/hgrc-not-shared", ".hgrc", ".sl/config", ".jj/repo/config.toml", ".jj/workspace-config.toml",
	}},

	{"agents take hooks, servers and permissions from it", []string{
		".pawl/", ".agents/", ".claude/", ".claude.json", ".codex/", ".gemini/", ".cursor/", ".opencode/", "opencode.json", "opencode.jsonc",
		".windsurf/", ".aider.conf.yml", ".continue/", ".continuerc.json", ".roo/", ".roomodes", ".kilocode/", ".kilocodemodes",
		".cline/", ".clinerules", ".amazonq/", ".kiro/", ".qwen/", "crush.json", ".crush.json", ".goose/", ".augment/", ".trae/",
		".junie/", ".factory/", ".amp/", ".vibe/", ".iflow/", ".codebuddy/", ".openhands/", ".zencoder/", ".grok/", ".copilot/",
		".github/hooks", ".mcp.json",
	}},
	{"editors run tasks, servers or settings from it when the project is opened", []string{
		".vscode/", "*.code-workspace", ".theia/", ".idea/", ".fleet/", ".zed/", ".nova/", ".lapce/", ".helix/", ".config/helix/", ".vs/",
		".project", ".externaltoolbuilders/", "*.sublime-project", ".kateproject", ".neoconf.json", ".ycm_extra_conf.py",
		".vim/", ".vimrc", ".gvimrc", ".lvimrc", ".exrc", ".nvimrc", ".nvim.lua", ".config/nvim/",
		".emacs", ".emacs.d/", ".dir-locals.el", ".dir-locals-2.el",
	}},
	{"development containers and workspaces run its commands when they start", []string{".devcontainer/", ".devcontainer.json", ".gitpod.yml"}},
	{"the shell runs it or takes variables from it on entering the directory", []string{
		".envrc", ".autoenv", ".autoenv.zsh", ".autoenv_leave.zsh", ".shadowenv.d/",
		"mise.toml", ".mise.toml", "mise.*.toml", ".mise.*.toml", ".mise/", "mise/config*.toml", ".config/mise*", ".rtx.toml",
	}},
	{"version managers run the programs that it names", []string{".tool-versions", "rust-toolchain", "rust-toolchain.toml"}},
	{"package managers run programs, or install from sources, that it names", []string{
		".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/releases", ".yarn/plugins", ".pnpmfile.cjs", ".pnpmfile.mjs",
		".cargo/config", ".cargo/config.toml", ".bundle/config", ".gemrc", ".mvn/", "nuget.config", ".pypirc",
	}},
	{"debuggers and interactive interpreters run it when they start here", []string{
		".gdbinit", ".gdbearlyinit", ".lldbinit", ".pdbrc", ".pdbrc.py", ".perldb", ".valgrindrc", ".irbrc", ".pryrc", ".iex.exs", ".erlang",
		".ghci", ".ocamlinit", ".octaverc", ".rprofile", ".renviron", ".rdata", ".psqlrc", ".sqliterc", "jupyter_*_config.*",
	}},

	{"shells run it when they start or end", []string{
		".profile", ".login", ".logout", ".shrc", ".shinit",
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
		".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".xonshrc", "config.fish", ".config/fish/", "config.nu", "env.nu",
		"profile.ps1", "microsoft.powershell_profile.ps1",
	}},
	{"the login session runs it or takes variables from it", []string{
		".xinitrc", ".xsession", ".xsessionrc", ".xprofile", ".pam_environment", ".config/systemd/", ".config/autostart/", ".config/environment.d/",
		"library/launchagents/", ".forward", ".procmailrc", ".rhosts",
	}},
	{"command-line programs take options or commands from it", []string{
		".ripgreprc", ".curlrc", ".wgetrc", ".tmux.conf", ".screenrc", ".inputrc", ".lessfilter", ".lesskey", ".mailcap",
	}},
	{"it has credentials, or names programs that supply them", []string{
		".ssh/", ".gnupg/", ".netrc", ".docker/", ".kube/", ".aws/", ".azure/", ".config/gcloud/", ".terraformrc", ".terraform.d/",
	}},
}

// Groups returns the table of protected names.
func Groups() []Group {
	all := make([]Group, len(groups))
	for i, g := range groups {
		all[i] = Group{g.Reason, slices.Clone(g.Names)}
	}
	return all
}

// Names returns all protected names, without trailing slashes, sorted.
func Names() []string {
	var all []string
	for _, g := range groups {
		for _, name := range g.Names {
			all = append(all, strings.TrimSuffix(name, "/"))
		}
	}
	slices.Sort(all)
	return all
}

// Protected reports whether a path is at or below a protected name, in any spelling that a file system may treat as
// equal. Everything in .git is protected: only git writes there.
func Protected(path string) bool { return Reason(path) != "" }

// Reason returns why a path is protected, or "" if it is not.
func Reason(path string) string {
	elements := strings.Split(Fold(path), "/")
	for i := range elements {
		if reason := names.reason(elements[:i+1]); reason != "" {
			return reason
		}
	}
	return ""
}

// Entry reports whether a path ends with a protected name. Unlike [Protected] it does not count the directories above,
// so that a project may itself be below a protected name.
func Entry(path string) bool {
	elements := strings.Split(path, "/")
	elements = slices.Clone(elements[max(0, len(elements)-maxElements):])
	for i, name := range elements {
		elements[i] = FoldName(name)
	}
	return names.reason(elements) != ""
}

// Above reports whether a path is above a protected name with slashes, such as .cargo is above
// .cargo/config.toml. A link there can bring the protected name from elsewhere.
func Above(path string) bool {
	elements := strings.Split(Fold(path), "/")
	for _, p := range names.above {
		for n := 1; n < len(p.elements); n++ {
			if endsWith(elements, p.elements[:n]) {
				return true
			}
		}
	}
	return false
}

// maxElements bounds the elements of a name.
const maxElements = 4

// index finds the name that a path ends with.
type index struct {
	exact map[string]string    // reasons of names of one element
	long  map[string][]pattern // names with slashes, by their last element
	stars []pattern            // names with a star in their last element
	above []pattern            // all names with slashes
}

type pattern struct {
	elements []string
	prefix   string // of the last element, before a star
	suffix   string // and after it
	reason   string
}

var names = func() index {
	x := index{exact: map[string]string{}, long: map[string][]pattern{}}
	for _, g := range groups {
		for _, name := range g.Names {
			p := pattern{elements: strings.Split(strings.TrimSuffix(name, "/"), "/"), reason: g.Reason}
			last := p.elements[len(p.elements)-1]
			p.prefix, p.suffix = last[:max(0, strings.Index(last, "*"))], last[strings.LastIndex(last, "*")+1:]
			switch {
			case strings.Contains(last, "*"):
				x.stars = append(x.stars, p)
			case len(p.elements) > 1:
				x.long[last] = append(x.long[last], p)
			default:
				x.exact[last] = g.Reason
			}
			if len(p.elements) > 1 {
				x.above = append(x.above, p)
			}
		}
	}
	return x
}()

// reason returns why a path that ends with these folded elements is protected, or "".
func (x index) reason(elements []string) string {
	last := elements[len(elements)-1]
	if reason := x.exact[last]; reason != "" {
		return reason
	}
	for _, p := range x.long[last] {
		if endsWith(elements, p.elements) {
			return p.reason
		}
	}
	for _, p := range x.stars {
		if strings.HasPrefix(last, p.prefix) && strings.HasSuffix(last, p.suffix) && endsWith(elements, p.elements) {
			return p.reason
		}
	}
	return ""
}

// endsWith reports whether the last elements of a path match the patterns.
func endsWith(elements, patterns []string) bool {
	if len(elements) < len(patterns) {
		return false
	}
	for i, element := range elements[len(elements)-len(patterns):] {
		if ok, err := path.Match(patterns[i], element); !ok || err != nil {
			return false
		}
	}
	return true
}
