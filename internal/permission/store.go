package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pawl-dev/pawl"
)

const (
	maxGrantFile = 1 << 20
	maxGrants    = 1000
)

// Store keeps grants in one file, readable by its owner alone, in a folder that
// is pawl's own.
type Store struct{ Path string }

// List returns the grants, the oldest first; none if there is no file. A file
// that others may write to, that is a link, or that holds what was never
// granted is an error: nothing in it counts.
func (s Store) List() ([]Grant, error) {
	f, err := os.OpenFile(s.Path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("read grants: %s is a link: %w", s.Path, pawl.ErrDenied)
	}
	if err != nil {
		return nil, fmt.Errorf("read grants: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read grants: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("read grants: %s is no file of yours alone (mode %s): look at what it holds, then 'chmod 600' it: %w", s.Path, info.Mode(), pawl.ErrDenied)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxGrantFile+1))
	if err != nil {
		return nil, fmt.Errorf("read grants: %w", err)
	}
	if len(text) > maxGrantFile {
		return nil, fmt.Errorf("read grants: %s has more than %d bytes: %w", s.Path, maxGrantFile, pawl.ErrInvalid)
	}
	var grants []Grant
	if err := pawl.Decode(text, &grants); err != nil {
		return nil, fmt.Errorf("read grants: %s: %w: %w", s.Path, err, pawl.ErrInvalid)
	}
	for i, g := range grants {
		if err := g.check(); err != nil {
			return nil, fmt.Errorf("read grants: %s, grant %d: %w: %w", s.Path, i+1, err, pawl.ErrInvalid)
		}
	}
	return grants, nil
}

// Add keeps grants. One that is there already stays as it is.
func (s Store) Add(grants ...Grant) error {
	for _, g := range grants {
		if err := g.check(); err != nil {
			return fmt.Errorf("add grant: %w: %w", err, pawl.ErrInvalid)
		}
	}
	return s.change(func(kept []Grant) ([]Grant, error) {
		for _, g := range grants {
			if !slices.ContainsFunc(kept, func(k Grant) bool { return k.ID() == g.ID() }) {
				kept = append(kept, g)
			}
		}
		if len(kept) > maxGrants {
			return nil, fmt.Errorf("add grant: there are %d already: revoke some: %w", maxGrants, pawl.ErrInvalid)
		}
		return kept, nil
	})
}

// Revoke takes grants back. If one is not there it returns pawl.ErrNotFound, and
// none is.
func (s Store) Revoke(ids ...string) error {
	return s.change(func(kept []Grant) ([]Grant, error) {
		var missing []string
		for _, id := range ids {
			if !slices.ContainsFunc(kept, func(g Grant) bool { return g.ID() == id }) {
				missing = append(missing, id)
			}
		}
		if len(missing) > 0 {
			return nil, fmt.Errorf("revoke: there is no grant %s: %w", strings.Join(missing, ", "), pawl.ErrNotFound)
		}
		return slices.DeleteFunc(kept, func(g Grant) bool { return slices.Contains(ids, g.ID()) }), nil
	})
}

// change reads the file, lets f work on the grants, and replaces it as a whole.
// Others who change it wait.
func (s Store) change(f func([]Grant) ([]Grant, error)) error {
	folder := filepath.Dir(s.Path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("write grants: %w", err)
	}
	lock, err := os.OpenFile(folder, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("write grants: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("write grants: lock: %w", err)
	}
	grants, err := s.List()
	if err != nil {
		return err
	}
	if grants, err = f(grants); err != nil {
		return err
	}
	if err := s.replace(grants); err != nil {
		return fmt.Errorf("write grants: %w", err)
	}
	return nil
}

// replace puts a new file in the old one's place: a crash leaves one of them.
func (s Store) replace(grants []Grant) error {
	text, err := json.MarshalIndent(append([]Grant{}, grants...), "", "  ")
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(s.Path), ".grants-*") // mode 0600, and new
	if err != nil {
		return err
	}
	_, err = temp.Write(append(text, '\n'))
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), s.Path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
