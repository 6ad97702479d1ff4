package search

import (
	"context"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/workspace"
)

// Paths is the result of Glob.
type Paths struct {
	Paths []string // the newest, newest first, then by name
	Count int      // number of all matching paths
	Gaps  Gaps
}

// Glob finds the files and links below a directory whose paths match.
func Glob(ctx context.Context, ws *workspace.Workspace, dir string, names Names, limits Limits) (Paths, error) {
	if err := checkDirectory(ws, dir); err != nil {
		return Paths{}, err
	}
	g := &globber{dir: dir, names: names, newest: top[dated]{limit: limits.Results, compare: dated.compare}}
	w := newWalk(ws, g.visit)
	limited, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	var err error
	ended := bounded(limited, func() { err = w.run(limited, dir) })
	if ctx.Err() != nil {
		return Paths{}, context.Cause(ctx)
	}
	if ended && err != nil {
		return Paths{}, err
	}
	found := g.found()
	found.Gaps = Gaps{Folders: w.unreadDirectories(), TimeUp: limited.Err() != nil}
	return found, nil
}

// globber keeps the newest matching paths.
type globber struct {
	dir   string
	names Names

	mu     sync.Mutex
	newest top[dated]
	count  int
}

// dated is a path with its modification time.
type dated struct {
	path string
	at   time.Time
}

func (d dated) compare(other dated) int {
	if c := other.at.Compare(d.at); c != 0 {
		return c
	}
	return strings.Compare(d.path, other.path)
}

func (g *globber) visit(f *directory, e fs.DirEntry) {
	if t := e.Type(); t != 0 && t != fs.ModeSymlink {
		return
	}
	path := f.join(e.Name())
	if !g.names.match(below(g.dir, path)) {
		return
	}
	info, err := e.Info()
	if err != nil {
		return // deleted since it was listed
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count++
	g.newest.add(dated{path, info.ModTime()})
}

func (g *globber) found() Paths {
	g.mu.Lock()
	defer g.mu.Unlock()
	var p Paths
	for _, d := range g.newest.values() {
		p.Paths = append(p.Paths, d.path)
	}
	p.Count = g.count
	return p
}
