package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Change describes a write, a move or a removal of one file. A move may also
// replace the file's content.
type Change struct {
	Path   string
	To     string // the new path, where nothing may exist; "" keeps the path
	Data   []byte // the new content
	Remove bool   // remove the file instead
	Was    string // the Hash of the content that the change is based on; "" if the file is new
}

// target returns the path that the new content is written to.
func (c Change) target() string {
	if c.To != "" {
		return c.To
	}
	return c.Path
}

// verb describes the change for an error message.
func (c Change) verb() string {
	switch {
	case c.Remove:
		return "remove " + c.Path
	case c.To != "":
		return "move " + c.Path + " to " + c.To
	default:
		return "write " + c.Path
	}
}

// ErrHalfway means that WriteAll failed and that rolling back failed too. The error
// that wraps it says which files are affected and where their old content is.
var ErrHalfway = errors.New("some files could not be restored")

// LeftoverError means that WriteAll made all changes but could not remove the
// backups of old content at Paths.
type LeftoverError struct {
	Paths []string
	Err   error
}

func (e *LeftoverError) Error() string {
	return fmt.Sprintf("all files were written, but %s could not be removed: %v", strings.Join(e.Paths, ", "), e.Err)
}

func (e *LeftoverError) Unwrap() error { return e.Err }

// WriteAll makes all changes or none. Readers of a file see either its old or its
// new content. WriteAll creates missing parent directories, keeps the mode of
// existing files, also when it moves them, and never writes through a symbolic
// link. If any file does not have the content that its change is based on, WriteAll
// changes nothing.
//
// After an error that is neither a *LeftoverError nor ErrHalfway all files are
// unchanged. Canceling ctx has an effect only until the first file is replaced.
//
// A crash may leave some of the changes made. Files whose names start with .pawl-
// then hold the old content of those files and the new content of the others.
func (w *Workspace) WriteAll(ctx context.Context, changes []Change) error {
	if err := distinct(changes); err != nil {
		return err
	}
	t := transaction{w: w}
	for _, c := range changes {
		s := &step{Change: c, mode: 0o644}
		if err := t.verify(s); err != nil {
			return fmt.Errorf("%s: %w", c.verb(), err)
		}
		t.steps = append(t.steps, s)
	}
	for _, s := range t.steps {
		err := ctx.Err()
		if err == nil {
			err = t.stage(s)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", s.verb(), err), t.rollBack())
		}
	}
	if err := ctx.Err(); err != nil {
		return errors.Join(fmt.Errorf("write files: %w", err), t.rollBack())
	}
	for _, s := range t.steps {
		if err := t.commit(s); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", s.verb(), err), t.rollBack())
		}
	}
	return t.clean()
}

// distinct returns an error if two changes touch the same path, or if one makes a
// file of a directory that another one needs.
func distinct(changes []Change) error {
	taken := map[string]bool{}
	for _, c := range changes {
		for _, path := range []string{c.Path, c.To} {
			path = filepath.Clean(path)
			if path != "." && taken[path] {
				return fmt.Errorf("%s: another change affects %s", c.verb(), path)
			}
			taken[path] = true
		}
	}
	for _, c := range changes {
		for dir := filepath.Dir(filepath.Clean(c.target())); dir != "." && dir != string(filepath.Separator); dir = filepath.Dir(dir) {
			if taken[dir] {
				return fmt.Errorf("%s: another change turns %s into a file", c.verb(), dir)
			}
		}
	}
	return nil
}

// verify checks that the change can be applied to the current file, and records the
// file's mode.
func (t *transaction) verify(s *step) error {
	if s.Was == "" {
		if s.Remove || s.To != "" {
			return errors.New("there is no content to go by")
		}
		return t.vacant(s.Path)
	}
	info, err := t.w.lstat(s.Path)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("it is a symbolic link: use the path of its target")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	}
	s.mode = info.Mode().Perm()
	if err := t.unchanged(s); err != nil || s.To == "" {
		return err
	}
	return t.vacant(s.To)
}

// vacant returns an error if anything exists at path, even a dangling symbolic
// link.
func (t *transaction) vacant(path string) error {
	info, err := t.w.lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link: use the path of its target", path)
	default:
		return fmt.Errorf("%s already exists", path)
	}
}

// unchanged checks that the file still has the content that the change is based on.
func (t *transaction) unchanged(s *step) error {
	var data []byte
	err := t.w.in(s.Path, func(folder *os.Root, name string) (err error) {
		data, err = folder.ReadFile(name)
		return err
	})
	if err == nil && Hash(data) != s.Was {
		err = errors.New("it has changed on disk meanwhile: read it again")
	}
	return err
}
