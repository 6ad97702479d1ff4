package lsp

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Spec describes a language server: how to start it and for which files.
type Spec struct {
	Name    string // name for people
	Program string // name in the search path, or an absolute path; "" means Name
	Args    []string
	Env     []string          // NAME=value, added to the environment of every server
	Files   map[string]string // language ids by file name extension, such as ".go", or by file name
	Reads   []string          // other files that the server reads, by name or extension: it is notified when they change
	Roots   []string          // files that mark the root of a project; earlier ones take precedence, wherever they are
	Marked  bool              // it only serves files below a marked root
	Install string            // how to install it

	// Options returns the initialization options, given the program's path. An
	// error says what else must be installed. nil means none.
	Options func(program string) (any, error)
	// Settings are the answers to workspace/configuration requests.
	Settings map[string]any
	// Always means that the server publishes diagnostics for every text it
	// gets, so that silence means that it is still working.
	Always bool
	// TSServer means that diagnostics are requested with tsserver commands.
	TSServer bool

	Settle time.Duration // how long after an answer the diagnostics of other files may follow; 0 means 100 ms
}

func (s Spec) settleTime() time.Duration { return cmp.Or(s.Settle, settleTime) }

// program returns the program to start.
func (s Spec) program() string { return cmp.Or(s.Program, s.Name) }

// language returns the language id of a file, "" if the server does not handle
// it.
func (s Spec) language(path string) string {
	if id := s.Files[filepath.Base(path)]; id != "" {
		return id
	}
	return s.Files[filepath.Ext(path)]
}

// reads reports whether the server must be notified of changes of the file.
func (s Spec) reads(name string) bool {
	return s.language(name) != "" || slices.ContainsFunc(s.Reads, func(end string) bool {
		return name == end || strings.HasPrefix(end, ".") && strings.HasSuffix(name, end)
	})
}

// root returns the root, at or below dir, of the project that the file belongs
// to. Both paths are absolute. It is dir if no file marks another; marked
// reports whether one does.
func (s Spec) root(dir, path string) (folder string, marked bool) {
	for _, marker := range s.Roots {
		for folder := filepath.Dir(path); within(dir, folder); folder = filepath.Dir(folder) {
			if info, err := os.Lstat(filepath.Join(folder, marker)); err == nil && info.Mode().IsRegular() {
				return folder, true
			}
			if folder == dir {
				break
			}
		}
	}
	return dir, false
}

// serves reports whether the server handles the file at an absolute path.
func (s Spec) serves(dir, path string) bool {
	if s.language(path) == "" {
		return false
	}
	_, marked := s.root(dir, path)
	return marked || !s.Marked
}

// within reports whether path is dir or below it. Both are clean and absolute.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// errInside means that a program was found only inside the workspace, from
// where it must not be run.
var errInside = errors.New("it is inside the workspace")

// find returns the path of a program. A name is looked up in the search path.
// Programs inside the workspace do not count, even through links: a repository
// must not supply a program that is run.
func find(name, dir, path string) (string, error) {
	if filepath.IsAbs(name) {
		path, name = filepath.Dir(name), filepath.Base(name)
	}
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

// outside reports whether a path is absolute and outside the workspace, both
// as spelled and with links resolved.
func outside(dir, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && filepath.IsAbs(path) && !within(dir, filepath.Clean(path)) && !within(dir, real)
}

// safePath returns the search path without directories inside the workspace,
// because servers look up programs in it too.
func safePath(dir, path string) string {
	folders := slices.DeleteFunc(filepath.SplitList(path), func(folder string) bool { return !outside(dir, folder) })
	return strings.Join(folders, string(os.PathListSeparator))
}
