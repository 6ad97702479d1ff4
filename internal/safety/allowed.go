package safety

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/permission"
	"github.com/pawl-dev/pawl/internal/trust"
)

// allowed is what people have allowed in one folder, as it goes with the folder from
// host to host.
type allowed struct {
	Grants    []permission.Grant `json:"grants,omitempty"`
	Folders   []trust.Folder     `json:"folders,omitempty"`
	Approvals []trust.Approval   `json:"approvals,omitempty"`
}

// Grant keeps rules for a folder. One that is there already stays as it is.
func (s *Safety) Grant(ctx context.Context, dir string, rules []json.RawMessage) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	parsed, err := permission.ParseOffer(rules)
	if err != nil {
		return err
	}
	var grants []permission.Grant
	for _, r := range parsed {
		grants = append(grants, permission.Grant{Rule: r, Scope: permission.ScopeProject, Dir: real, At: time.Now()})
	}
	return s.allow(ctx, dir, real, func(a *allowed) { a.Grants = append(a.Grants, grants...) },
		func() error { return s.grants.Add(grants...) })
}

// TrustAs keeps that a folder is trusted with parts of this hash.
func (s *Safety) TrustAs(ctx context.Context, dir, hash string, at time.Time) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	return s.allow(ctx, dir, real, func(a *allowed) { a.Folders = []trust.Folder{{Path: real, Hash: hash, At: at.UTC()}} },
		func() error { return s.trust.Trust(real, hash, at) })
}

// allow has something hold that people have allowed in a folder: first it is kept
// where a later host of the folder finds it, so that none is lost that once held.
func (s *Safety) allow(ctx context.Context, dir, real string, add func(*allowed), do func() error) error {
	if s.Allow == nil {
		return do()
	}
	s.allowing.Lock() // one after the other: each keeps all that there is
	defer s.allowing.Unlock()
	a, err := s.allowedIn(real)
	if err != nil {
		return err
	}
	add(&a)
	text, err := json.Marshal(a)
	if err == nil {
		err = s.Allow(ctx, dir, string(text))
	}
	if err != nil {
		return fmt.Errorf("keep what is allowed in %s: %w", dir, err)
	}
	return do()
}

// allowedIn returns what holds for a folder, by its real path.
func (s *Safety) allowedIn(real string) (a allowed, err error) {
	if a.Grants, err = s.grants.List(); err != nil {
		return a, err
	}
	if a.Folders, a.Approvals, err = s.trust.List(); err != nil {
		return a, err
	}
	a.Grants = slices.DeleteFunc(a.Grants, func(g permission.Grant) bool { return g.Dir != real })
	a.Folders = slices.DeleteFunc(a.Folders, func(f trust.Folder) bool { return f.Path != real })
	a.Approvals = slices.DeleteFunc(a.Approvals, func(f trust.Approval) bool { return f.Path != real })
	return a, nil
}

// Adopt has what people allowed in a folder on another host hold here, as it was given
// to Allow, and nothing that was allowed here before: the folder may be another's now.
func (s *Safety) Adopt(dir, text string) error {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) && text == "" {
		return nil
	}
	if err != nil {
		return err
	}
	var a allowed
	if text != "" {
		if err := pawl.Decode([]byte(text), &a); err != nil {
			return fmt.Errorf("what is allowed in %s: %w: %w", dir, err, pawl.ErrInvalid)
		}
	}
	s.allowing.Lock()
	defer s.allowing.Unlock()
	return errors.Join(s.grants.Put(real, a.Grants), s.trust.Put(real, a.Folders, a.Approvals))
}
