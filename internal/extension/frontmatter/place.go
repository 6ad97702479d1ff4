package frontmatter

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// maxEntries is the maximum number of entries of a directory.
const maxEntries = 2000

// Layer says whose file it is.
type Layer string

// The layers.
const (
	User    Layer = "user"
	Project Layer = "project"
)

// Origin says where something comes from. File is untrusted text.
type Origin struct {
	File  string `json:"file"` // absolute
	Layer Layer  `json:"layer"`
	Tool  string `json:"tool"` // whose format it is: pawl, agents, claude, opencode
}

// Fault is a problem with a file. Both fields are untrusted text.
type Fault struct {
	File string `json:"file"` // absolute
	Text string `json:"text"`
}

// Tree is a directory that is read without following links;
// workspace.Workspace is one.
type Tree interface {
	OpenReal(path string) (*os.File, error)
	RealFolder(path string) (*os.Root, error)
}

// Directory is a tree with its path. The zero value means none.
type Directory struct {
	Tree Tree
	Path string // absolute
}

// Sources says where to look. The creator must close the trees, but not before
// the results are no longer used.
type Sources struct {
	Project Directory // the top of the repository, or the working directory if it is in none
	Dir     string    // the working directory relative to it; "" means the top

	// Trusted reports whether a directory of the project, given by its
	// absolute path, is trusted. Nothing is read from others; nil means none
	// is.
	Trusted func(dir string) bool

	Home   Directory // the user's home directory
	Config Directory // the user's Pawl configuration directory
}

// Level is a directory to look into.
type Level struct {
	Directory
	Layer Layer
	At    string // path in the tree, "." for its top
	Own   bool   // Pawl's own directory, without files of other tools
}

// Dir returns the absolute path of a level.
func (l Level) Dir() string { return filepath.Join(l.Path, l.At) }

// Levels returns the directories to look into: the trusted ones of the
// project, nearest first, then Pawl's own, then the home directory.
func (s Sources) Levels() []Level {
	var levels []Level
	for _, l := range s.project() {
		if s.Trusted != nil && s.Trusted(l.Dir()) {
			levels = append(levels, l)
		}
	}
	if s.Config.Tree != nil {
		levels = append(levels, Level{Directory: s.Config, Layer: User, At: ".", Own: true})
	}
	if s.Home.Tree != nil {
		levels = append(levels, Level{Directory: s.Home, Layer: User, At: "."})
	}
	return levels
}

// Untrusted returns the directories of the project that are not trusted,
// nearest first. Nothing in them may be read.
func (s Sources) Untrusted() []Level {
	return slices.DeleteFunc(s.project(), func(l Level) bool { return s.Trusted != nil && s.Trusted(l.Dir()) })
}

// project returns the directories of the project, nearest first, except those
// that are the user's home or configuration directory.
func (s Sources) project() []Level {
	if s.Project.Tree == nil {
		return nil
	}
	var levels []Level
	for at := s.dir(); ; at = filepath.Dir(at) {
		l := Level{Directory: s.Project, Layer: Project, At: at}
		if (s.Home.Tree == nil || l.Dir() != s.Home.Path) && (s.Config.Tree == nil || l.Dir() != s.Config.Path) {
			levels = append(levels, l)
		}
		if at == "." {
			return levels
		}
	}
}

// dir returns the working directory relative to the top. A directory outside
// counts as the top.
func (s Sources) dir() string {
	dir := filepath.Clean(s.Dir)
	if !filepath.IsLocal(dir) {
		return "."
	}
	return dir
}

// Read returns the content of a file. It returns an error for links in the
// path, for anything but a regular file, and for more than limit bytes.
func Read(t Tree, path string, limit int64) ([]byte, error) {
	f, err := t.OpenReal(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadFrom(f, limit)
}

// ReadFrom is Read for an open file.
func ReadFrom(f *os.File, limit int64) ([]byte, error) {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fault.New(pawl.ErrInvalid, "it is not a regular file"))
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fault.New(pawl.ErrInvalid, "it is larger than %d bytes", limit)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// Entries returns the entries of a directory, sorted by name; none if it does
// not exist. A directory that is a link, or has too many entries, is an error.
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
		return nil, fault.New(pawl.ErrInvalid, "it has more than %d entries", maxEntries)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}
