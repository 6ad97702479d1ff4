package protect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

const (
	maxState  = 16 << 20 // bytes of a small file of git: a ref, a configuration, a list of commits to rebase
	maxLarge  = 1 << 30  // bytes of an index or of packed refs
	maxSearch = 1 << 20  // entries of a deleted directory that are searched for protected names
)

// view reads the tree before and after a command.
type view struct {
	upper, lower *os.Root
	changes      []tree.Change
	byPath       map[string]int
	children     map[string][]int // changes, by the directory that they are in
	before       map[string]bool  // results of gitDirBefore
	after        map[string]bool  // results of gitDirAfter
}

func newView(upper, lower string, changes []tree.Change) (*view, error) {
	up, err := os.OpenRoot(upper)
	if err != nil {
		return nil, err
	}
	low, err := os.OpenRoot(lower)
	if err != nil {
		_ = up.Close()
		return nil, err
	}
	v := &view{
		upper: up, lower: low, changes: changes, byPath: make(map[string]int, len(changes)), children: map[string][]int{},
		before: map[string]bool{}, after: map[string]bool{},
	}
	for i, c := range changes {
		dir := parent(c.Path)
		v.byPath[c.Path], v.children[dir] = i, append(v.children[dir], i)
	}
	return v, nil
}

func (v *view) close() {
	_ = v.upper.Close()
	_ = v.lower.Close()
}

// parent returns the directory of a path, "" for one at the top.
func parent(name string) string {
	dir, _ := path.Split(name)
	return strings.TrimSuffix(dir, "/")
}

// typeBefore returns the type of an entry before the command.
func (v *view) typeBefore(name string) tree.Type {
	info, err := v.lower.Lstat(path.Join(".", name))
	switch {
	case err != nil:
		return tree.Missing
	case info.IsDir():
		return tree.Dir
	case info.Mode().IsRegular():
		return tree.File
	case info.Mode()&fs.ModeSymlink != 0:
		return tree.Link
	}
	return tree.Other
}

// typeAfter returns the type of an entry after the command.
func (v *view) typeAfter(name string) tree.Type {
	if i, ok := v.byPath[name]; ok {
		return v.changes[i].New.Type
	}
	for dir := parent(name); dir != ""; dir = parent(dir) {
		if i, ok := v.byPath[dir]; ok && v.changes[i].New.Type != tree.Dir {
			return tree.Missing
		}
	}
	return v.typeBefore(name)
}

// readAfter reads a file as the command left it.
func (v *view) readAfter(name string, limit int64) ([]byte, error) {
	if _, ok := v.byPath[name]; ok {
		return readFile(v.upper, name, limit)
	}
	return readFile(v.lower, name, limit)
}

// readFile reads a regular file. It follows no link, blocks on no pipe and fails if the file is larger than limit.
func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, size, err := openFile(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return data, err
}

// openFile opens a regular file and returns its size.
func openFile(root *os.Root, name string) (*os.File, int64, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// unchanged reports whether a change leaves an entry as it was: a file with the same contents and mode, or a directory.
func (v *view) unchanged(c tree.Change) bool {
	if c.Old.Type != c.New.Type || c.Old.Mode != c.New.Mode {
		return false
	}
	if c.SameContent {
		return true
	}
	switch c.New.Type {
	case tree.Dir:
		return true
	case tree.File:
		before, errBefore := readFile(v.lower, c.Path, maxState)
		after, errAfter := readFile(v.upper, c.Path, maxState)
		return errBefore == nil && errAfter == nil && bytes.Equal(before, after)
	}
	return false
}

// protectedBelow returns why a directory that existed before must not be deleted or replaced, or "": it contains a
// protected name that is kept.
func (v *view) protectedBelow(dir string, kept func(name string) bool) string {
	reason, count := "", 0
	err := fs.WalkDir(v.lower.FS(), dir, func(name string, _ fs.DirEntry, err error) error {
		if count++; err != nil || count > maxSearch {
			return errors.Join(err, errors.New("too many entries"))
		}
		if name != dir && Entry(name) && kept(name) {
			reason = "it contains " + strings.TrimPrefix(name, dir+"/") + ", which is protected"
			return fs.SkipAll
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "its contents cannot be searched for protected names"
	}
	return reason
}
