package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/pawl-dev/pawl/internal/workspace"
)

// Engine counts matching lines in files. All engines give the same results:
// which files are searched and what is shown of them is decided elsewhere.
type Engine interface {
	// Count searches the files of a job. When ctx ends, it returns what it has
	// found.
	Count(ctx context.Context, job Job) Counts
	// Batch returns how many files a job with this pattern should have.
	Batch(p *Pattern) int
}

// Job is a set of files to search.
type Job struct {
	Workspace *workspace.Workspace
	Dir       string // directory of the workspace
	Pattern   *Pattern
	Files     []string // regular files, by paths relative to the workspace
}

// Counts is the result of an engine.
type Counts struct {
	Files  []File // files with matching lines, in any order
	Unread int    // files that could not be read
}

// File is a file with matching lines.
type File struct {
	Path  string
	Count int    // matching lines
	Lines []Line // the first of them, with context
}

// Default returns the engine for this machine. If ripgrep is installed, it
// gets the patterns at which it is faster.
func Default() Engine {
	if programs := installed(); len(programs) > 0 {
		return either{ripgrep{programs}}
	}
	return Own()
}

// either uses ripgrep for patterns without a fixed text. For others Own is
// about as fast and needs no process.
type either struct{ ripgrep Engine }

// fixedBytes is the length from which a fixed text is rare enough to be worth
// searching for first.
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

// Own returns the engine in Go, which needs no installed program.
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

// unread reports whether an error means that a file could not be read. Files
// that were deleted, are binary or were being read when ctx ended do not
// count.
func unread(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !errors.Is(err, errBinary) && !errors.Is(err, fs.ErrNotExist)
}

// counter is a sink that counts matching lines.
type counter int

func (c *counter) skip([]byte) {}

func (c *counter) hit([]byte) bool {
	*c++
	return true
}

// opener opens files. It keeps the directory of the last one open, because the
// next is usually in the same.
type opener struct {
	ws        *workspace.Workspace
	dir       string
	directory *os.Root
}

// file opens a regular file for reading. It follows no link: a link created
// since the file was found may lead to a file that must not be read.
func (o *opener) file(name string) (*os.File, error) {
	if dir := path.Dir(name); o.directory == nil || dir != o.dir {
		o.close()
		directory, err := o.ws.RealFolder(dir)
		if err != nil {
			return nil, err
		}
		o.dir, o.directory = dir, directory
	}
	f, err := workspace.OpenIn(o.directory, path.Base(name))
	if errors.Is(err, workspace.ErrLink) {
		return nil, fs.ErrNotExist // replaced by a link since the walk
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, fs.ErrNotExist // replaced by something else since the walk
	}
	return f, nil
}

func (o *opener) close() {
	if o.directory != nil {
		_ = o.directory.Close()
		o.directory = nil
	}
}
