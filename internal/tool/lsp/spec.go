package lsp

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Spec says how a language server is started and for which files.
type Spec struct {
	Name    string            // of the program; people know the server by it
	Args    []string          // after the program
	Files   map[string]string // language ids by the ends of names, such as ".go", or by names
	Reads   []string          // other files that the server reads, by name or end: it is told when they change
	Roots   []string          // files that mark a project's folder; an earlier one counts, wherever it is found, before a later one
	Install string            // what a person does to have it

	// Options returns the options to start with, given the program's path.
	// An error says what else must be installed. Nil means none.
	Options func(program string) (any, error)
	// Settings are the answers to what the server asks of the configuration.
	Settings map[string]any
	// Always says that the server publishes for each text that it is sent, so
	// that its silence means that it is not done.
	Always bool
	// TSServer says that faults are asked for by tsserver's own requests.
	TSServer bool
}

// Table returns the servers that pawl knows. Of those for the same files, the
// first that is installed is taken.
func Table() []Spec {
	python := map[string]string{".py": "python", ".pyi": "python"}
	pythonRoots := []string{"pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"}
	gopls := map[string]any{"diagnosticsDelay": "0s"} // the delay is for people who type
	return []Spec{
		{
			Name: "gopls", Files: map[string]string{".go": "go", "go.mod": "go.mod", "go.work": "go.work"},
			Reads: []string{"go.sum", "go.work.sum"}, Roots: []string{"go.work", "go.mod"},
			Install: "go install golang.org/x/tools/gopls@latest",
			Options: func(string) (any, error) { return gopls, nil }, Settings: map[string]any{"gopls": gopls},
			Always: true,
		},
		{
			Name: "typescript-language-server", Args: []string{"--stdio"},
			Files: map[string]string{
				".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
				".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
			},
			Reads: []string{".json"}, Roots: []string{"tsconfig.json", "jsconfig.json", "package.json"},
			Install: "npm install -g typescript-language-server typescript@5",
			Options: tsOptions, TSServer: true,
		},
		{
			Name: "pyright-langserver", Args: []string{"--stdio"}, Files: python, Reads: pythonRoots, Roots: pythonRoots,
			Install: "npm install -g pyright",
		},
		{Name: "pylsp", Files: python, Reads: pythonRoots, Roots: pythonRoots, Install: "pip install python-lsp-server"},
		{Name: "ruff", Args: []string{"server"}, Files: python, Reads: pythonRoots, Roots: pythonRoots, Install: "pip install ruff"},
		{
			Name: "rust-analyzer", Files: map[string]string{".rs": "rust"}, Reads: []string{"Cargo.toml", "Cargo.lock"},
			Roots: []string{"Cargo.lock", "Cargo.toml"}, Install: "rustup component add rust-analyzer",
		},
		{
			Name: "clangd",
			Files: map[string]string{
				".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp",
			},
			Reads: []string{"compile_commands.json", "compile_flags.txt"},
			Roots: []string{"compile_commands.json", "compile_flags.txt", ".clangd"}, Install: "apt install clangd, or from llvm.org",
		},
		{Name: "zls", Files: map[string]string{".zig": "zig"}, Roots: []string{"build.zig"}, Install: "from github.com/zigtools/zls"},
	}
}

// tsOptions makes the server use the TypeScript that is installed beside it,
// not the one of the project: a repository must not bring the program that is
// run. Types are not fetched from the network.
func tsOptions(program string) (any, error) {
	real, err := filepath.EvalSymlinks(program) // …/node_modules/typescript-language-server/lib/cli.mjs
	if err != nil {
		return nil, err
	}
	modules := filepath.Dir(filepath.Dir(filepath.Dir(real)))
	tsserver := filepath.Join(modules, "typescript", "lib", "tsserver.js")
	if _, err := os.Stat(tsserver); err != nil {
		return nil, errors.New("there is no TypeScript 5 beside it")
	}
	return map[string]any{
		"disableAutomaticTypingAcquisition": true,
		"tsserver":                          map[string]any{"path": tsserver, "useClientFileWatcher": true, "useSyntaxServer": "never"},
	}, nil
}

// language returns the language id of a file, "" if it is not the server's.
func (s Spec) language(path string) string {
	if id := s.Files[filepath.Base(path)]; id != "" {
		return id
	}
	return s.Files[filepath.Ext(path)]
}

// reads reports whether a change of the file matters to the server.
func (s Spec) reads(name string) bool {
	return s.language(name) != "" || slices.ContainsFunc(s.Reads, func(end string) bool {
		return name == end || strings.HasPrefix(end, ".") && strings.HasSuffix(name, end)
	})
}

// root returns the folder, at or below dir, of the project that the file
// belongs to. Both are absolute. It is dir if nothing marks another.
func (s Spec) root(dir, path string) string {
	for _, marker := range s.Roots {
		for folder := filepath.Dir(path); within(dir, folder); folder = filepath.Dir(folder) {
			if info, err := os.Lstat(filepath.Join(folder, marker)); err == nil && info.Mode().IsRegular() {
				return folder
			}
			if folder == dir {
				break
			}
		}
	}
	return dir
}

// within reports whether a path is the folder or below it. Both are clean and absolute.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// errInside says that a program was found only where it must not be taken from.
var errInside = errors.New("it is inside the workspace")

// find returns the program's path. Programs inside the workspace do not count,
// whatever the way to them: a repository must not bring the program that is run.
func find(name, dir, path string) (string, error) {
	missing := os.ErrNotExist
	for _, folder := range filepath.SplitList(path) {
		program := filepath.Join(folder, name)
		info, err := os.Stat(program)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			continue
		}
		if outside(dir, folder) && outside(dir, program) {
			return program, nil
		}
		missing = errInside
	}
	return "", missing
}

// outside reports whether a path leads out of the workspace from wherever one
// stands, both as it is spelled and through its links.
func outside(dir, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && filepath.IsAbs(path) && !within(dir, filepath.Clean(path)) && !within(dir, real)
}

// safePath is the search path without the folders in the workspace: a server
// looks for its own programs there.
func safePath(dir, path string) string {
	folders := slices.DeleteFunc(filepath.SplitList(path), func(folder string) bool { return !outside(dir, folder) })
	return strings.Join(folders, string(os.PathListSeparator))
}
