package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/namespace"
	"github.com/pawl-dev/pawl/internal/strictjson"
)

// ManagedFile is the administrator's policy of a machine. No variable or flag changes
// its path.
const ManagedFile = "/etc/pawl/managed.json"

// maxManaged bounds the policy, in bytes.
const maxManaged = 1 << 20

// Managed is the administrator's policy, which takes precedence over everything. Users of
// it parse the mode, the rules and the hooks strictly.
type Managed struct {
	MaxMode         string          `json:"max_mode,omitempty"`                 // the loosest permitted mode; "" means that all are permitted
	Rules           json.RawMessage `json:"rules,omitempty"`                    // of permissions
	SandboxRequired bool            `json:"sandbox_required,omitempty"`         // commands do not run without a sandbox
	Hooks           json.RawMessage `json:"hooks,omitempty"`                    // hook commands, in the same form as the user's
	OnlyManaged     bool            `json:"allow_only_managed_hooks,omitempty"` // hooks of users and projects are ignored
	Notify          Notify          `json:"notify,omitzero"`                    // replaces the user's setting
	Skills          *Skills         `json:"skills,omitempty"`                   // what agents may install; nil means the user's setting
}

// LoadManaged reads the policy; it is empty if there is no file. A file that others than
// root could have written is an error, and is not ignored: who can damage a policy must
// not be able to lift it.
func LoadManaged() (Managed, error) {
	return loadManaged(ManagedFile, 0)
}

// loadManaged reads the policy. The file, its directory and the parent directory must
// belong to owner.
func loadManaged(path string, owner uint32) (Managed, error) {
	for _, folder := range []string{filepath.Dir(filepath.Dir(path)), filepath.Dir(path)} {
		info, err := os.Lstat(folder)
		if errors.Is(err, fs.ErrNotExist) {
			return Managed{}, nil
		}
		if err == nil {
			err = guarded(folder, info, fs.ModeDir, owner)
		}
		if err != nil {
			return Managed{}, fmt.Errorf("read the managed policy: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Managed{}, nil
	}
	if errors.Is(err, syscall.ELOOP) {
		err = fault.New(pawl.ErrDenied, "%s is a symbolic link", path).Hint("Ask your administrator to replace it with a file.")
	}
	if err != nil {
		return Managed{}, fmt.Errorf("read the managed policy: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = guarded(path, info, 0, owner)
	}
	if err != nil {
		return Managed{}, fmt.Errorf("read the managed policy: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxManaged+1))
	if err != nil {
		return Managed{}, fmt.Errorf("read the managed policy: %w", err)
	}
	m, err := decodeManaged(text)
	if err != nil {
		return Managed{}, fault.New(pawl.ErrInvalid, "read the managed policy: %s: %w", path, err)
	}
	return m, nil
}

// guarded returns an error unless info is of that type and only owner can write it.
func guarded(path string, info fs.FileInfo, kind fs.FileMode, owner uint32) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode().Type() != kind:
		return fault.New(pawl.ErrDenied, "%s has the wrong file type (%s)", path, info.Mode())
	case !ok || s.Uid != owner && (owner != 0 || !namespace.IsRoot(s.Uid)):
		return fault.New(pawl.ErrDenied, "%s is not owned by root", path).Hint("Ask your administrator to run `chown root %s`.", path)
	case info.Mode().Perm()&0o022 != 0:
		return fault.New(pawl.ErrDenied, "users other than root can write to %s (%s)", path, info.Mode()).
			Hint("Ask your administrator to run `chmod go-w %s`.", path)
	}
	return nil
}

func decodeManaged(text []byte) (Managed, error) {
	var m Managed
	if len(text) > maxManaged {
		return m, fmt.Errorf("the file has more than %d bytes", maxManaged)
	}
	text, err := standard(text)
	if err != nil {
		return m, err
	}
	if _, err := object(text); err != nil {
		return m, err
	}
	if err := strictjson.Decode(text, &m); err != nil {
		return Managed{}, err
	}
	if m.Skills != nil {
		if _, err := m.Skills.Owners(); err != nil {
			return Managed{}, err
		}
	}
	return m, nil
}
