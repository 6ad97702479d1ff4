package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/pawl-dev/pawl/internal/workspace"
)

// Engine counts the lines of files that match. All engines give the same
// answer: which files are searched, and what is shown of them, is decided
// elsewhere.
type Engine interface {
	// Count searches the files of a job. When ctx ends it returns what it has.
	Count(ctx context.Context, job Job) Counts
	// Batch is how many files a job for a pattern should have.
	Batch(p *Pattern) int
}

// Job is a number of files to search.
type Job struct {
	Workspace *workspace.Workspace
	Dir       string // of the workspace
	Pattern   *Pattern
	Files     []string // regular files, by their paths from the workspace
}

// Counts are an engine's findings.
type Counts struct {
	Files  []File // in which lines match, in any order
	Unread int    // files that could not be read
}

// File is a file in which lines match.
type File struct {
	Path  string
	Count int    // lines that match
	Lines []Line // the first of them, with context
}

// Default returns the engine for this machine. Where ripgrep is installed, it
// gets the patterns that it is better at.
func Default() Engine {
	if programs := installed(); len(programs) > 0 {
		return either{ripgrep{programs}}
	}
	return Own()
}

// either is Ripgrep for patterns without a fixed text, and Own for others: it
// looks for the text about as fast, and needs no process.
type either struct{ ripgrep Engine }

// fixedBytes is the length from which on a text is rare enough to be worth looking for.
const fixedBytes = 3

func (e either) engine(p *Pattern) Engine {
	if len(p.needles) > 0 && shortest(p.needles) >= fixedBytes {
		return own{}
	}
	return e.ripgrep
}

func (e either) Count(ctx context.Context, job Job) Counts {
	return e.engine(job.Pattern).Count(ctx, job)
}

func (e either) Batch(p *Pattern) int { return e.engine(p).Batch(p) }

// Own returns the engine that needs nothing installed.
func Own() Engine { return own{} }

type own struct{}

func (own) Batch(*Pattern) int { return 64 }

func (own) Count(ctx context.Context, job Job) Counts {
	var found Counts
	s := scanner{pattern: job.Pattern}
	open := opener{ws: job.Workspace}
	defer open.close()
	for _, name := range job.Files {
		if ctx.Err() != nil {
			break
		}
		f, err := open.file(name)
		var n counter
		if err == nil {
			err = s.scan(ctx, f, &n)
			_ = f.Close()
		}
		if n > 0 {
			found.Files = append(found.Files, File{Path: name, Count: int(n)})
		}
		if unread(ctx, err) {
			found.Unread++
		}
	}
	return found
}

// unread reports whether an error means that a file could not be read. One
// that has gone meanwhile, is binary or was being read when ctx ended does not count.
func unread(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !errors.Is(err, errBinary) && !errors.Is(err, fs.ErrNotExist)
}

// counter is a sink that counts the lines that match.
type counter int

func (c *counter) skip([]byte) {}

func (c *counter) hit([]byte) bool {
	*c++
	return true
}

// opener opens files. It keeps the last one's directory open, because the next
// is mostly in the same.
type opener struct {
	ws     *workspace.Workspace
	dir    string
	folder *os.Root
}

// file opens a regular file for reading. It follows no link: one that has come
// up since the file was found may lead to what may not be read.
func (o *opener) file(name string) (*os.File, error) {
	if dir := path.Dir(name); o.folder == nil || dir != o.dir {
		o.close()
		folder, err := o.ws.RealFolder(dir)
		if err != nil {
			return nil, err
		}
		o.dir, o.folder = dir, folder
	}
	f, err := workspace.OpenIn(o.folder, path.Base(name))
	if errors.Is(err, workspace.ErrLink) {
		return nil, fs.ErrNotExist // the file that was there has gone
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, fs.ErrNotExist // the file that was there has gone
	}
	return f, nil
}

func (o *opener) close() {
	if o.folder != nil {
		_ = o.folder.Close()
		o.folder = nil
	}
}
