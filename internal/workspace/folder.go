package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// in calls f with the parent directory of path and with path's base name. It
// follows no symbolic links: a command that runs at the same time could place one
// that redirects a write to a protected file. The error is fs.ErrNotExist if a
// directory is missing.
func (w *Workspace) in(path string, f func(folder *os.Root, name string) error) error {
	root, path := w.confined(path)
	dir, name := filepath.Split(filepath.Clean(path))
	folder := root
	for part := range strings.SplitSeq(filepath.Clean(dir), string(filepath.Separator)) {
		if part == "." {
			continue
		}
		next, err := enter(folder, part)
		if folder != root {
			_ = folder.Close() // nothing was written
		}
		if err != nil {
			return err
		}
		folder = next
	}
	if folder != root {
		defer folder.Close()
	}
	return f(folder, name)
}

// enter opens a subdirectory. It returns an error for a symbolic link.
func enter(folder *os.Root, name string) (*os.Root, error) {
	before, err := folder.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s is a symbolic link: use the path of its target", name)
	case !before.IsDir():
		return nil, fmt.Errorf("%s is not a directory", name)
	}
	next, err := folder.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := next.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = fmt.Errorf("%s was changed in the meantime", name)
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// OpenReal is Open without following symbolic links, so that a link which a command
// creates concurrently cannot redirect the read.
func (w *Workspace) OpenReal(path string) (file *os.File, err error) {
	err = w.in(path, func(folder *os.Root, name string) error {
		file, err = OpenIn(folder, name)
		return err
	})
	return file, err
}

// RealFolder is OpenFolder without following symbolic links.
func (w *Workspace) RealFolder(path string) (folder *os.Root, err error) {
	err = w.in(path, func(above *os.Root, name string) error {
		folder, err = enter(above, name)
		return err
	})
	return folder, err
}

// OpenIn opens a file of a directory for reading. It returns ErrLink for a symbolic
// link. Opening a named pipe does not block.
func OpenIn(folder *os.Root, name string) (*os.File, error) {
	before, err := folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%w: use the path of its target", ErrLink)
	}
	file, err := folder.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	after, err := file.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errors.New("it was changed in the meantime")
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// ErrLink is returned for a symbolic link where links are not followed.
var ErrLink = errors.New("it is a symbolic link")

// lstat describes the file at path without following symbolic links.
func (w *Workspace) lstat(path string) (info fs.FileInfo, err error) {
	err = w.in(path, func(folder *os.Root, name string) error {
		info, err = folder.Lstat(name)
		return err
	})
	return info, err
}

// mkdir creates one directory.
func (w *Workspace) mkdir(path string) error {
	return w.in(path, func(folder *os.Root, name string) error { return folder.Mkdir(name, 0o755) })
}

// mkdirAll creates a directory and its missing parents. It follows no symbolic
// links.
func (w *Workspace) mkdirAll(path string) error {
	if path == "." {
		return nil
	}
	switch info, err := w.lstat(path); {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is not a directory", path)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := w.mkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	if err := w.mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Real resolves all symbolic links in path, which is absolute or relative to dir. The
// result is relative to dir if it is inside of it, otherwise absolute. Path elements that do
// not exist yet are kept as they are.
func Real(dir, path string) (string, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	real, err := follow(path)
	if err != nil {
		return "", err
	}
	return inside(root, real), nil
}

// maxLinks is the number of symbolic links that a path may contain, as on Linux.
const maxLinks = 40

// follow resolves the symbolic links in an absolute path. For a dangling link it
// returns the path of the file that a write through the link would create.
func follow(path string) (string, error) {
	const sep = string(filepath.Separator)
	at, links := sep, 0
	for rest := strings.Split(path, sep); len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err
		case err != nil || info.Mode()&fs.ModeSymlink == 0:
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s follows more than %d links", path, maxLinks)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			at = sep
		}
		rest = append(strings.Split(target, sep), rest...)
	}
	return at, nil
}

// Readable returns the real path of a file that the caller is permitted to read. If
// path contains a symbolic link, reads must permit the target too, because the link
// may have changed since permission was checked. Open the result without following
// links. A nil reads permits every file in the workspace.
func Readable(dir, path string, reads func(path string) bool, more ...string) (string, error) {
	real, err := Real(dir, path)
	_, _, further := Locate(real, more...)
	switch {
	case err != nil:
		return "", err
	case real == filepath.Clean(path):
		return real, nil
	case filepath.IsAbs(real) && !further:
		return "", fmt.Errorf("%s leads outside the workspace, to %s", path, real)
	case reads != nil && !reads(real):
		return "", fmt.Errorf("%s leads to %s, which cannot be read by another name: use its own path", path, real)
	}
	return real, nil
}

// inside returns path relative to root, or path itself if it is outside of root.
func inside(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
