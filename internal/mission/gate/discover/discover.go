// Package discover finds the checks of a project: the commands that build, lint and test it. It only reads files; see
// Checks for the rules.
package discover

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// Files gives access to the files of a project.
type Files struct {
	Paths []string
	Read  func(path string) ([]byte, error)

	// Installed reports whether a program is installed; nil means that all are. It decides between programs that do the
	// same, and leaves out commands of CI files whose program is missing.
	Installed func(program string) bool
}

// Found is a check and the reason why it belongs to the project.
type Found struct {
	pawl.Check

	Why string `json:"why"`
}

// The report files of checks, relative to their directory. The gate removes them before each run.
const (
	reportXML   = ".pawl-tests.xml"
	reportJSON  = ".pawl-tests.json"
	reportLines = ".pawl-tests.jsonl"
	buildDir    = ".pawl-build"
)

// ecosystems are the finders, in this order: each sees what those before it have found.
var ecosystems = []func(*tree) []Found{
	golang, node, python, rust, jvm, dotnet, ruby, php, perl, elixir, swift, // know their tests
	cmake, meson, bats, // tools for several languages
	makefiles, justfiles, bazel, scripts, javac, // anything else
	named, // commands that documents name
}

// Checks finds the checks of a project. Programs are bare names. Setup checks come first, then builds, linters and tests.
//
// A check in a subdirectory has its Dir set and "@dir" at the end of its ID. Directories of other people's code, of
// examples and of test data are left out.
func Checks(f Files) []Found {
	t := newTree(f)
	for _, find := range ecosystems {
		t.found = append(t.found, find(t)...)
	}
	kinds := []pawl.CheckKind{pawl.CheckSetup, pawl.CheckBuild, pawl.CheckTypes, pawl.CheckLint, pawl.CheckOther, pawl.CheckTest}
	slices.SortStableFunc(t.found, func(a, b Found) int { return cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)) })
	return t.found
}

// tree is a project and what was found in it so far.
type tree struct {
	Files

	names map[string][]string // the names of the files in each directory; "" is the top
	found []Found
}

// foreign matches directories whose projects are not checked.
var foreign = regexp.MustCompile(`(^|/)(node_modules|vendor|third_party|testdata|__?fixtures?__|fixtures|examples?|templates?|site-packages|venv|\.[^/]+)(/|$)`)

func newTree(f Files) *tree {
	t := &tree{Files: f, names: map[string][]string{}}
	for _, name := range f.Paths {
		if dir := parent(name); !foreign.MatchString(dir) {
			t.names[dir] = append(t.names[dir], path.Base(name))
		}
	}
	return t
}

// parent returns the directory of a path; "" is the top.
func parent(name string) string {
	dir, _, ok := cutLast(name)
	if !ok {
		return ""
	}
	return dir
}

func cutLast(name string) (dir, base string, ok bool) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

// below reports whether a path is in a directory, or is that directory.
func below(name, dir string) bool {
	return dir == "" || name == dir || strings.HasPrefix(name, dir+"/")
}

// directories returns the directories that have a file with one of the names, the outer ones first.
func (t *tree) directories(names ...string) (list []directory) {
	for dir := range t.names {
		if d := (directory{t, dir}); d.first(names...) != "" {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b directory) int { return cmp.Compare(a.path, b.path) })
	return list
}

// outermost leaves out directories below others of the list.
func outermost(list []directory) (kept []directory) {
	for _, d := range list {
		if !slices.ContainsFunc(kept, func(k directory) bool { return below(d.path, k.path) }) {
			kept = append(kept, d)
		}
	}
	return kept
}

// tests reports whether a test was found in a directory or below it.
func (t *tree) tests(dir string) bool {
	return slices.ContainsFunc(t.found, func(f Found) bool { return f.Kind == pawl.CheckTest && below(f.Dir, dir) })
}

// testsIn reports whether a test was found that runs in this very directory.
func (t *tree) testsIn(dir string) bool {
	return slices.ContainsFunc(t.found, func(f Found) bool { return f.Kind == pawl.CheckTest && f.Dir == dir })
}

func (t *tree) installed(program string) bool { return t.Installed == nil || t.Installed(program) }

// directory is a directory of a project.
type directory struct {
	*tree

	path string
}

// first returns the first of the names that is a file of the directory, or "".
func (d directory) first(names ...string) string {
	for _, name := range names {
		if slices.Contains(d.names[d.path], name) {
			return name
		}
	}
	return ""
}

func (d directory) has(names ...string) bool { return d.first(names...) != "" }

// text returns the text of a file, or "" if it does not exist.
func (d directory) text(name string) string {
	text, err := d.Read(path.Join(d.path, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// files returns the files in the directory and below it whose path relative to it matches, sorted.
func (d directory) files(pattern *regexp.Regexp) (list []string) {
	for dir, names := range d.names {
		if !below(dir, d.path) {
			continue
		}
		for _, name := range names {
			rel := strings.TrimPrefix(strings.TrimPrefix(path.Join(dir, name), d.path), "/")
			if pattern.MatchString(rel) {
				list = append(list, rel)
			}
		}
	}
	slices.Sort(list)
	return list
}

// check returns a check that runs in the directory. The reason starts with the file that it is about.
func (d directory) check(id string, kind pawl.CheckKind, file, why string, args ...string) Found {
	f := Found{Check: pawl.Check{ID: id, Kind: kind, Args: args, Dir: d.path}, Why: path.Join(d.path, file) + " " + why}
	if d.path != "" {
		f.ID += "@" + d.path
	}
	return f
}

// reports returns the check with a test report.
func (f Found) reports(format, file string) Found {
	f.Tests, f.Report = format, file
	return f
}

// join returns a command with further arguments.
func join(args []string, more ...string) []string { return slices.Concat(args, more) }

// env returns the check with further variables.
func (f Found) env(list ...string) Found {
	f.Env = append(slices.Clone(f.Env), list...)
	return f
}
