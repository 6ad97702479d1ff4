package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// transaction is the state of a running WriteAll.
type transaction struct {
	w     *Workspace
	steps []*step
	dirs  []string // directories that were created, outermost first
}

// step is one change of a transaction and its progress.
type step struct {
	Change
	mode fs.FileMode
	temp string // temporary file with the new content, next to its target, until commit renames it
	kept string // backup of the old content, next to the file; "" before there is one
	away bool   // the file was renamed to kept, so nothing exists at Path
	done bool   // the new content is at its target
}

// do runs a file operation of a transaction, or returns the error that a test
// injects for it.
func (w *Workspace) do(name, path string, operation func() error) error {
	if w.fault != nil {
		if err := w.fault(name, path); err != nil {
			return err
		}
	}
	return operation()
}

// rename renames a file within its directory.
func (w *Workspace) rename(from, to string) error {
	return w.do("rename", to, func() error {
		return w.in(to, func(folder *os.Root, name string) error { return folder.Rename(filepath.Base(from), name) })
	})
}

func (w *Workspace) remove(path string) error {
	return w.do("remove", path, func() error {
		return w.in(path, func(folder *os.Root, name string) error { return folder.Remove(name) })
	})
}

// beside returns a new random file name in the directory of path.
func beside(path string) string {
	return filepath.Join(filepath.Dir(path), ".pawl-"+strings.ToLower(rand.Text()))
}

// stage writes the new content to a temporary file next to the target.
func (t *transaction) stage(s *step) error {
	if s.Remove {
		return nil
	}
	if err := t.mkdir(filepath.Dir(s.target())); err != nil {
		return err
	}
	s.temp = beside(s.target())
	return t.w.do("fill", s.temp, func() error { return t.w.fill(s.temp, s.Data, s.mode) })
}

// mkdir creates a directory and its missing parents, and records those that it
// created for a rollback.
func (t *transaction) mkdir(dir string) error {
	if dir == "." {
		return nil
	}
	switch info, err := t.w.lstat(dir); {
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := t.mkdir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := t.w.do("mkdir", dir, func() error { return t.w.mkdir(dir) }); err != nil {
		return err
	}
	t.dirs = append(t.dirs, dir)
	return nil
}

// commit backs up the old content and moves the new content to its target.
func (t *transaction) commit(s *step) error {
	if s.Was != "" {
		if err := t.keep(s); err != nil {
			return err
		}
	}
	if s.Remove {
		return nil
	}
	if s.Was == "" || s.To != "" {
		if err := t.vacant(s.target()); err != nil {
			return err
		}
	}
	if err := t.w.rename(s.temp, s.target()); err != nil {
		return err
	}
	s.done = true
	return nil
}

// keep backs up the old content under another name, unless it has changed since it
// was read. A file that is replaced stays in place through a hard link; only on
// file systems without hard links is it missing for a moment.
func (t *transaction) keep(s *step) error {
	kept := beside(s.Path)
	if !s.Remove && s.To == "" {
		if err := t.w.do("link", kept, func() error {
			return t.w.in(s.Path, func(folder *os.Root, name string) error { return folder.Link(name, filepath.Base(kept)) })
		}); err == nil {
			s.kept = kept
		}
	}
	if err := t.unchanged(s); err != nil || s.kept != "" {
		return err
	}
	if err := t.w.rename(s.Path, kept); err != nil {
		return err
	}
	s.kept, s.away = kept, true
	return nil
}

// rollBack undoes all steps, the last one first, and removes the created
// directories. It continues after a failure and returns all errors, wrapped with
// ErrHalfway.
func (t *transaction) rollBack() error {
	var errs []error
	for i := len(t.steps) - 1; i >= 0; i-- {
		errs = append(errs, t.undo(t.steps[i]))
	}
	for i := len(t.dirs) - 1; i >= 0; i-- {
		errs = append(errs, t.discard(t.dirs[i]))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %w", ErrHalfway, err)
	}
	return nil
}

func (t *transaction) undo(s *step) error {
	var err error
	if s.done && (s.Was == "" || s.To != "") {
		err = t.discard(s.target())
	}
	if s.temp != "" && !s.done {
		err = errors.Join(err, t.discard(s.temp))
	}
	switch {
	case s.kept != "" && (s.away || s.done):
		if failed := t.w.rename(s.kept, s.Path); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s could not be restored, its previous content is in %s: %w", s.Path, s.kept, failed))
		}
	case s.kept != "":
		err = errors.Join(err, t.discard(s.kept))
	}
	return err
}

// discard removes a file or directory that the transaction has created. It is no
// error if it does not exist.
func (t *transaction) discard(path string) error {
	if err := t.w.remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s could not be removed: %w", path, err)
	}
	return nil
}

// clean removes the backups after all changes have been made. It returns a
// *LeftoverError if some remain: the changes are not rolled back for that.
func (t *transaction) clean() error {
	var left LeftoverError
	for _, s := range t.steps {
		if s.kept == "" {
			continue
		}
		if err := t.w.remove(s.kept); err != nil {
			left.Paths = append(left.Paths, s.kept)
			left.Err = errors.Join(left.Err, err)
		}
	}
	if left.Paths != nil {
		return &left
	}
	return nil
}
