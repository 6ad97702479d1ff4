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

// in calls f with the directory that path is in and path's name there. No link is
// followed on the way: a command that runs meanwhile could put one there that
// leads to what must not be written. A missing directory is fs.ErrNotExist.
func (w *Workspace) in(path string, f func(folder *os.Root, name string) error) error {
	dir, name := filepath.Split(filepath.Clean(path))
	folder := w.root
	for part := range strings.SplitSeq(filepath.Clean(dir), string(filepath.Separator)) {
		if part == "." {
			continue
		}
		next, err := enter(folder, part)
		if folder != w.root {
			_ = folder.Close() // it was only looked through
		}
		if err != nil {
			return err
		}
		folder = next
	}
	if folder != w.root {
		defer folder.Close()
	}
	return f(folder, name)
}

// enter opens a directory that is itself in another, not a link there.
func enter(folder *os.Root, name string) (*os.Root, error) {
	before, err := folder.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case before.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s is a symbolic link: name the folder that it leads to", name)
	case !before.IsDir():
		return nil, fmt.Errorf("%s is not a folder", name)
	}
	next, err := folder.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := next.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = fmt.Errorf("%s was changed meanwhile", name)
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// OpenReal is Open that follows no link: what is read is what was named, though a
// command put a link there meanwhile.
func (w *Workspace) OpenReal(path string) (file *os.File, err error) {
	err = w.in(path, func(folder *os.Root, name string) error {
		file, err = OpenIn(folder, name)
		return err
	})
	return file, err
}

// RealFolder is OpenFolder that follows no link.
func (w *Workspace) RealFolder(path string) (folder *os.Root, err error) {
	err = w.in(path, func(above *os.Root, name string) error {
		folder, err = enter(above, name)
		return err
	})
	return folder, err
}

// OpenIn opens what is in a directory for reading, if it is no link there. It does
// not wait for a writer if it is a pipe.
func OpenIn(folder *os.Root, name string) (*os.File, error) {
	before, err := folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%w: name the file it leads to", ErrLink)
	}
	file, err := folder.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	after, err := file.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errors.New("it was changed meanwhile")
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// ErrLink says that something is a link where none is followed.
var ErrLink = errors.New("it is a symbolic link")

// lstat describes what is at path, be it a link.
func (w *Workspace) lstat(path string) (info fs.FileInfo, err error) {
	err = w.in(path, func(folder *os.Root, name string) error {
		info, err = folder.Lstat(name)
		return err
	})
	return info, err
}

// mkdir makes one directory.
func (w *Workspace) mkdir(path string) error {
	return w.in(path, func(folder *os.Root, name string) error { return folder.Mkdir(name, 0o755) })
}

// mkdirAll makes a directory and its parents.
func (w *Workspace) mkdirAll(path string) error {
	if path == "." {
		return nil
	}
	switch info, err := w.lstat(path); {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is not a folder", path)
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

// Real returns where path, relative to dir, really leads: relative to dir if
// that is in it, otherwise absolute. What does not exist yet is taken as it is
// spelled, below what does.
func Real(dir, path string) (string, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	real, err := follow(filepath.Join(root, path))
	if err != nil {
		return "", err
	}
	return inside(root, real), nil
}

// maxLinks is how many links a path may lead through, as in Linux.
const maxLinks = 40

// follow returns where an absolute path leads. A link to nothing leads to what
// would come into being if it were written to.
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
			return "", fmt.Errorf("%s leads through more than %d links", path, maxLinks)
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

// Readable returns where a path that may be read leads. What is behind a link must
// be such that reads permits it: the link could be another one since somebody
// else looked. It is then to be opened without following links again.
func Readable(dir, path string, reads func(path string) bool) (string, error) {
	real, err := Real(dir, path)
	switch {
	case err != nil:
		return "", err
	case real == filepath.Clean(path):
		return real, nil
	case filepath.IsAbs(real):
		return "", fmt.Errorf("%s leads out of the workspace, to %s", path, real)
	case reads != nil && !reads(real):
		return "", fmt.Errorf("%s leads to %s, which may not be read by another name: name it itself", path, real)
	}
	return real, nil
}

// inside is path relative to root, if it is there.
func inside(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
