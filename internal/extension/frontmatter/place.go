package frontmatter

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// maxEntries bounds the entries of one directory.
const maxEntries = 2000

// Layer says whose a file is.
type Layer string

// The layers.
const (
	User    Layer = "user"
	Project Layer = "project"
)

// Origin says where something comes from. File is a stranger's text.
type Origin struct {
	File  string `json:"file"` // absolute
	Layer Layer  `json:"layer"`
	Tool  string `json:"tool"` // whose kind of file it is: pawl, agents, claude, opencode
}

// Fault is what is wrong with a file. Both fields are strangers' texts.
type Fault struct {
	File string `json:"file"` // absolute
	Text string `json:"text"`
}

// Tree is a directory that is read without following any link: workspace.Workspace
// is one.
type Tree interface {
	OpenReal(path string) (*os.File, error)
	RealFolder(path string) (*os.Root, error)
}

// Directory is a tree and where it is. The zero value is none.
type Folder struct {
	Tree Tree
	Path string // absolute
}

// Sources says where to look. Whoever makes it closes the trees, not before all
// that was found is done with.
type Sources struct {
	Project Folder // the top of the repository, or the directory that is worked in if it is in none
	Dir     string // the directory that is worked in, from there; "" means the top

	// Trusted says whether a directory of the project, absolute, is trusted.
	// Nothing in one that is not is read, and nil means that none is.
	Trusted func(dir string) bool

	Home   Folder // of the user
	Config Folder // pawl's own directory for what the user configures
}

// Level is one directory to look into.
type Level struct {
	Folder
	Layer Layer
	At    string // where it is in the tree, "." for its top
	Own   bool   // it is pawl's own directory, and holds nothing of others
}

// Dir returns where a level is.
func (l Level) Dir() string { return filepath.Join(l.Path, l.At) }

// Levels returns the directories to look into: those of the project that are trusted,
// the nearest first, then pawl's own, then the home directory.
func (s Sources) Levels() []Level {
	var levels []Level
	for _, l := range s.project() {
		if s.Trusted != nil && s.Trusted(l.Dir()) {
			levels = append(levels, l)
		}
	}
	if s.Config.Tree != nil {
		levels = append(levels, Level{Folder: s.Config, Layer: User, At: ".", Own: true})
	}
	if s.Home.Tree != nil {
		levels = append(levels, Level{Folder: s.Home, Layer: User, At: "."})
	}
	return levels
}

// Untrusted returns the directories of the project that are not trusted, the nearest
// first. What is in them is not to be read.
func (s Sources) Untrusted() []Level {
	return slices.DeleteFunc(s.project(), func(l Level) bool { return s.Trusted != nil && s.Trusted(l.Dir()) })
}

// project returns the directories of the project, the nearest first. One that is the
// user's home or configuration is not the project's too.
func (s Sources) project() []Level {
	if s.Project.Tree == nil {
		return nil
	}
	var levels []Level
	for at := s.dir(); ; at = filepath.Dir(at) {
		l := Level{Folder: s.Project, Layer: Project, At: at}
		if (s.Home.Tree == nil || l.Dir() != s.Home.Path) && (s.Config.Tree == nil || l.Dir() != s.Config.Path) {
			levels = append(levels, l)
		}
		if at == "." {
			return levels
		}
	}
}

// dir returns the directory that is worked in, from the top; one that is not
// beneath it counts as the top.
func (s Sources) dir() string {
	dir := filepath.Clean(s.Dir)
	if !filepath.IsLocal(dir) {
		return "."
	}
	return dir
}

// Read returns what a file holds. A link, on the way or at its end, anything
// else that is no file, or more than limit bytes is an error.
func Read(t Tree, path string, limit int64) ([]byte, error) {
	f, err := t.OpenReal(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadFrom(f, limit)
}

// ReadFrom is Read for a file that is open.
func ReadFrom(f *os.File, limit int64) ([]byte, error) {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("it is no regular file: %w", pawl.ErrInvalid))
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it has more than %d bytes: %w", limit, pawl.ErrInvalid)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// Entries returns what is in a directory, by name; nothing if there is no such
// directory. A directory that is a link, or has too much in it, is an error.
func Entries(t Tree, path string) ([]fs.DirEntry, error) {
	root, err := t.RealFolder(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(entries) > maxEntries {
		return nil, fmt.Errorf("it has more than %d entries: %w", maxEntries, pawl.ErrInvalid)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}
