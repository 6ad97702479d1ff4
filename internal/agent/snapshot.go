package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

// Snapshots takes, compares and restores snapshots of workspaces; see package snapshot.
type Snapshots interface {
	Take(ctx context.Context, dir string, owner pawl.SessionID) (snapshot.ID, error)
	PatchOf(ctx context.Context, dir string, from, to snapshot.ID, limit int, visible func(path string) bool) (text string, hidden int, err error)
	Plan(ctx context.Context, dir string, spans []snapshot.Span, redo bool) (snapshot.Plan, error)
	Show(ctx context.Context, plan snapshot.Plan, limit int) (text string, lines map[string]snapshot.Change, err error)
	Apply(ctx context.Context, plan snapshot.Plan, how snapshot.Conflicts) (snapshot.Report, error)
}

var _ Snapshots = (*snapshot.Store)(nil)

const (
	// snapshotGrace bounds the snapshot after a canceled call.
	snapshotGrace = 3 * time.Second
	// tooLargeFor is how long no snapshot is tried of a directory that was too large.
	tooLargeFor = 10 * time.Minute
	// maxUnsafe bounds the reason why there is no snapshot, in characters.
	maxUnsafe = 300
)

// tooLarge remembers the directories that are too large for a snapshot: to find that out
// again for each call would cost as much as the largest snapshot.
type tooLarge struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (l *tooLarge) has(dir string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Before(l.until[dir])
}

func (l *tooLarge) add(dir string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until == nil {
		l.until = map[string]time.Time{}
	}
	l.until[dir] = now.Add(tooLargeFor)
}

// snapshots are snapshots of a session's directories.
type snapshots struct {
	workspace string
	dirs      map[string]string
	unsafe    string // why there is no snapshot of one of them
}

// takeSnapshots takes snapshots of the session's workspace and of its added directories. If it
// cannot, it returns the reason: the call runs all the same, but cannot be undone.
func (s *Stepper) takeSnapshots(ctx context.Context, j *journal) (taken snapshots) {
	if s.Snapshots == nil {
		return taken
	}
	taken.workspace, taken.unsafe = s.takeSnapshot(ctx, j.id, j.history.Created().Dir)
	for _, dir := range j.settings().AddDirs {
		id, unsafe := s.takeSnapshot(ctx, j.id, dir)
		taken.unsafe = cmp.Or(taken.unsafe, unsafe)
		if taken.dirs == nil {
			taken.dirs = map[string]string{}
		}
		taken.dirs[dir] = id
	}
	return taken
}

// takeSnapshot takes a snapshot of a directory. If it cannot, it returns the reason.
func (s *Stepper) takeSnapshot(ctx context.Context, owner pawl.SessionID, dir string) (id, unsafe string) {
	if s.tooLarge.has(dir, s.Clock()) {
		return "", "the directory is " + snapshot.ErrTooLarge.Error()
	}
	taken, err := s.Snapshots.Take(ctx, dir, owner)
	if errors.Is(err, snapshot.ErrTooLarge) {
		s.tooLarge.add(dir, s.Clock())
	}
	if err != nil {
		return "", fmt.Sprintf("%.*s", maxUnsafe, err)
	}
	return string(taken), ""
}

// snapshotAfter takes snapshots after a call of the directories that have one from before it.
// That is part of the call: when the turn is canceled it may go on for snapshotGrace. Without a
// snapshot the call cannot be undone, and undo says so.
func (s *Stepper) snapshotAfter(ctx context.Context, j *journal, started pawl.CallStarted, f *pawl.CallFinished) {
	if s.Snapshots == nil {
		return
	}
	ctx, end := withGrace(ctx, snapshotGrace)
	defer end()
	if started.Snapshot != "" {
		f.Snapshot, _ = s.takeSnapshot(ctx, j.id, j.history.Created().Dir)
	}
	for dir, before := range started.DirSnapshots {
		if before == "" {
			continue
		}
		if f.DirSnapshots == nil {
			f.DirSnapshots = map[string]string{}
		}
		f.DirSnapshots[dir], _ = s.takeSnapshot(ctx, j.id, dir)
	}
}

// withGrace returns a context that ends the given time after ctx does.
func withGrace(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, cancel)
		context.AfterFunc(late, func() { timer.Stop() })
	})
	return late, func() {
		stop()
		cancel()
	}
}
