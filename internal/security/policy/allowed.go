package policy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/trust"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// allowed has the grants and the trust of one directory, in the form that moves
// with it from host to host.
type allowed struct {
	Grants    []permission.Grant `json:"grants,omitempty"`
	Folders   []trust.Directory  `json:"projects,omitempty"`
	Approvals []trust.Approval   `json:"approvals,omitempty"`
}

// SaveRules stores rules for a directory, or only for a session in it. Existing ones stay as
// they are.
func (s *Safety) SaveRules(ctx context.Context, dir string, session pawl.SessionID, rules []json.RawMessage) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	parsed, err := permission.ParseOffer(rules)
	if err != nil {
		return err
	}
	grants := permission.NewGrants(parsed, real, session, time.Now())
	return s.allow(ctx, dir, real, func(a *allowed) { a.Grants = append(a.Grants, grants...) },
		func() error { return s.grantsOf(real).Add(grants...) })
}

// TrustAs stores that a directory, which was requested as dir, is trusted with the
// content that was seen.
func (s *Safety) TrustAs(ctx context.Context, dir string, seen Directory, at time.Time) error {
	return s.allow(ctx, dir, seen.Path, func(a *allowed) { a.Folders = []trust.Directory{{Path: seen.Path, Hash: seen.Hash, At: at.UTC()}} },
		func() error { return s.trustOf(seen.Path).Trust(seen.Path, seen.Hash, at) })
}

// allow applies a change to what people allowed in a directory. It first passes the
// result to Allow, so that a later host of the directory misses nothing that was in
// effect.
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
		return fmt.Errorf("save answers of %s: %w", dir, err)
	}
	return do()
}

// allowedIn returns the grants and the trust of a directory, given its real path.
func (s *Safety) allowedIn(real string) (a allowed, err error) {
	if a.Grants, err = s.grantsOf(real).List(); err != nil {
		return a, err
	}
	a.Folders, a.Approvals, err = s.trustOf(real).List()
	return a, err
}

// grantsOf returns the store for the grants of a directory, given its real path. If
// directories move between hosts, each has its own file, so that the grants of one
// tenant do not cost others anything.
func (s *Safety) grantsOf(real string) permission.Store {
	if s.Allow == nil {
		return s.grants
	}
	return permission.Store{Path: filepath.Join(s.apartOf(real), "grants.json")}
}

// trustOf returns the store for the trust of a directory, given its real path.
func (s *Safety) trustOf(real string) trust.Store {
	if s.Allow == nil {
		return s.trust
	}
	return trust.Store{Path: filepath.Join(s.apartOf(real), "trust.json")}
}

func (s *Safety) apartOf(real string) string {
	sum := sha256.Sum256([]byte(real))
	return filepath.Join(s.apart, hex.EncodeToString(sum[:16]))
}

// Adopt applies what people allowed in a directory on another host, in the form
// that Allow was given. It replaces what was allowed here before: the directory may
// belong to somebody else now.
func (s *Safety) Adopt(dir, text string) error {
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) && text == "" {
		return nil
	}
	if err != nil {
		return err
	}
	s.allowing.Lock()
	defer s.allowing.Unlock()
	err = os.RemoveAll(s.apartOf(real))
	if err == nil && text != "" {
		err = s.adopt(real, text)
	}
	if err != nil {
		return fmt.Errorf("saved answers of %s: %w", dir, err)
	}
	return nil
}

func (s *Safety) adopt(real, text string) error {
	var a allowed
	if err := strictjson.Decode([]byte(text), &a); err != nil {
		return fault.New(pawl.ErrInvalid, "%w", err)
	}
	for i := range a.Grants {
		a.Grants[i].Dir = real // the same directory, by another path
	}
	err := s.grantsOf(real).Add(a.Grants...)
	for _, f := range a.Folders {
		err = errors.Join(err, s.trustOf(real).Trust(real, f.Hash, f.At))
	}
	for _, f := range a.Approvals {
		err = errors.Join(err, s.trustOf(real).Approve(real, f.Kind, f.Name, f.Hash, f.At))
	}
	return err
}
