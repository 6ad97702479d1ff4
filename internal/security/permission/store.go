package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

const (
	maxGrantFile = 1 << 20
	maxGrants    = 1000
)

// Store keeps grants in one file in pawl's data directory, which only its owner can
// read.
type Store struct{ Path string }

// List returns the grants, oldest first; none if there is no file. It returns an
// error if others may write to the file, if it is a link, or if it contains an
// invalid grant.
func (s Store) List() ([]Grant, error) {
	text, err := userfile.Read(s.Path, maxGrantFile)
	if err != nil {
		return nil, fmt.Errorf("read grants: %w", err)
	}
	if text == nil {
		return nil, nil
	}
	var grants []Grant
	if err := strictjson.Decode(text, &grants); err != nil {
		return nil, fault.New(pawl.ErrInvalid, "read grants: %s: %w", s.Path, err)
	}
	for i, g := range grants {
		if err := g.check(); err != nil {
			return nil, fault.New(pawl.ErrInvalid, "read grants: %s, grant %d: %w", s.Path, i+1, err)
		}
	}
	return grants, nil
}

// Add adds grants. One that already exists stays as it is.
func (s Store) Add(grants ...Grant) error {
	for _, g := range grants {
		if err := g.check(); err != nil {
			return fault.New(pawl.ErrInvalid, "add grant: %w", err)
		}
	}
	return s.change(func(kept []Grant) ([]Grant, error) {
		for _, g := range grants {
			if !slices.ContainsFunc(kept, func(k Grant) bool { return k.ID() == g.ID() }) {
				kept = append(kept, g)
			}
		}
		if len(kept) > maxGrants {
			return nil, fault.New(pawl.ErrInvalid, "add grant: there are %d already: revoke some", maxGrants)
		}
		return kept, nil
	})
}

// Revoke removes grants. If one does not exist it returns pawl.ErrNotFound and
// removes none.
func (s Store) Revoke(ids ...string) error {
	return s.change(func(kept []Grant) ([]Grant, error) {
		var missing []string
		for _, id := range ids {
			if !slices.ContainsFunc(kept, func(g Grant) bool { return g.ID() == id }) {
				missing = append(missing, id)
			}
		}
		if len(missing) > 0 {
			return nil, fault.New(pawl.ErrNotFound, "revoke: there is no grant %s", strings.Join(missing, ", "))
		}
		return slices.DeleteFunc(kept, func(g Grant) bool { return slices.Contains(ids, g.ID()) }), nil
	})
}

// change replaces the file with what f makes of the grants, under a lock.
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
