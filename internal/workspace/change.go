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

// Change is what should happen to one file. A change that moves a file may also
// give it another content.
type Change struct {
	Path   string
	To     string // its new name, where nothing may stand; "" keeps the name
	Data   []byte // its new content
	Remove bool   // instead: there is to be no such file
	Was    string // the Hash of the content that the change was made for; "" if the file is new
}

// target is where the content goes.
func (c Change) target() string {
	if c.To != "" {
		return c.To
	}
	return c.Path
}

// verb is what an error says that could not be done.
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

// ErrHalfway says that a WriteAll failed and that not all could be put back.
// The text of the error that wraps it says what, and where the old content is.
var ErrHalfway = errors.New("not all could be put back as it was")

// LeftoverError says that all changes were made, and that old contents could
// not be removed from where they were kept meanwhile.
type LeftoverError struct {
	Paths []string
	Err   error
}

func (e *LeftoverError) Error() string {
	return fmt.Sprintf("all was written, but %s could not be removed: %v", strings.Join(e.Paths, ", "), e.Err)
}

func (e *LeftoverError) Unwrap() error { return e.Err }

// WriteAll makes all changes or none. A reader of one file sees its old content
// or the new. Parents are made; the mode of an existing file is kept, also when
// it is moved; nothing is written through a link. A file that does not have the
// content that its change was made for is not touched, nor is any other.
//
// An error that is neither a *LeftoverError nor ErrHalfway means that all is as
// it was. A context that ends before the first file is replaced stops it; later
// it is too late to stop.
//
// A crash midway may leave some changes made and others not. The files whose
// names begin with .pawl- then hold the contents of the other side.
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

// distinct refuses changes that touch one path twice, or the inside of a file.
func distinct(changes []Change) error {
	taken := map[string]bool{}
	for _, c := range changes {
		for _, path := range []string{c.Path, c.To} {
			path = filepath.Clean(path)
			if path != "." && taken[path] {
				return fmt.Errorf("%s: another change touches %s", c.verb(), path)
			}
			taken[path] = true
		}
	}
	for _, c := range changes {
		for dir := filepath.Dir(filepath.Clean(c.target())); dir != "." && dir != string(filepath.Separator); dir = filepath.Dir(dir) {
			if taken[dir] {
				return fmt.Errorf("%s: another change makes a file of %s", c.verb(), dir)
			}
		}
	}
	return nil
}

// verify checks that a change can be made to what is there now.
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
		return errors.New("it is a symbolic link: name the file it leads to")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	}
	s.mode = info.Mode().Perm()
	if err := t.unchanged(s); err != nil || s.To == "" {
		return err
	}
	return t.vacant(s.To)
}

// vacant checks that nothing stands at a path, not even a link to nothing.
func (t *transaction) vacant(path string) error {
	info, err := t.w.lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link: name the file it leads to", path)
	default:
		return fmt.Errorf("%s exists", path)
	}
}

// unchanged checks that the file has the content that the change was made for.
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
