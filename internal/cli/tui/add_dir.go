package tui

import (
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/workspace"
	"github.com/pawl-dev/pawl/internal/workspace/isolate"
)

// addDir returns the further project directories of sessions in dir, with one more that
// the user has named.
func addDir(p *policy.Safety, dir string, added []string, name string) ([]string, error) {
	if isolate.Inside() != "" {
		return nil, fault.New(pawl.ErrInvalid, "an isolated session has no further project directories")
	}
	path, err := workspace.NamedDir(dir, name)
	if err != nil {
		return nil, err
	}
	added = slices.DeleteFunc(slices.Clone(added), func(other string) bool { return other == path })
	added = append(added, path)
	return added, p.CheckDirs(dir, added)
}
