package lsp

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Spec says how a language server is started and for which files.
type Spec struct {
	Name    string            // people know the server by it
	Program string            // its name, looked for on the search path, or an absolute path; "" means Name
	Args    []string          // after the program
	Env     []string          // NAME=value, beside what every server gets
	Files   map[string]string // language ids by the ends of names, such as ".go", or by names
	Reads   []string          // other files that the server reads, by name or end: it is told when they change
	Roots   []string          // files that mark a project's directory; an earlier one counts, wherever it is found, before a later one
	Marked  bool              // it serves only what is in a directory that is marked so
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

// program is what is started.
func (s Spec) program() string { return cmp.Or(s.Program, s.Name) }

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

// root returns the directory, at or below dir, of the project that the file
// belongs to. Both are absolute. It is dir if nothing marks another; marked says
// whether something does.
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

// serves reports whether the file, which is absolute, is one for the server.
func (s Spec) serves(dir, path string) bool {
	if s.language(path) == "" {
		return false
	}
	_, marked := s.root(dir, path)
	return marked || !s.Marked
}

// within reports whether a path is the directory or below it. Both are clean and absolute.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// errInside says that a program was found only where it must not be taken from.
var errInside = errors.New("it is inside the workspace")

// find returns the program's path. A name is looked for on the search path.
// Programs inside the workspace do not count, whatever the way to them: a
// repository must not bring the program that is run.
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

// outside reports whether a path leads out of the workspace from wherever one
// stands, both as it is spelled and through its links.
func outside(dir, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && filepath.IsAbs(path) && !within(dir, filepath.Clean(path)) && !within(dir, real)
}

// safePath is the search path without the directories in the workspace: a server
// looks for its own programs there.
func safePath(dir, path string) string {
	folders := slices.DeleteFunc(filepath.SplitList(path), func(folder string) bool { return !outside(dir, folder) })
	return strings.Join(folders, string(os.PathListSeparator))
}
