package trust

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

const (
	maxStore   = 4 << 20
	maxFolders = 10000 // and approvals
)

// State tells whether a directory, or a part of it, is trusted. The zero value means
// that it is not.
type State string

// The states.
const (
	Unknown State = "unknown" // nobody has decided
	Changed State = "changed" // it was trusted, but has changed since
	Trusted State = "trusted"
)

// Directory is a directory that a person trusts, with the content that it had then.
type Directory struct {
	Path string    `json:"path"` // real
	Hash string    `json:"hash"` // of its parts
	At   time.Time `json:"at"`
}

// Approval is a part of a directory that a person approved by itself, such as one MCP
// server, with the content that it had then.
type Approval struct {
	Path string    `json:"path"` // of the directory, real
	Kind string    `json:"kind"` // e.g. "mcp"
	Name string    `json:"name"`
	Hash string    `json:"hash"` // HashOf all that it does: command, arguments, variables, address
	At   time.Time `json:"at"`
}

// book is the content of the file.
type book struct {
	Folders   []Directory `json:"projects"`
	Approvals []Approval  `json:"approvals"`
}

// Store keeps trusted directories and approvals in one file in pawl's data directory,
// which only its owner can read.
type Store struct{ Path string }

// State returns whether a directory is trusted with its current hash. Trust applies
// to exactly this path, not to directories below it. A caller that knows dir to be a
// linked worktree may pass the path of the main worktree with the hash of dir.
func (s Store) State(dir, hash string) (State, error) {
	dir, b, err := s.open(dir)
	if err != nil {
		return Unknown, err
	}
	for _, f := range b.Folders {
		switch {
		case f.Path == dir && hash != "" && f.Hash == hash:
			return Trusted, nil
		case f.Path == dir:
			return Changed, nil
		}
	}
	return Unknown, nil
}

// Approved returns whether a part of a directory is approved with its current hash.
func (s Store) Approved(dir, kind, name, hash string) (State, error) {
	dir, b, err := s.open(dir)
	if err != nil {
		return Unknown, err
	}
	for _, a := range b.Approvals {
		switch {
		case a.Path == dir && a.Kind == kind && a.Name == name && hash != "" && a.Hash == hash:
			return Trusted, nil
		case a.Path == dir && a.Kind == kind && a.Name == name:
			return Changed, nil
		}
	}
	return Unknown, nil
}

// Trust stores that a directory is trusted with parts of this hash.
func (s Store) Trust(dir, hash string, at time.Time) error {
	dir, err := realDir(dir)
	if err != nil {
		return fmt.Errorf("trust: %w", err)
	}
	return s.change(func(b *book) error {
		b.Folders = slices.DeleteFunc(b.Folders, func(f Directory) bool { return f.Path == dir })
		b.Folders = append(b.Folders, Directory{dir, hash, at.UTC()})
		return nil
	})
}

// Approve stores that a part of a directory is approved.
func (s Store) Approve(dir, kind, name, hash string, at time.Time) error {
	dir, err := realDir(dir)
	if err != nil {
		return fmt.Errorf("approve: %w", err)
	}
	return s.change(func(b *book) error {
		b.Approvals = slices.DeleteFunc(b.Approvals, func(a Approval) bool { return a.Path == dir && a.Kind == kind && a.Name == name })
		b.Approvals = append(b.Approvals, Approval{dir, kind, name, hash, at.UTC()})
		return nil
	})
}

// Revoke removes the trust in a directory and the approvals of its parts. The
// directory need not exist anymore. If it was not trusted, it returns
// pawl.ErrNotFound.
func (s Store) Revoke(dir string) error {
	if real, err := realDir(dir); err == nil {
		dir = real
	}
	return s.change(func(b *book) error {
		before := len(b.Folders) + len(b.Approvals)
		b.Folders = slices.DeleteFunc(b.Folders, func(f Directory) bool { return f.Path == dir })
		b.Approvals = slices.DeleteFunc(b.Approvals, func(a Approval) bool { return a.Path == dir })
		if len(b.Folders)+len(b.Approvals) == before {
			return fault.New(pawl.ErrNotFound, "%s is not trusted", Quote(dir))
		}
		return nil
	})
}

// List returns the trusted directories and the approvals, oldest first.
func (s Store) List() ([]Directory, []Approval, error) {
	b, err := s.read()
	return b.Folders, b.Approvals, err
}

func (s Store) open(dir string) (string, book, error) {
	dir, err := realDir(dir)
	if err != nil {
		return "", book{}, fmt.Errorf("read trust: %w", err)
	}
	b, err := s.read()
	return dir, b, err
}

// read returns the content of the file, or an empty book if it does not exist. It
// returns an error if others have access to the file, if it is a link, or if pawl
// did not write it.
func (s Store) read() (book, error) {
	var b book
	text, err := userfile.Read(s.Path, maxStore)
	if err != nil {
		return b, fmt.Errorf("read trust: %w", err)
	}
	if text == nil {
		return b, nil
	}
	if err := strictjson.Decode(text, &b); err != nil {
		return book{}, fault.New(pawl.ErrInvalid, "read trust: %s: %w", s.Path, err)
	}
	if err := b.check(); err != nil {
		return book{}, fault.New(pawl.ErrInvalid, "read trust: %s: %w", s.Path, err)
	}
	return b, nil
}

// check rejects what pawl would not store.
func (b book) check() error {
	bad := func(path, hash string) bool {
		return !filepath.IsAbs(path) || filepath.Clean(path) != path || len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != ""
	}
	for _, f := range b.Folders {
		if bad(f.Path, f.Hash) {
			return fmt.Errorf("%q is not a directory that can be trusted", f.Path)
		}
	}
	for _, a := range b.Approvals {
		if bad(a.Path, a.Hash) || a.Kind == "" || a.Name == "" {
			return fmt.Errorf("%q in %q cannot be approved", a.Name, a.Path)
		}
	}
	if len(b.Folders) > maxFolders || len(b.Approvals) > maxFolders {
		return fmt.Errorf("the limit of %d trusted projects is reached: revoke some", maxFolders)
	}
	return nil
}

// change replaces the file with what f makes of it, under a lock.
func (s Store) change(f func(*book) error) error {
	unlock, err := userfile.Lock(s.Path)
	if err != nil {
		return fmt.Errorf("write trust: %w", err)
	}
	defer unlock()
	b, err := s.read()
	if err != nil {
		return err
	}
	if err := f(&b); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return fault.New(pawl.ErrInvalid, "write trust: %w", err)
	}
	if err := userfile.Replace(s.Path, b, maxStore); err != nil {
		return fmt.Errorf("write trust: %w", err)
	}
	return nil
}
