package transaction

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/pawl-dev/pawl/internal/security/protect"
	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

const (
	mountWait    = 10 * time.Second      // for the sandbox of a job to start
	gather       = 20 * time.Millisecond // changes of the directory that come together
	collectEvery = time.Second           // how often a job's changes are applied
	collectShare = 20                    // part of the time that this may take: one in 20
	maxWatched   = 8192                  // directories
)

// Following tells how to follow a job.
type Following struct {
	// Mounted is where the view is mounted; it appears when the sandbox of the job has
	// started.
	Mounted string

	// Hidden reports whether a path, relative to the root, must not be shown to the job.
	Hidden func(path string) bool

	// Ignored returns directories, relative to the root, that are not watched: people do
	// not edit files there.
	Ignored func() []string
}

// follower keeps the view of a running job and its directory up to date with each other:
// the job sees what others change, and what it writes is checked and applied.
type follower struct {
	Following
	t    *Transaction
	stop context.CancelFunc
	done chan struct{} // closed when run has ended

	// Of the goroutine of run:
	watcher *fsnotify.Watcher // nil if it cannot be created
	watched map[string]bool
	ignored []string

	mu      sync.Mutex
	mirror  *tree.Mirror // nil until the view is mounted
	next    *Transaction // for the next changes of the job
	outcome Outcome
	failure error // the view could not be kept up to date

	queue  sync.Mutex    // held without mu
	queued []string      // paths that other transactions have changed
	wake   chan struct{} // queued is not empty
}

// Follow lets a running job see what others change in the directory, and applies what it
// writes while it runs. Repositories are exempt: they are applied at the end.
func (t *Transaction) Follow(f Following) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.follower != nil || t.unrecord() != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	t.follower = &follower{Following: f, t: t, stop: stop, done: make(chan struct{}), watched: map[string]bool{}, wake: make(chan struct{}, 1)}
	t.store.follow(t.follower)
	go t.follower.run(ctx)
}

// unfollow ends Follow, which cannot begin again, and returns what it did.
func (t *Transaction) unfollow() *follower {
	t.mu.Lock()
	t.ended = true
	f := t.follower
	t.mu.Unlock()
	if f == nil {
		return nil
	}
	t.store.unfollow(f)
	f.stop()
	<-f.done
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next != nil {
		f.next.Close()
		f.next = nil
	}
	if f.mirror != nil {
		f.mirror.Close()
	}
	return f
}

// exempt reports whether the job does not get a path, and its changes of it are not
// applied while it runs.
func (f *follower) exempt(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if protect.FoldName(name) == ".git" {
			return true
		}
	}
	return f.Hidden(path)
}

func (f *follower) run(ctx context.Context) {
	defer close(f.done)
	if err := f.open(ctx); err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.failure = fmt.Errorf("keep the view of the job up to date: %w", err)
		return
	}
	f.ignored = f.Ignored()
	f.watch()
	if f.watcher != nil {
		defer f.watcher.Close() //nolint:errcheck // nothing is left to do
	}
	f.updateTree("", true)
	f.loop(ctx)
}

// open waits until the view is mounted.
func (f *follower) open(ctx context.Context) error {
	bare, err := os.Stat(f.t.Merged())
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(mountWait); ; {
		mounted, err := os.Stat(f.Mounted)
		if err == nil && !os.SameFile(bare, mounted) {
			break
		}
		if errors.Is(err, os.ErrNotExist) || ctx.Err() != nil {
			return nil // the job has ended
		}
		if time.Now().After(deadline) {
			return errors.Join(errors.New("the view of the job is not mounted"), err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	mirror, err := tree.OpenMirror(tree.View{Upper: f.t.Upper(), Lower: f.t.root}, f.Mounted, f.t.since)
	if err != nil {
		return nil //nolint:nilerr // the job has ended
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mirror = mirror
	return nil
}

// watch creates the watcher. Without one, the job sees only what Pawl itself changes.
func (f *follower) watch() {
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		f.watcher = watcher
	}
}

func (f *follower) loop(ctx context.Context) {
	var events chan fsnotify.Event
	var failures chan error
	if f.watcher != nil {
		events, failures = f.watcher.Events, f.watcher.Errors
	}
	dirty := map[string]bool{}
	gathered, collect := time.NewTimer(0), time.NewTimer(collectEvery)
	defer gathered.Stop()
	defer collect.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			path, err := filepath.Rel(f.t.root, e.Name)
			switch path = filepath.ToSlash(path); {
			case err != nil || path == ".":
			case f.Hidden(path):
				f.hide(path)
			default:
				dirty[path] = true
				gathered.Reset(gather)
			}
		case <-failures: // events were lost
			f.updateTree("", true)
		case <-f.wake:
			for _, path := range f.takeQueued() {
				f.update(path)
			}
		case <-gathered.C:
			for path := range dirty {
				f.update(path)
			}
			clear(dirty)
		case <-collect.C:
			began := time.Now()
			f.collect(ctx)
			collect.Reset(max(collectEvery, collectShare*time.Since(began)))
		}
	}
}

// hide removes a new secret from the view.
func (f *follower) hide(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mirror != nil {
		if err := f.mirror.Hide(path); err != nil {
			f.failure = fmt.Errorf("hide %s from the job: %w", path, err)
		}
	}
}

// update shows a changed path to the job.
func (f *follower) update(path string) {
	f.mu.Lock()
	if f.mirror == nil || f.exempt(path) {
		f.mu.Unlock()
		return
	}
	isDir, err := f.mirror.Update(path)
	f.mu.Unlock()
	if err == nil && isDir {
		f.updateTree(path, false)
	}
}

// updateTree watches a directory and those in it, and shows the entries to the job; with
// changed, only those that changed after it began.
func (f *follower) updateTree(dir string, changed bool) {
	if slices.Contains(f.ignored, dir) {
		return
	}
	at := filepath.Join(f.t.root, filepath.FromSlash(dir))
	if f.watcher != nil && (f.watched[at] || len(f.watched) < maxWatched) && f.watcher.Add(at) == nil {
		f.watched[at] = true
	}
	entries, err := os.ReadDir(at)
	if err != nil {
		return // it was removed, which is another event
	}
	isNew := func(e os.DirEntry) bool {
		info, err := e.Info()
		return err == nil && (!changed || tree.ChangedSince(info, f.t.since))
	}
	for _, e := range entries { // before the job sees others
		if at := path.Join(dir, e.Name()); f.Hidden(at) && isNew(e) {
			f.hide(at)
		}
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		switch {
		case f.exempt(at):
		case e.IsDir() && changed:
			f.updateTree(at, true)
		case isNew(e):
			f.update(at)
		}
	}
}

// enqueue lets the job see paths that another transaction has changed.
func (f *follower) enqueue(paths []string) {
	f.queue.Lock()
	defer f.queue.Unlock()
	f.queued = append(f.queued, paths...)
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *follower) takeQueued() (paths []string) {
	f.queue.Lock()
	defer f.queue.Unlock()
	paths, f.queued = f.queued, nil
	return paths
}

// collect applies what the job has changed up to now. What cannot be applied is tried
// again, at last when the job has ended.
func (f *follower) collect(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mirror != nil {
		_ = f.tryCollect(ctx)
	}
}

func (f *follower) tryCollect(ctx context.Context) (err error) {
	if f.next == nil {
		if f.next, err = f.t.store.create(f.t.root); err != nil {
			return err
		}
	}
	found, err := f.mirror.Collect(ctx, f.next.Upper(), f.exempt)
	if err != nil {
		f.next.Close()
		f.next = nil
		return err
	}
	if found.Empty() {
		return nil
	}
	next := f.next
	f.next = nil
	next.since, next.own, next.private, next.mask = f.t.since, f.mirror.Own(), true, f.t.Mask()
	done, err := next.finish(ctx, f)
	if err != nil && !next.unfinished {
		return err // nothing was applied
	}
	f.outcome = merge(f.outcome, done)
	return errors.Join(err, f.mirror.Settle(found, tree.Result{Applied: done.Applied, Own: done.own}))
}

// merge adds a later outcome to an earlier one.
func merge(a, b Outcome) Outcome {
	at := map[string]int{}
	for i, c := range a.Applied {
		at[c.Path] = i
	}
	for _, c := range b.Applied {
		if i, found := at[c.Path]; found {
			a.Applied[i].New = c.New
		} else {
			a.Applied = append(a.Applied, c)
		}
	}
	for _, r := range b.Refused {
		if !slices.ContainsFunc(a.Refused, func(old Refusal) bool { return old.Path == r.Path && old.Reason == r.Reason }) {
			a.Refused = append(a.Refused, r)
		}
	}
	return a
}

// followers are the jobs that are followed, by root.
type followers struct {
	mu     sync.Mutex
	byRoot map[string][]*follower
}

func (s *Store) follow(f *follower) {
	s.followers.mu.Lock()
	defer s.followers.mu.Unlock()
	if s.followers.byRoot == nil {
		s.followers.byRoot = map[string][]*follower{}
	}
	s.followers.byRoot[f.t.root] = append(s.followers.byRoot[f.t.root], f)
}

func (s *Store) unfollow(f *follower) {
	s.followers.mu.Lock()
	defer s.followers.mu.Unlock()
	s.followers.byRoot[f.t.root] = slices.DeleteFunc(s.followers.byRoot[f.t.root], func(other *follower) bool { return other == f })
}

func (s *Store) following(root string) []*follower {
	s.followers.mu.Lock()
	defer s.followers.mu.Unlock()
	return slices.Clone(s.followers.byRoot[root])
}

// collect applies what the jobs in a directory have changed up to now.
func (s *Store) collect(ctx context.Context, root string) {
	for _, f := range s.following(root) {
		f.collect(ctx)
	}
}

// show shows applied changes to the jobs in a directory, except for the one that made them.
func (s *Store) show(root string, applied []tree.Change, by *follower) {
	var paths []string
	for _, c := range applied {
		paths = append(paths, c.Path)
	}
	for _, f := range s.following(root) {
		if f != by && len(paths) > 0 {
			f.enqueue(paths)
		}
	}
}
