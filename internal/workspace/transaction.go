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

// transaction is a WriteAll under way.
type transaction struct {
	w     *Workspace
	steps []*step
	dirs  []string // that were made, outermost first
}

// step is a change and how far it has come.
type step struct {
	Change
	mode fs.FileMode
	temp string // holds the new content until it is installed, beside its target
	kept string // holds the old content once there is a need for it, beside the file
	away bool   // the file was taken away to be kept: nothing stands at Path
	done bool   // the new content stands at its target
}

// do is a file operation of a transaction.
func (w *Workspace) do(name, path string, operation func() error) error {
	if w.fault != nil {
		if err := w.fault(name, path); err != nil {
			return err
		}
	}
	return operation()
}

// rename gives what is at a path another name in its directory.
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

// beside is a new name in the directory of a path.
func beside(path string) string {
	return filepath.Join(filepath.Dir(path), ".pawl-"+strings.ToLower(rand.Text()))
}

// stage brings the new content to the disk, where nobody looks for it.
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

// mkdir makes a directory and its parents and remembers which were new.
func (t *transaction) mkdir(dir string) error {
	if dir == "." {
		return nil
	}
	switch info, err := t.w.lstat(dir); {
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
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

// commit puts the new content in its place and keeps the old one beside it.
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

// keep gives the old content another name, unless it has changed. A file that
// is replaced stays where it is until then; only where links are not to be had
// is it gone for a moment.
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

// rollBack puts all back as it was, the last step first. What fails does not
// keep it from undoing the rest.
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
			err = errors.Join(err, fmt.Errorf("%s could not be put back, its old content is in %s: %w", s.Path, s.kept, failed))
		}
	case s.kept != "":
		err = errors.Join(err, t.discard(s.kept))
	}
	return err
}

// discard removes what the transaction has made, if it is there.
func (t *transaction) discard(path string) error {
	if err := t.w.remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s could not be removed: %w", path, err)
	}
	return nil
}

// clean removes the old contents. It is the end of a transaction that has
// succeeded: there is no way back, whatever fails.
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
