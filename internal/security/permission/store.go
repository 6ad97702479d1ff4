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
		return nil, fmt.Errorf("read saved answers: %w", err)
	}
	if text == nil {
		return nil, nil
	}
	var grants []Grant
	if err := strictjson.Decode(text, &grants); err != nil {
		return nil, fault.New(pawl.ErrInvalid, "read saved answers: %s: %w", s.Path, err)
	}
	for i, g := range grants {
		if err := g.check(); err != nil {
			return nil, fault.New(pawl.ErrInvalid, "read saved answers: %s, entry %d: %w", s.Path, i+1, err)
		}
	}
	return grants, nil
}

// Add adds grants. One that already exists stays as it is.
func (s Store) Add(grants ...Grant) error {
	for _, g := range grants {
		if err := g.check(); err != nil {
			return fault.New(pawl.ErrInvalid, "save answer: %w", err)
		}
	}
	return s.change(func(kept []Grant) ([]Grant, error) {
		for _, g := range grants {
			if !slices.ContainsFunc(kept, func(k Grant) bool { return k.ID() == g.ID() }) {
				kept = append(kept, g)
			}
		}
		if len(kept) > maxGrants {
			return nil, fault.New(pawl.ErrInvalid, "save answer: the limit of %d is reached", maxGrants).Hint("Run `pawl permissions revoke` to remove some.")
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
			return nil, fault.New(pawl.ErrNotFound, "saved answer %s not found", strings.Join(missing, ", ")).Hint("Run `pawl permissions list` to see all.")
		}
		return slices.DeleteFunc(kept, func(g Grant) bool { return slices.Contains(ids, g.ID()) }), nil
	})
}

// change replaces the file with what f makes of the grants, under a lock.
func (s Store) change(f func([]Grant) ([]Grant, error)) error {
	unlock, err := userfile.Lock(s.Path)
	if err != nil {
		return fmt.Errorf("write saved answers: %w", err)
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
		return fmt.Errorf("write saved answers: %w", err)
	}
	return nil
}
