// Package trust determines what a project would enable if it were trusted, and stores
// which projects are trusted. Until then nothing in it takes effect: no configuration,
// hooks, servers, skills, agents, commands or instructions.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

const (
	maxParts   = 2000
	maxDepth   = 8
	maxFile    = 4 << 20  // bytes of one file
	maxBytes   = 64 << 20 // bytes of all
	maxEntries = 10000    // of one directory
)

// Kind is the kind of a part.
type Kind string

// The kinds.
const (
	KindConfig       Kind = "config"
	KindHook         Kind = "hook"
	KindServer       Kind = "server" // of MCP
	KindAgent        Kind = "agent"
	KindCommand      Kind = "command"
	KindSkill        Kind = "skill"
	KindInstructions Kind = "instructions"
	KindVariables    Kind = "variables"
	KindGit          Kind = "git"
	KindLanguage     Kind = "language"
	KindLink         Kind = "link"
)

// Part is one file or setting of a project that takes effect once it is trusted. Path
// and Does contain untrusted text: Show sanitizes it.
type Part struct {
	Kind       Kind   `json:"kind"`
	Path       string `json:"path"` // from the directory, with slashes
	Does       string `json:"does"` // what it would do
	Executable bool   `json:"executable,omitempty"`
	Hash       string `json:"hash"` // of its content
}

// Parts are sorted by path.
type Parts []Part

// agentDirNames are the directories of pawl and other agents. Everything in the first
// two counts; of the others, which also contain caches and checkouts, only what is
// known to run code or to instruct a model.
var agentDirNames = []string{".pawl", ".agents", ".claude", ".codex", ".gemini", ".cursor", ".opencode"}

const ownFolders = 2

// IsAgentDir reports whether a directory of this name at the top of a project belongs to
// an agent.
func IsAgentDir(name string) bool { return slices.Contains(agentDirNames, strings.ToLower(name)) }

// IsFile reports whether the part is a file or a link of the project.
func (p Part) IsFile() bool {
	return p.Kind != KindGit && p.Kind != KindLanguage && p.Kind != KindVariables
}

// writtenByPawl are files that missions write for people. Nothing in them takes effect,
// so they do not count.
var writtenByPawl = []string{".pawl/missions", ".pawl/verification-checklist.md", ".pawl/.gitignore"}

// kindsOf maps the subdirectories of an agent's directory to the kind of their files.
var kindsOf = map[string]Kind{
	"agents": KindAgent, "agent": KindAgent, "modes": KindAgent, "mode": KindAgent,
	"commands": KindCommand, "command": KindCommand, "prompts": KindCommand,
	"hooks": KindHook, "plugins": KindHook, "plugin": KindHook, "extensions": KindHook, "tools": KindHook, "tool": KindHook,
	"skills": KindSkill, "skill": KindSkill,
	"rules": KindInstructions,
}

// does describes what a part of a kind would do.
var does = map[Kind]string{
	KindConfig:       "configures an agent: can add hooks and servers",
	KindHook:         "runs on events of a session",
	KindServer:       "starts servers whose tools the model can use",
	KindAgent:        "defines an agent: its prompt and tools",
	KindCommand:      "adds a command",
	KindSkill:        "is part of a skill, whose scripts the model can run",
	KindInstructions: "instructs the model",
	KindVariables:    "contains variables; Pawl does not read it",
	KindLink:         "is a symbolic link; Pawl does not follow it",
}

// topFiles are files at the top of a directory.
var topFiles = []struct {
	name       string
	kind       Kind
	executable bool
	does       string
}{
	{".mcp.json", KindServer, true, ""},
	{".envrc", KindVariables, true, "is run by direnv in shells"},
	{"AGENTS.md", KindInstructions, false, ""},
	{"CLAUDE.md", KindInstructions, false, ""},
	{"GEMINI.md", KindInstructions, false, ""},
	{".cursorrules", KindInstructions, false, ""},
}

// languages maps files to the language servers that start in a directory with them,
// and may run code of the project. A test compares them with the table of servers.
var languages = []struct{ file, server string }{
	{"go.mod", "gopls"}, {"go.work", "gopls"},
	{"tsconfig.json", "typescript-language-server"}, {"jsconfig.json", "typescript-language-server"}, {"package.json", "typescript-language-server"},
	{"deno.json", "deno"}, {"deno.jsonc", "deno"},
	{"svelte.config.js", "svelteserver"}, {"svelte.config.ts", "svelteserver"},
	{"pyproject.toml", python}, {"setup.py", python}, {"requirements.txt", python}, {"setup.cfg", python}, {"pyrightconfig.json", python},
	{"Cargo.toml", "rust-analyzer"}, {"Cargo.lock", "rust-analyzer"},
	{"compile_commands.json", "clangd"}, {"compile_flags.txt", "clangd"}, {".clangd", "clangd"},
	{"build.zig", "zls"},
	{"Package.swift", "sourcekit-lsp"},
	{"pubspec.yaml", "dart"},
	{"Gemfile", "ruby-lsp or solargraph"},
	{"composer.json", "intelephense or phpactor"},
	{".luarc.json", "lua-language-server"}, {".luarc.jsonc", "lua-language-server"},
	{"pom.xml", java}, {"build.gradle", java}, {"build.gradle.kts", java}, {"settings.gradle", java}, {"settings.gradle.kts", java},
	{"build.sbt", "metals"}, {"build.mill", "metals"}, {"build.sc", "metals"},
	{"deps.edn", "clojure-lsp"}, {"project.clj", "clojure-lsp"}, {"shadow-cljs.edn", "clojure-lsp"},
	{"global.json", dotnet}, {"Directory.Build.props", dotnet},
	{"mix.exs", "elixir-ls"},
	{"rebar.config", "erlang_ls"}, {"erlang_ls.config", "erlang_ls"},
	{"gleam.toml", "gleam"},
	{"hie.yaml", haskell}, {"cabal.project", haskell}, {"stack.yaml", haskell}, {"package.yaml", haskell},
	{"dune-project", "ocamllsp"}, {"dune-workspace", "ocamllsp"},
	{"elm.json", "elm-language-server"},
	{"flake.nix", "nixd or nil"},
	{".terraform.lock.hcl", "terraform-ls"},
	{"typst.toml", "tinymist"},
	{".latexmkrc", "texlab"},
	{"buf.yaml", "buf"}, {"buf.work.yaml", "buf"},
}

// The servers of languages that have several.
const (
	python  = "pyright-langserver, basedpyright-langserver, pylsp or ruff"
	java    = "jdtls or a Kotlin server"
	dotnet  = "csharp-ls, omnisharp or fsautocomplete"
	haskell = "haskell-language-server"
)

// Survey returns what a directory would enable. It runs nothing, follows no links and
// does not leave the directory. A directory with too many parts to show is an error:
// it cannot be trusted.
func Survey(dir string) (Parts, error) { return survey(dir, "") }

// SurveyRepository is Survey for a directory whose git directory, common, is
// elsewhere. The caller has verified that it lists this directory, or one above it, as
// its worktree. A linked worktree then has the same parts and hash as the main
// worktree if their files are the same.
func SurveyRepository(dir, common string) (Parts, error) { return survey(dir, common) }

func survey(dir, common string) (Parts, error) {
	dir, err := realDir(dir)
	if err != nil {
		return nil, fmt.Errorf("inspect the directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("inspect the directory: %w", err)
	}
	defer root.Close()
	s := &surveyor{root: root}
	steps := []func() error{s.agentDirs, s.top, s.variables}
	if common == "" {
		steps = append(steps, func() error { return s.git(root, ".git") })
	} else {
		steps = append(steps, func() error {
			other, err := os.OpenRoot(common)
			if err != nil {
				return err
			}
			defer other.Close()
			return s.gitDir(other, ".")
		})
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, fmt.Errorf("inspect %s: %w", dir, err)
		}
	}
	slices.SortFunc(s.parts, func(a, b Part) int { return strings.Compare(a.Path+"\x00"+a.Does, b.Path+"\x00"+b.Does) })
	return s.parts, nil
}

// surveyor collects the parts of one directory.
type surveyor struct {
	root  *os.Root
	parts Parts
	bytes int64
}

func (s *surveyor) add(p Part) error {
	if len(s.parts) == maxParts {
		return fault.New(pawl.ErrInvalid, "the project configuration has more than %d parts", maxParts)
	}
	if p.Does == "" {
		p.Does = does[p.Kind]
	}
	s.parts = append(s.parts, p)
	return nil
}

// agentDirs adds the parts in the directories of agents.
func (s *surveyor) agentDirs() error {
	for i, name := range agentDirNames {
		if err := s.walk(s.root, name, KindConfig, i < ownFolders, 0); err != nil {
			return err
		}
	}
	return nil
}

// walk adds the parts at a path. At depth 1 a directory's name determines the kind;
// unknown directories are only searched if all is set.
func (s *surveyor) walk(root *os.Root, name string, kind Kind, all bool, depth int) error {
	if slices.Contains(writtenByPawl, name) {
		return nil
	}
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		if depth == 1 {
			kind = fileKind(path.Base(name))
		}
		return s.file(root, name, info, Part{Kind: kind, Path: name, Executable: kind != KindInstructions && kind != KindVariables})
	}
	if depth == 1 {
		known, ok := kindsOf[strings.ToLower(path.Base(name))]
		if !ok && !all {
			return nil
		}
		if ok {
			kind = known
		}
	}
	if depth == maxDepth {
		return fault.New(pawl.ErrInvalid, "%q is nested too deeply", name)
	}
	names, err := entries(root, name)
	if err != nil {
		return err
	}
	for _, entry := range names {
		if err := s.walk(root, path.Join(name, entry), kind, all, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// fileKind returns the kind of a file at the top of an agent's directory.
func fileKind(name string) Kind {
	switch name = strings.ToLower(name); {
	case strings.Contains(name, "mcp"):
		return KindServer
	case strings.HasPrefix(name, ".env"):
		return KindVariables
	case strings.HasPrefix(name, "hook"):
		return KindHook
	case strings.HasSuffix(name, ".md"), strings.HasSuffix(name, ".mdc"):
		return KindInstructions
	}
	return KindConfig
}

// file adds a file with the hash of its content. A link is hashed by its target, and
// anything else by its type.
func (s *surveyor) file(root *os.Root, name string, info fs.FileInfo, p Part) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		p.Kind, p.Executable, p.Does, p.Hash = KindLink, true, "", HashOf("link", target)
	case info.IsDir():
		return nil
	case !info.Mode().IsRegular():
		p.Hash = HashOf("special", info.Mode().Type().String())
	default:
		hash, err := s.hash(root, name)
		if err != nil {
			return err
		}
		p.Hash = hash
	}
	return s.add(p)
}

// hash returns the hash of a file's content. It does not block, even if the file has
// been replaced by a pipe.
func (s *surveyor) hash(root *os.Root, name string) (string, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, fault.New(pawl.ErrConflict, "%q changed while it was read", name))
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", err
	}
	if s.bytes += n; n > maxFile || s.bytes > maxBytes {
		return "", fault.New(pawl.ErrInvalid, "%q is too large", name)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// top adds the files at the top of the directory.
func (s *surveyor) top() error {
	for _, f := range topFiles {
		info, err := s.root.Lstat(f.name)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			return err
		}
		if err := s.file(s.root, f.name, info, Part{Kind: f.kind, Path: f.name, Does: f.does, Executable: f.executable}); err != nil {
			return err
		}
	}
	for _, l := range languages {
		if _, err := s.root.Lstat(l.file); err == nil {
			p := Part{Kind: KindLanguage, Path: l.file, Does: "starts " + l.server + ", if installed, which can run the project's build tools", Executable: true, Hash: HashOf("language", l.server)}
			if err := s.add(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// variables adds .env files. They are listed, not read, so the first ones of a
// directory with very many files are enough.
func (s *surveyor) variables() error {
	f, err := s.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, name := range names {
		if lower := strings.ToLower(name); lower != ".env" && !strings.HasPrefix(lower, ".env.") {
			continue
		}
		if err := s.add(Part{Kind: KindVariables, Path: name, Hash: HashOf("variables")}); err != nil {
			return err
		}
	}
	return nil
}

// entries returns the names in a directory, in order.
func entries(root *os.Root, name string) ([]string, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(names) > maxEntries {
		return nil, fault.New(pawl.ErrInvalid, "%q has more than %d entries", name, maxEntries)
	}
	slices.Sort(names)
	return names, nil
}

// realDir returns the real path of a directory.
func realDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
