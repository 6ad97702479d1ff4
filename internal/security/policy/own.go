package policy

import (
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// ownRules returns rules that deny tools access to pawl's own files: writing them
// could grant any permission. They may be in the workspace, for example if that is
// the home directory. Sandboxes hide them from commands.
func ownRules(dir string) ([]permission.Rule, error) {
	own, err := ownFiles()
	if err != nil {
		return nil, err
	}
	data, err := config.Data()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"grants.json", "trust.json", "allowed", "guards", "keys.json"} {
		path, err := filepath.Abs(filepath.Join(data, name))
		if err != nil {
			return nil, err
		}
		own = append(own, path)
	}
	var rules []permission.Rule
	for _, path := range spellings(own) {
		if rel, err := filepath.Rel(path, dir); err == nil && filepath.IsLocal(rel) {
			continue // the workspace is below it: then its files are named one by one
		}
		for _, kind := range []pawl.AccessKind{pawl.AccessRead, pawl.AccessWrite} {
			rules = append(rules, permission.Rule{Kind: kind, Pattern: permission.QuotePath(path), Decision: permission.Deny, Origin: permission.OriginPawl})
		}
	}
	return rules, nil
}

// spellings returns the paths and, where they contain links, their real paths.
func spellings(paths []string) []string {
	all := slices.Clone(paths)
	for _, path := range paths {
		real, err := filepath.EvalSymlinks(path)
		if err != nil { // it does not exist yet
			parent, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				continue
			}
			real = filepath.Join(parent, filepath.Base(path))
		}
		if !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all
}
