package tool

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/search"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

//go:embed glob.md
var globDescription string

type globInput struct {
	Pattern string `json:"pattern" jsonschema:"*.go (in any directory), src/**/*.{ts,tsx}"`
	Path    string `json:"path,omitempty" jsonschema:"directory"`
}

// start validates the input and returns the directory to search and the name
// patterns.
func (in globInput) start(call toolapi.Call) (string, search.Names, error) {
	if in.Pattern == "" {
		return "", search.Names{}, errors.New("pattern is empty")
	}
	names, err := search.ParseNames(filepath.ToSlash(in.Pattern))
	if err != nil {
		return "", names, err
	}
	dir, names := names.Split()
	if !path.IsAbs(dir) {
		dir = filepath.Join(in.Path, dir)
	}
	rel, err := relative(call, dir)
	return filepath.ToSlash(rel), names, err
}

// Glob finds files by name pattern.
func Glob() toolapi.Tool {
	return define(definition[globInput]{
		name:        "glob",
		description: globDescription,
		risk:        toolapi.RiskSafe,
		access: func(call toolapi.Call, in globInput) ([]pawl.Access, error) {
			dir, _, err := in.start(call)
			if err != nil {
				return nil, err
			}
			return pathAccess(pawl.AccessRead, call, dir)
		},
		run: func(ctx context.Context, call toolapi.Call, in globInput) (pawl.Result, error) {
			dir, names, err := in.start(call)
			if err != nil {
				return pawl.Result{}, err
			}
			root, dir := locate(call, dir)
			w, err := workspace.Open(root)
			if err != nil {
				return pawl.Result{}, err
			}
			defer w.Close()
			found, err := search.Glob(ctx, w, dir, names, search.Limits{Results: GlobResults, Time: SearchTimeout})
			if err != nil {
				return pawl.Result{}, fmt.Errorf("glob: %w", err)
			}
			for i, path := range found.Paths {
				found.Paths[i] = pathIn(call, root, path)
			}
			return pawl.Result{Content: showPaths(found)}, nil
		},
	})
}

func showPaths(found search.Paths) string {
	var out page
	shown := 0
	for _, p := range found.Paths {
		shown += out.add(search.ShowPath(p) + "\n")
	}
	switch more := found.Count - shown; {
	case found.Count == 0:
		out.note("no file matches; %s", leftOut)
	case more > 0:
		out.note("%d older ones are not shown", more)
	}
	out.gaps(found.Gaps)
	return out.String()
}
