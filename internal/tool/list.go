package tool

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/workspace"
)

//go:embed list.md
var listDescription string

type listInput struct {
	Path  string `json:"path,omitempty" jsonschema:"folder in the workspace; the workspace itself if left out"`
	Depth int    `json:"depth,omitempty" jsonschema:"how many levels to show, 2 if left out"`
}

func (in listInput) path() string {
	if in.Path == "" {
		return "."
	}
	return in.Path
}

// List shows a folder as a tree.
func List() pawl.Tool {
	return define(definition[listInput]{
		name:        "list",
		description: listDescription,
		risk:        pawl.RiskSafe,
		access: func(call pawl.Call, in listInput) ([]pawl.Access, error) {
			return pathAccess(pawl.AccessRead, call, in.path())
		},
		run: func(ctx context.Context, call pawl.Call, in listInput) (pawl.Result, error) {
			rel, err := workspace.Rel(call.Dir, in.path())
			if err != nil {
				return pawl.Result{}, err
			}
			w, err := workspace.Open(call.Dir)
			if err != nil {
				return pawl.Result{}, err
			}
			defer w.Close()
			depth := in.Depth
			if depth <= 0 {
				depth = 2
			}
			return tree(ctx, w.FS(), filepath.ToSlash(rel), depth)
		},
	})
}

var errListFull = errors.New("enough entries")

func tree(ctx context.Context, fsys fs.FS, root string, depth int) (pawl.Result, error) {
	var out strings.Builder
	entries := 0
	err := fs.WalkDir(fsys, root, func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if p == root {
			if err == nil && !d.IsDir() {
				return fmt.Errorf("%s is not a folder", root)
			}
			return err
		}
		level := strings.Count(strings.TrimPrefix(strings.TrimPrefix(p, root), "/"), "/")
		if err != nil { // of a folder that is shown already
			fmt.Fprintf(&out, "%s(cannot be read)\n", strings.Repeat("  ", level+1))
			return fs.SkipDir
		}
		if entries == ListEntries {
			return errListFull
		}
		entries++
		fmt.Fprintf(&out, "%s%s\n", strings.Repeat("  ", level), entryName(p, d))
		if d.IsDir() && (level+1 >= depth || d.Name() == ".git") {
			return fs.SkipDir
		}
		return nil
	})
	switch {
	case errors.Is(err, errListFull):
		fmt.Fprintf(&out, "(more than %d entries: list a folder further down)\n", ListEntries)
	case err != nil:
		return pawl.Result{}, fmt.Errorf("list %s: %w", root, err)
	case entries == 0:
		out.WriteString("(the folder is empty)")
	}
	return pawl.Result{Content: out.String()}, nil
}

func entryName(p string, d fs.DirEntry) string {
	name := path.Base(p)
	switch {
	case d.IsDir():
		return name + "/"
	case d.Type()&fs.ModeSymlink != 0:
		return name + " (link)"
	default:
		return name
	}
}
