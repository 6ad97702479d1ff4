package search

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl/internal/workspace"
)

// Query is what Grep searches for, and where.
type Query struct {
	Pattern *Pattern
	Path    string // a directory or a file, relative to the workspace; links are resolved, and results name the target
	Names   Names  // which files of a directory to search
	Lines   bool   // return matching lines, not only their files
	Context int    // lines around each match

	Reads func(path string) bool // whether a file with matches may be shown; nil means all
}

// Matches is the result of Grep.
type Matches struct {
	Files     []File // the first by path, within the limits
	FileCount int    // files with matching lines
	LineCount int    // matching lines
	Searched  int    // files that were searched
	Gaps      Gaps
}

// Grep finds matching lines. It first counts them in all files, in any order,
// and then reads the files to show once more. So the order is always the same,
// and what is shown was read through the workspace's handle.
func Grep(ctx context.Context, ws *workspace.Workspace, dir string, engine Engine, q Query, limits Limits) (Matches, error) {
	var err error
	if q.Path, err = workspace.Readable(dir, q.Path, q.Reads); err != nil {
		return Matches{}, err
	}
	info, err := ws.Stat(q.Path)
	switch {
	case err != nil:
		return Matches{}, err
	case !info.IsDir() && !info.Mode().IsRegular():
		return Matches{}, fmt.Errorf("%s is neither a file nor a directory", q.Path)
	}
	whole, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	counting, cancelCounting := context.WithTimeout(ctx, limits.Time*5/6) // the rest is for reading the lines to show
	defer cancelCounting()
	g := &grepper{
		job:    Job{Workspace: ws, Dir: dir, Pattern: q.Pattern},
		query:  q,
		engine: engine,
		limits: limits,
		first:  top[File]{limit: limits.Results, compare: File.compare},
	}
	g.walk = newWalk(ws, func(f *directory, e fs.DirEntry) { g.visit(counting, f, e) })
	ended := bounded(counting, func() {
		if info.IsDir() {
			err = g.directory(counting)
		} else {
			g.count(counting, []string{q.Path})
		}
	})
	if ctx.Err() != nil {
		return Matches{}, context.Cause(ctx)
	}
	if ended && err != nil {
		return Matches{}, err
	}
	found := g.matches()
	found.Gaps.TimeUp = counting.Err() != nil
	if q.Lines {
		found.Files = g.show(whole, found.Files)
		found.Gaps.TimeUp = found.Gaps.TimeUp || whole.Err() != nil
	}
	if ctx.Err() != nil {
		return Matches{}, context.Cause(ctx)
	}
	return found, nil
}

// grepper is one run of Grep.
type grepper struct {
	job    Job // without its files
	query  Query
	engine Engine
	limits Limits
	walk   *walk
	jobs   chan []string

	mu    sync.Mutex
	batch []string // files of the next job
	first top[File]
	total Matches
}

func (f File) compare(other File) int { return strings.Compare(f.Path, other.Path) }

// directory searches all files of a directory.
func (g *grepper) directory(ctx context.Context) error {
	g.jobs = make(chan []string)
	var wg sync.WaitGroup
	for range workers() {
		wg.Go(func() {
			for files := range g.jobs {
				g.count(ctx, files)
			}
		})
	}
	err := g.walk.run(ctx, g.query.Path)
	g.send(ctx, g.batch)
	close(g.jobs)
	wg.Wait()
	return err
}

// visit adds a file to the next job.
func (g *grepper) visit(ctx context.Context, f *directory, e fs.DirEntry) {
	path := f.join(e.Name())
	if !e.Type().IsRegular() || !g.query.Names.match(below(g.query.Path, path)) {
		return
	}
	info, err := e.Info()
	if err != nil || !info.Mode().IsRegular() {
		return // deleted since it was listed
	}
	g.mu.Lock()
	if info.Size() > g.limits.FileBytes {
		g.total.Gaps.Large++
		g.mu.Unlock()
		return
	}
	var full []string
	if g.batch = append(g.batch, path); len(g.batch) >= g.engine.Batch(g.query.Pattern) {
		full, g.batch = g.batch, nil
	}
	g.mu.Unlock()
	g.send(ctx, full)
}

func (g *grepper) send(ctx context.Context, files []string) {
	if len(files) == 0 {
		return
	}
	select {
	case g.jobs <- files:
	case <-ctx.Done():
	}
}

// count searches files and adds up the counts.
func (g *grepper) count(ctx context.Context, files []string) {
	job := g.job
	job.Files = files
	found := g.engine.Count(ctx, job)
	if g.query.Reads != nil {
		found.Files = slices.DeleteFunc(found.Files, func(f File) bool { return !g.query.Reads(f.Path) })
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total.Searched += len(files)
	g.total.Gaps.Files += found.Unread
	g.total.FileCount += len(found.Files)
	for _, f := range found.Files {
		g.total.LineCount += f.Count
		g.first.add(f)
	}
}

// matches returns what was found so far.
func (g *grepper) matches() Matches {
	g.mu.Lock()
	defer g.mu.Unlock()
	found := g.total
	found.Files = g.first.values()
	found.Gaps.Folders = g.walk.unreadDirectories()
	return found
}

// show reads the matching lines of the files, up to the limit.
func (g *grepper) show(ctx context.Context, files []File) []File {
	var shown []File
	var mu sync.Mutex
	bounded(ctx, func() {
		s := scanner{pattern: g.query.Pattern}
		open := opener{ws: g.job.Workspace}
		defer open.close()
		left := g.limits.Results
		for _, file := range files {
			if left == 0 || ctx.Err() != nil {
				break
			}
			f, err := open.file(file.Path)
			if err != nil {
				continue // deleted since it was searched
			}
			x := excerpt{pattern: g.query.Pattern, hits: left, context: g.query.Context, chars: g.limits.LineChars}
			_ = s.scan(ctx, f, &x)
			_ = f.Close()
			left, file.Lines = x.hits, x.lines
			mu.Lock()
			shown = append(shown, file)
			mu.Unlock()
		}
	})
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(shown)
}
