package search

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"sync"

	"github.com/pawl-dev/pawl/internal/workspace"
	"github.com/pawl-dev/pawl/internal/workspace/ignore"
)

// maxWorkers is the maximum number of goroutines of one search that read
// directories, and of those that read files.
const maxWorkers = 8

func workers() int { return min(runtime.GOMAXPROCS(0), maxWorkers) }

// walk visits the entries below a directory that are not ignored. Several
// goroutines read directories; pending directories are a stack, which keeps it
// short.
type walk struct {
	ws    *workspace.Workspace
	visit func(f *directory, e fs.DirEntry) // called for all entries except directories, by several goroutines

	mu      sync.Mutex
	changed sync.Cond
	stack   []step
	busy    int // goroutines that are reading a directory
	unread  int // directories that could not be read
}

// step is a directory to visit, with the rules of its parent.
type step struct {
	path  string
	rules *ignore.Rules
}

func newWalk(ws *workspace.Workspace, visit func(*directory, fs.DirEntry)) *walk {
	w := &walk{ws: ws, visit: visit}
	w.changed.L = &w.mu
	return w
}

// run walks until everything is visited or ctx ends. It fails only if the
// directory at path cannot be opened. It returns when its goroutines have
// ended, which a hanging file system may delay.
func (w *walk) run(ctx context.Context, path string) error {
	rules, err := rulesAbove(w.ws, path)
	if err != nil {
		return err
	}
	f, err := openDirectory(w.ws, path, rules)
	if err != nil {
		return err
	}
	_ = f.root.Close()
	w.stack = []step{{path, rules}}
	stop := context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.changed.Broadcast()
	})
	defer stop()
	var wg sync.WaitGroup
	for range workers() {
		wg.Go(func() { w.work(ctx) })
	}
	wg.Wait()
	return nil
}

// unreadDirectories returns how many directories could not be read so far.
func (w *walk) unreadDirectories() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.unread
}

func (w *walk) work(ctx context.Context) {
	for {
		s, ok := w.take(ctx)
		if !ok {
			return
		}
		below, err := w.directory(ctx, s)
		w.mu.Lock()
		w.stack = append(w.stack, below...)
		w.busy--
		if err != nil && ctx.Err() == nil && !errors.Is(err, fs.ErrNotExist) { // it may have been deleted
			w.unread++
		}
		w.changed.Broadcast()
		w.mu.Unlock()
	}
}

// take returns the next directory, or false if there are no more.
func (w *walk) take(ctx context.Context) (step, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.stack) == 0 && w.busy > 0 && ctx.Err() == nil {
		w.changed.Wait()
	}
	if len(w.stack) == 0 || ctx.Err() != nil {
		return step{}, false
	}
	last := len(w.stack) - 1
	s := w.stack[last]
	w.stack = w.stack[:last]
	w.busy++
	return s, true
}

// directory visits one directory and returns its subdirectories.
func (w *walk) directory(ctx context.Context, s step) ([]step, error) {
	f, err := openDirectory(w.ws, s.path, s.rules)
	if err != nil {
		return nil, err
	}
	defer f.root.Close()
	var below []step
	err = f.each(ctx, func(e fs.DirEntry) {
		switch {
		case f.ignored(e):
		case e.IsDir():
			below = append(below, step{f.join(e.Name()), f.rules})
		default:
			w.visit(f, e)
		}
	})
	return below, err
}
