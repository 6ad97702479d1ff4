package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/userfile"
)

const (
	maxGrantFile = 1 << 20
	maxGrants    = 1000
)

// Store keeps grants in one file, readable by its owner alone, in a directory that
// is pawl's own.
type Store struct{ Path string }

// List returns the grants, the oldest first; none if there is no file. A file
// that others may write to, that is a link, or that holds what was never
// granted is an error: nothing in it counts.
func (s Store) List() ([]Grant, error) {
	text, err := userfile.Read(s.Path, maxGrantFile)
	if err != nil {
		return nil, fmt.Errorf("read grants: %w", err)
	}
	if text == nil {
		return nil, nil
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
	unlock, err := userfile.Lock(s.Path)
	if err != nil {
		return fmt.Errorf("write grants: %w", err)
	}
	defer unlock()
	grants, err := s.List()
	if err != nil {
		return err
	}
	if grants, err = f(grants); err != nil {
		return err
	}
	if err := userfile.Replace(s.Path, append([]Grant{}, grants...), maxGrantFile); err != nil {
		return fmt.Errorf("write grants: %w", err)
	}
	return nil
}
