package project

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/tool/search"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// The limits of listing files.
const (
	maxLists     = 8                // directories in the cache
	maxFiles     = 200_000          // of a directory; the newest are kept
	listTime     = 30 * time.Second // for listing a directory
	listWait     = 5 * time.Second  // how long a caller waits for the first list
	listAge      = 2 * time.Second  // after which a list is made again
	listShare    = 20               // but not before this many times as long as it took
	defaultFiles = 50               // returned by default
	maxResults   = 1000
)

// fileCache caches the lists of files of directories. An old list is still used while a new one is being
// made.
type fileCache struct {
	mu    sync.Mutex
	lists []*fileList // the latest used first
	work  sync.WaitGroup
}

// fileList is the list of one directory's files.
type fileList struct {
	dir   string
	files []file    // the newest first; never changed in place
	err   error     // why it could not be made
	at    time.Time // when it was made; zero means never
	took  time.Duration
	busy  chan struct{} // closed when the list that is being made is done; nil if none is
}

// Files returns the paths of a directory's files that match the letters of query, the best first; for an
// empty query the newest. It leaves out ignored files, and those whose names contain characters that do
// not display as themselves, because a user could not tell what they choose.
func (d *Local) Files(ctx context.Context, dir, query string, limit int) ([]string, error) {
	dir, err := realDir(dir)
	if err != nil {
		return nil, fmt.Errorf("find files: %w", err)
	}
	if limit <= 0 {
		limit = defaultFiles
	}
	files, err := d.filesOf(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("find files: %w", err)
	}
	return best(files, query, min(limit, maxResults)), nil
}

// filesOf returns the list of a directory, and refreshes it in the background if it is old. It waits for
// the first list.
func (d *Local) filesOf(ctx context.Context, dir string) ([]file, error) {
	s := &d.files
	s.mu.Lock()
	l := s.get(dir)
	old := d.Clock().Sub(l.at) >= max(listAge, listShare*l.took)
	if l.busy == nil && (l.at.IsZero() || old) {
		l.busy = make(chan struct{})
		s.work.Go(func() { d.makeList(l) })
	}
	files, err, known, busy := l.files, l.err, !l.at.IsZero(), l.busy
	s.mu.Unlock()
	if known && err == nil {
		return files, nil
	}
	late := time.NewTimer(listWait)
	defer late.Stop()
	select {
	case <-busy:
	case <-late.C:
		return nil, fault.New(pawl.ErrUnavailable, "the files of this directory are still being listed: try again in a moment")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.files, l.err
}

// get returns a directory's list and marks it as the latest used. It drops the least recently used list
// if there are too many.
func (s *fileCache) get(dir string) *fileList {
	i := slices.IndexFunc(s.lists, func(l *fileList) bool { return l.dir == dir })
	l := &fileList{dir: dir}
	if i >= 0 {
		l = s.lists[i]
		s.lists = slices.Delete(s.lists, i, i+1)
	}
	s.lists = slices.Insert(s.lists, 0, l)
	s.lists = s.lists[:min(len(s.lists), maxLists)]
	return l
}

// makeList lists the files of a directory.
func (d *Local) makeList(l *fileList) {
	begun := d.Clock()
	files, err := listFiles(d.ctx, l.dir)
	d.files.mu.Lock()
	defer d.files.mu.Unlock()
	l.files, l.err, l.at = files, err, d.Clock()
	l.took = l.at.Sub(begun)
	close(l.busy)
	l.busy = nil
}

func listFiles(ctx context.Context, dir string) ([]file, error) {
	w, err := workspace.Open(dir)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	found, err := search.Glob(ctx, w, ".", search.Names{}, search.Limits{Results: maxFiles, Time: listTime})
	if err != nil {
		return nil, err
	}
	files := make([]file, 0, len(found.Paths))
	for _, path := range found.Paths {
		if utf8.ValidString(path) && !strings.ContainsFunc(path, sanitize.Strange) {
			files = append(files, newFile(path))
		}
	}
	return files, nil
}
