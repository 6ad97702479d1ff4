package search

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/pawl-dev/pawl/internal/workspace"
	"github.com/pawl-dev/pawl/internal/workspace/ignore"
)

// Node is a file, link or directory of a tree.
type Node struct {
	Name     string
	Type     fs.FileMode // type bits only
	Children []*Node     // of a directory: the entries that are shown, by name
	Hidden   int         // of a directory: how many entries are not shown
	Unread   bool        // of a directory: it could not be read

	path  string
	rules *ignore.Rules // of the parent directory
}

// Tree is the result of List.
type Tree struct {
	Root    *Node
	Ignored int // entries of the shown directories that the rules exclude
	TimeUp  bool
}

// List reads a directory and its subdirectories to the given depth. If not
// everything fits, upper levels come first, and the entries of directories
// that are not shown are counted. The .git directory is not expanded.
func List(ctx context.Context, ws *workspace.Workspace, dir string, depth int, limits Limits) (Tree, error) {
	if err := checkDirectory(ws, dir); err != nil {
		return Tree{}, err
	}
	l := &lister{ws: ws, left: limits.Results, bytes: limits.Bytes}
	limited, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	var tree Tree
	var err error
	ended := bounded(limited, func() { tree, err = l.list(limited, dir, depth) })
	switch {
	case ctx.Err() != nil:
		return Tree{}, context.Cause(ctx)
	case !ended: // the goroutine still changes the tree
		return Tree{Root: &Node{}, TimeUp: true}, nil
	}
	return tree, err
}

type lister struct {
	ws      *workspace.Workspace
	left    int // entries that still fit
	bytes   int
	ignored int
}

func (l *lister) list(ctx context.Context, dir string, depth int) (Tree, error) {
	rules, err := rulesAbove(l.ws, dir)
	if err != nil {
		return Tree{}, err
	}
	root := &Node{Type: fs.ModeDir, path: dir, rules: rules}
	if err := l.open(ctx, root, 0, depth); err != nil && ctx.Err() == nil {
		return Tree{}, err
	}
	folders := []*Node{root}
	for level := 1; len(folders) > 0 && ctx.Err() == nil; level++ {
		var below []*Node
		for _, f := range folders {
			for _, n := range f.Children {
				if n.Type.IsDir() && n.Name != ".git" {
					below = append(below, n)
				}
			}
		}
		for _, n := range below {
			if err := l.open(ctx, n, level, depth); err != nil {
				n.Unread = ctx.Err() == nil && !errors.Is(err, fs.ErrNotExist)
			}
		}
		folders = below
	}
	return Tree{Root: root, Ignored: l.ignored, TimeUp: ctx.Err() != nil}, nil
}

// open reads a directory. It shows the entries if the level is above depth and
// all of them fit. The directory at level 0 shows as many as fit.
func (l *lister) open(ctx context.Context, n *Node, level, depth int) error {
	f, err := openDirectory(l.ws, n.path, n.rules)
	if err != nil {
		return err
	}
	defer f.root.Close()
	first := top[*Node]{limit: l.left, compare: (*Node).compare}
	count, ignored := 0, 0
	err = f.each(ctx, func(e fs.DirEntry) {
		if e.Name() != ".git" && f.ignored(e) {
			ignored++
			return
		}
		count++
		if level < depth {
			first.add(&Node{Name: e.Name(), Type: e.Type(), path: f.join(e.Name()), rules: f.rules})
		}
	})
	if err != nil {
		return err
	}
	children, size := l.fit(first.values(), level)
	n.Hidden = count
	if level < depth && (level == 0 || len(children) == count) {
		n.Children = children
		n.Hidden -= len(children)
		l.left -= len(children)
		l.bytes -= size
		l.ignored += ignored
	}
	return nil
}

// fit returns the first nodes that fit, and the bytes that they take.
func (l *lister) fit(nodes []*Node, level int) ([]*Node, int) {
	size := 0
	for i, n := range nodes {
		more := 2*level + len(ShowPath(n.Name)) + 1
		if !n.Type.IsRegular() {
			more += 2*level + 24 // for the suffix of a directory or a link
		}
		if size+more > l.bytes {
			return nodes[:i], size
		}
		size += more
	}
	return nodes, size
}

func (n *Node) compare(other *Node) int { return strings.Compare(n.Name, other.Name) }
