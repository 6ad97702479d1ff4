package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// homeParts are the parts of a home directory that commands can read if they exist:
// programs, libraries, and settings without keys. Everything else in it is invisible,
// so a directory that also has keys is listed by its parts.
var homeParts = []string{
	// programs and libraries of the user
	"bin", ".local/bin", ".local/lib", ".local/opt", ".local/pipx", ".nix-profile", ".linuxbrew", ".krew/bin", "perl5",
	".local/share/mise", ".local/share/rtx", ".local/share/uv", ".local/share/pipx", ".local/share/pnpm", ".local/share/fnm", ".local/share/virtualenvs",
	".local/share/nvim/mason", ".local/share/rustup", ".local/share/cargo/bin", ".local/share/go",
	// version managers
	".asdf", ".pyenv", ".rbenv", ".rvm", ".nodenv", ".nvm", ".fnm", ".volta", ".n", ".jenv", ".jabba", ".sdkman", ".goenv", ".gvm", ".phpenv", ".plenv", ".tfenv", ".proto",
	// languages
	"go/bin", "go/pkg", "sdk", ".rustup", ".cargo/bin", ".cargo/env", ".cargo/config", ".cargo/config.toml", ".cargo/registry", ".cargo/git",
	".bun", ".deno", ".npm-global", ".config/yarn/global", ".yarn/berry", ".yarn/bin", ".virtualenvs", ".elan", ".ghcup", ".opam", ".swiftly", ".swiftpm",
	".cabal/bin", ".cabal/lib", ".cabal/packages", ".cabal/store", ".stack/programs", ".stack/snapshots", ".stack/pantry", ".stack/config.yaml",
	".gradle/caches", ".gradle/wrapper", ".gradle/jdks", ".gradle/native", ".m2/repository", ".m2/wrapper", ".ivy2/cache", ".sbt/boot", ".coursier",
	".dotnet", ".nuget/packages", ".gem/ruby", ".composer/vendor", ".config/composer/vendor", ".pub-cache/bin", ".pub-cache/hosted", ".pub-cache/git",
	".juliaup", ".julia/juliaup", ".julia/packages", ".julia/artifacts", ".julia/compiled", ".julia/registries",
	".mix/archives", ".mix/elixir", ".luarocks", ".nimble/bin", ".nimble/pkgs2", ".choosenim", ".foundry/bin", ".conan2/p", ".vcpkg",
	"miniconda3", "miniforge3", "anaconda3", "micromamba", "Android/Sdk", "Library/Android/sdk", "Library/pnpm", "Library/Python",
	// settings
	".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes", ".gitignore", ".gitignore_global", ".gitattributes",
	".config/go/env", ".tool-versions", ".asdfrc", ".nvmrc", ".node-version", ".python-version", ".ruby-version", ".editorconfig", ".clang-format", ".rustfmt.toml",
}

var splitParts = sync.OnceValue(func() []entry { return splitAll(homeParts) })

// toolVariables are environment variables with the path of a toolchain or of its
// certificates. If it is in a home directory, commands can read it.
var toolVariables = []string{
	"GOROOT", "RUSTUP_HOME", "JAVA_HOME", "NVM_DIR", "PYENV_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO",
}

// sharedParents are directories of a home directory in which programs and keys are side
// by side: a bin directory in one does not make the rest of it readable.
var sharedParents = []string{".", ".local", ".local/share", ".config", ".cache"}

// prefixNames are in directories that programs are installed to, beside their bin.
var prefixNames = []string{"lib", "lib64", "libexec", "share", "pkg", "packages", "pyvenv.cfg"}

// maxHomeParts bounds the parts of home directories that commands see. The others are
// invisible.
const maxHomeParts = 256

// homeView is what commands see of home directories.
type homeView struct {
	homes []string // real paths
	masks []mask   // what is hidden, whoever asks for it
	parts []string // real paths in a home directory
	links []link   // symbolic links on the way to them
	names []link   // of the home directories, and their real paths

	// What was looked at, since most programs are in few directories:
	added    map[string]bool   // by path
	prefixes map[string]string // by directory
	targets  map[string]string // real paths of what links lead to
}

// link is a symbolic link.
type link struct{ at, to string }

// lookHome returns what a command with the environment sees of home directories. program
// is its name or path.
func lookHome(homes, env []string, masks []mask, program string) homeView {
	h := homeView{homes: homes, masks: masks, added: map[string]bool{}, prefixes: map[string]string{}, targets: map[string]string{}}
	for _, home := range append([]string{filepath.Clean(os.Getenv("HOME"))}, homes...) {
		h.names = append(h.names, link{home, resolve(home)})
	}
	for _, home := range homes {
		look := looker{directories: map[string]*seenFolder{"": seeFolder(home)}}
		for _, part := range splitParts() {
			if look.directory(part.dir).holds(part.name) {
				h.add(filepath.Join(home, part.dir, part.name))
			}
		}
		for _, name := range []string{".gitconfig", ".config/git/config"} {
			for _, path := range gitConfigPaths(resolve(filepath.Join(home, name)), home) {
				h.add(path)
			}
		}
	}
	for _, name := range toolVariables {
		h.add(getenv(env, name))
	}
	for _, dir := range filepath.SplitList(getenv(env, "GOPATH")) {
		h.add(filepath.Join(dir, "bin"))
		h.add(filepath.Join(dir, "pkg"))
	}
	if dir := getenv(env, "CARGO_HOME"); dir != "" {
		for _, name := range []string{"bin", "config", "config.toml", "env", "git", "registry"} {
			h.add(filepath.Join(dir, name))
		}
	}
	for _, dir := range filepath.SplitList(getenv(env, "PATH")) {
		h.addPrograms(dir)
	}
	if filepath.IsAbs(program) {
		h.addPrograms(filepath.Dir(program))
		h.addProgram(program)
	}
	slices.Sort(h.parts)
	var last string
	h.parts = slices.DeleteFunc(h.parts, func(part string) bool { // what is in another part
		if last != "" && within(part, last) {
			return true
		}
		last = part
		return false
	})
	return h
}

// add shows a path, if it is in a home directory, and not one or above one. Symbolic
// links on the way to it are shown as such.
func (h *homeView) add(path string) {
	home, rel := h.split(path)
	if home == "" || h.added[path] || len(h.parts) >= maxHomeParts {
		return
	}
	h.added[path] = true
	if _, err := os.Lstat(filepath.Join(home, rel)); err != nil {
		return // most of them do not exist
	}
	real := resolve(filepath.Join(home, rel))
	if real == "" || slices.ContainsFunc(h.homes, func(home string) bool { return within(home, real) }) || len(holding(h.masks, real)) > 0 {
		return
	}
	h.addLinks(home, rel)
	if h.inHome(real) && !slices.ContainsFunc(h.parts, func(part string) bool { return within(real, part) }) {
		h.parts = append(h.parts, real)
	}
}

// addLinks shows the symbolic links on the way to a path below a home directory.
func (h *homeView) addLinks(home, rel string) {
	at := home
	for part := range strings.SplitSeq(rel, "/") {
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err != nil || info.Mode()&os.ModeSymlink == 0 {
			continue
		}
		to := resolve(at)
		if l := (link{at, to}); !slices.Contains(h.links, l) {
			h.links = append(h.links, l)
		}
		if at = to; !h.inHome(at) {
			break // the rest is visible there
		}
	}
}

// split returns the home directory that a path is below, and the rest of the path. The
// path may name it by a link, as HOME does.
func (h *homeView) split(path string) (home, rel string) {
	if !filepath.IsAbs(path) {
		return "", ""
	}
	path = filepath.Clean(path)
	for _, home := range h.names {
		if path != home.at && home.at != "/" && within(path, home.at) {
			return home.to, strings.TrimPrefix(path, home.at+"/")
		}
	}
	return "", ""
}

func (h *homeView) inHome(path string) bool {
	return slices.ContainsFunc(h.homes, func(home string) bool { return within(path, home) })
}

// addPrograms shows a directory of programs, and what they are linked to.
func (h *homeView) addPrograms(dir string) {
	if home, _ := h.split(dir); home == "" {
		return
	}
	h.add(h.prefix(dir))
	entries, _ := os.ReadDir(dir) // what cannot be read is not shown
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 {
			h.addProgram(filepath.Join(dir, e.Name()))
		}
	}
}

// addProgram shows the target of a link to a program.
func (h *homeView) addProgram(path string) {
	real := h.target(path)
	if !h.inHome(real) {
		return
	}
	if dir := filepath.Dir(real); h.prefix(dir) != dir {
		h.add(h.prefix(dir))
	} else {
		h.add(real)
	}
}

// target returns the real path of what a link leads to.
func (h *homeView) target(path string) string {
	to, err := os.Readlink(path)
	if err != nil {
		return resolve(path)
	}
	if !filepath.IsAbs(to) {
		to = filepath.Dir(path) + "/" + to // not clean: a directory may be a link
	}
	real, ok := h.targets[to]
	if !ok {
		real = resolve(to)
		h.targets[to] = real
	}
	return real
}

// prefix returns the directory that contains a directory of programs and their
// libraries, or the directory itself.
func (h *homeView) prefix(dir string) string {
	prefix, ok := h.prefixes[dir]
	if !ok {
		prefix = h.lookPrefix(dir)
		h.prefixes[dir] = prefix
	}
	return prefix
}

func (h *homeView) lookPrefix(dir string) string {
	parent := filepath.Dir(dir)
	switch filepath.Base(dir) {
	case ".bin":
		return parent
	case "bin", "sbin", "shims", "condabin":
	default:
		return dir
	}
	for _, home := range h.homes {
		if rel, err := filepath.Rel(home, resolve(parent)); err == nil && slices.Contains(sharedParents, rel) {
			return dir
		}
	}
	if exists(filepath.Join(parent, ".git")) {
		return dir // a project, not an installation
	}
	if slices.ContainsFunc(prefixNames, func(name string) bool { return exists(filepath.Join(parent, name)) }) {
		return parent
	}
	return dir
}

// drop removes the parts that are in one of the directories.
func (h *homeView) drop(dirs []mask) {
	h.parts = slices.DeleteFunc(h.parts, func(path string) bool { return len(holding(dirs, path)) > 0 })
	h.links = slices.DeleteFunc(h.links, func(l link) bool { return len(holding(dirs, l.at)) > 0 })
}

// showRepository makes the repository of a linked worktree or of a submodule readable, if
// it is in a home directory.
func (pl *plan) showRepository() {
	dirs := pl.gitRead()
	if dir := submoduleDir(pl.dir, filepath.Join(pl.dir, ".git")); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		if pl.home.inHome(dir) && len(holding(pl.strict, dir)) == 0 && len(holding(pl.masks, dir)) == 0 {
			pl.home.parts = append(pl.home.parts, dir)
		}
	}
}

// privateHomes returns the home directories to hide. Some accounts of the system have a
// directory of programs as their home.
func privateHomes(homes []string) []string {
	return slices.DeleteFunc(slices.Clone(homes), func(home string) bool {
		return home != "/root" && slices.Contains(systemFolders, home)
	})
}
