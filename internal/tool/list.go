package tool

import (
	"context"
	_ "embed" // the description
	"fmt"
	"io/fs"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/search"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

//go:embed list.md
var listDescription string

type listInput struct {
	Path  string `json:"path,omitempty" jsonschema:"directory"`
	Depth int    `json:"depth,omitempty" jsonschema:"levels, default 2"`
}

// List shows a directory as a tree.
func List() toolapi.Tool {
	return define(definition[listInput]{
		name:        "list",
		description: listDescription,
		risk:        toolapi.RiskSafe,
		access: func(call toolapi.Call, in listInput) ([]pawl.Access, error) {
			dir, err := searchPath(call, in.Path)
			if err != nil {
				return nil, err
			}
			return pathAccess(pawl.AccessRead, call, dir)
		},
		run: func(ctx context.Context, call toolapi.Call, in listInput) (pawl.Result, error) {
			dir, err := searchPath(call, in.Path)
			if err != nil {
				return pawl.Result{}, err
			}
			depth := in.Depth
			if depth <= 0 {
				depth = 2
			}
			return listFolder(ctx, call, dir, depth)
		},
	})
}

// listFolder lists a directory.
func listFolder(ctx context.Context, call toolapi.Call, dir string, depth int) (pawl.Result, error) {
	root, path := locate(call, dir)
	w, err := workspace.Open(root)
	if err != nil {
		return pawl.Result{}, err
	}
	defer w.Close()
	tree, err := search.List(ctx, w, path, depth, search.Limits{
		Results: ListEntries, Bytes: ResultBytes - noteBytes, Time: SearchTimeout,
	})
	if err != nil {
		return pawl.Result{}, fmt.Errorf("list %s: %w", dir, err)
	}
	return pawl.Result{Content: showTree(tree)}, nil
}

// showTree formats a tree, one entry per line, indented by depth.
func showTree(tree search.Tree) string {
	var out page
	showNodes(&out, tree.Root, "")
	if out.Len() == 0 && tree.Ignored == 0 && !tree.TimeUp {
		out.note("the directory is empty")
	}
	if tree.Root.Hidden > 0 {
		out.note("%d more", tree.Root.Hidden)
	}
	if tree.Ignored > 0 {
		out.note("%d ignored", tree.Ignored)
	}
	out.gaps(search.Gaps{TimeUp: tree.TimeUp})
	return out.String()
}

func showNodes(out *page, folder *search.Node, indent string) {
	for _, n := range folder.Children {
		line := indent + search.ShowPath(n.Name)
		switch {
		case n.Type.IsDir() && n.Unread:
			line += "/\n" + indent + "  (cannot be read)"
		case n.Type.IsDir() && n.Hidden > 0:
			line += fmt.Sprintf("/ (%d inside)", n.Hidden)
		case n.Type.IsDir():
			line += "/"
		case n.Type&fs.ModeSymlink != 0:
			line += " (link)"
		}
		out.add(line + "\n")
		showNodes(out, n, indent+"  ")
	}
}
