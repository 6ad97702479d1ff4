// Package workspace gives confined access to a session's working directory, and to
// further project directories if it has any: no relative path, absolute path or symbolic
// link leads out of them. It reads files and directories, and writes files atomically,
// one at a time or several in one transaction. Paths are relative to the working
// directory, and absolute in the further ones.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Workspace gives access to the directories of a session. The caller must close it.
type Workspace struct {
	dir   string
	root  *os.Root
	more  []further
	fault func(operation, path string) error // for tests: called before each file operation of WriteAll, to make it fail
}

// further is a project directory besides the working directory.
type further struct {
	dir  string
	root *os.Root
}

// Open opens a workspace at dir, with further project directories.
func Open(dir string, more ...string) (*Workspace, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	w := &Workspace{dir: dir, root: root}
	for _, dir := range more {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open project directory: %w", err), w.Close())
		}
		w.more = append(w.more, further{filepath.Clean(dir), root})
	}
	return w, nil
}

// Close releases the directory handles.
func (w *Workspace) Close() error {
	err := w.root.Close()
	for _, f := range w.more {
		err = errors.Join(err, f.root.Close())
	}
	return err
}

// Locate returns the further project directory that an absolute path is in, and the path
// relative to it.
func Locate(path string, more ...string) (dir, rel string, ok bool) {
	for _, dir := range more {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(rel) {
			return filepath.Clean(dir), rel, true
		}
	}
	return "", "", false
}

// Rel returns path, absolute or relative to dir, as a path relative to dir or, in one of
// the further directories, as an absolute path. It is lexical and does not resolve
// symbolic links. A path outside of them is an error.
func Rel(dir, path string, more ...string) (string, error) {
	if path == "" {
		return "", errors.New("path is empty")
	}
	rel := filepath.Clean(path)
	full := rel
	if !filepath.IsAbs(path) {
		full = filepath.Join(dir, path)
	}
	if _, _, ok := Locate(full, more...); ok {
		return full, nil
	}
	if filepath.IsAbs(path) {
		var err error
		if rel, err = filepath.Rel(dir, path); err != nil {
			return "", fmt.Errorf("%s is outside the workspace %s", path, dir)
		}
	}
	if !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is outside the workspace %s", path, dir)
	}
	return rel, nil
}

// confined returns the root directory to look path up in, and its name there.
func (w *Workspace) confined(path string) (*os.Root, string) {
	for _, f := range w.more {
		if _, rel, ok := Locate(path, f.dir); ok {
			return f.root, rel
		}
	}
	return w.root, path
}

// Stat describes the file at path and follows symbolic links within the workspace.
func (w *Workspace) Stat(path string) (fs.FileInfo, error) {
	root, name := w.confined(path)
	return root.Stat(name)
}

// Open opens a file for reading. Opening a named pipe does not block.
func (w *Workspace) Open(path string) (*os.File, error) {
	root, name := w.confined(path)
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// OpenFolder opens a directory for reading. No path leads out of that directory,
// not even to other parts of the workspace. The caller closes it.
func (w *Workspace) OpenFolder(path string) (*os.Root, error) {
	root, name := w.confined(path)
	return root.OpenRoot(name)
}

// ReadFile returns the content of a file.
func (w *Workspace) ReadFile(path string) ([]byte, error) {
	root, name := w.confined(path)
	return root.ReadFile(name)
}

// FS returns the workspace as a file system, for walking it.
func (w *Workspace) FS() fs.FS { return w.root.FS() }

// WriteFile creates or replaces a file atomically: readers see the old or the new
// content, also after a crash. It creates missing parent directories and keeps the
// mode of an existing file. It does not write through a symbolic link, neither the
// file itself nor one of its parents.
func (w *Workspace) WriteFile(path string, data []byte) error {
	mode := fs.FileMode(0o644)
	switch info, err := w.lstat(path); {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("write %s: it is a symbolic link: use the path of its target", path)
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("write %s: it is not a regular file", path)
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: %w", path, err)
	}
	dir := filepath.Dir(path)
	if err := w.mkdirAll(dir); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	temp := beside(path)
	err := w.fill(temp, data, mode)
	if err == nil {
		err = w.rename(temp, path)
	}
	if err != nil {
		_ = w.remove(temp)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// fill writes a new file and syncs it to disk.
func (w *Workspace) fill(path string, data []byte, mode fs.FileMode) error {
	return w.in(path, func(folder *os.Root, name string) error {
		f, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	})
}
