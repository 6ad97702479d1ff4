package access

import (
	"path"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/store"
)

// noTenant is the directory for principals without a tenant. No tenant can have this name.
const noTenant = "_"

// TenantDir returns the directory of a tenant's workspaces in a fleet, below the directory of all
// workspaces.
func TenantDir(workspaces string, t store.Tenant) string {
	if t == "" {
		return path.Join(workspaces, noTenant)
	}
	return path.Join(workspaces, string(t))
}

// CheckDir returns an error unless sessions of a tenant may work in a directory of a fleet. The directory
// may be on another host, so only its name is checked: it must be a clean absolute path. The sandbox
// covers links that lead out of it.
func CheckDir(workspaces string, t store.Tenant, dir string) error {
	own := TenantDir(workspaces, t)
	switch {
	case t != "" && !t.Valid():
		return fault.New(pawl.ErrInvalid, "invalid tenant name %.100q", t)
	case !path.IsAbs(dir) || path.Clean(dir) != dir || strings.ContainsRune(dir, 0):
		return fault.New(pawl.ErrInvalid, "invalid directory %.200q: use an absolute path without . or ..", dir)
	case !strings.HasPrefix(dir, own+"/"):
		return fault.New(pawl.ErrDenied, "sessions of this tenant must be in %s", own).
			Hint("Omit the directory, or pass --workspace NAME (and --source REPOSITORY for a new one).")
	}
	return nil
}

// maxName bounds the name of a workspace, in bytes.
const maxName = 100

// Workspace returns the directory of a tenant's workspace. Its name cannot contain a path.
func Workspace(workspaces string, t store.Tenant, name string) (string, error) {
	odd := strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	})
	if name == "" || len(name) > maxName || odd >= 0 || name[0] == '.' || name[0] == '-' {
		return "", fault.New(pawl.ErrInvalid, "invalid workspace name %.100q: use at most %[2]d letters, digits, dots, hyphens and underscores", name, maxName)
	}
	dir := path.Join(TenantDir(workspaces, t), name)
	return dir, CheckDir(workspaces, t, dir)
}
