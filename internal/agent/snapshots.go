package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/weak"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

// Snapshots keep what a workspace held at a time; see the snapshot package.
type Snapshots interface {
	Take(ctx context.Context, dir string, owner pawl.SessionID) (snapshot.ID, error)
	PatchOf(ctx context.Context, dir string, from, to snapshot.ID, limit int, shown func(path string) bool) (text string, hidden int, err error)
	Plan(ctx context.Context, dir string, spans []snapshot.Span, redo bool) (snapshot.Plan, error)
	Show(ctx context.Context, plan snapshot.Plan, limit int) (text string, lines map[string]snapshot.Change, err error)
	Apply(ctx context.Context, plan snapshot.Plan, how snapshot.Conflicts) (snapshot.Report, error)
}

var _ Snapshots = (*snapshot.Store)(nil)

const (
	// snapshotGrace bounds how long a canceled call's workspace is looked at.
	snapshotGrace = 3 * time.Second
	// tooLargeFor is how long a directory that is too large is not tried again.
	tooLargeFor = 10 * time.Minute
	// maxUnsafe bounds the reason why there is no snapshot, in characters.
	maxUnsafe = 300
	// maxUnknown bounds the diff of a call whose outcome is unknown, in bytes.
	maxUnknown = 8 << 10
)

// tooLarge remembers the directories that no snapshot can be taken of: to find that
// out again for each call would cost as much as the largest snapshot.
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

// take keeps what the session's workspace holds now. If that cannot be, it says
// why: the call runs all the same, and nothing but its undo is lost.
func (s *Stepper) take(ctx context.Context, j *journal) (id, unsafe string) {
	if s.Snapshots == nil {
		return "", ""
	}
	dir := j.history.Created().Dir
	if s.tooLarge.has(dir, s.Clock()) {
		return "", "the folder is " + snapshot.ErrTooLarge.Error()
	}
	taken, err := s.Snapshots.Take(ctx, dir, j.id)
	if errors.Is(err, snapshot.ErrTooLarge) {
		s.tooLarge.add(dir, s.Clock())
	}
	if err != nil {
		return "", fmt.Sprintf("%.*s", maxUnsafe, err)
	}
	return string(taken), ""
}

// takeAfter keeps what the workspace holds after a call that it was kept before.
// That is part of the call: it goes on for a while when the turn is canceled.
func (s *Stepper) takeAfter(ctx context.Context, j *journal, started pawl.CallStarted) string {
	if started.Snapshot == "" {
		return ""
	}
	ctx, end := lasting(ctx, snapshotGrace)
	defer end()
	id, _ := s.take(ctx, j) // without one the call cannot be undone, which its undo says
	return id
}

// lasting returns a context that ends a while after the given one.
func lasting(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
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

// unknown is the result of a call that was running when pawl died, with what has
// changed in the workspace since it began.
func (s *Stepper) unknown(ctx context.Context, j *journal, started pawl.CallStarted) pawl.CallFinished {
	f := unknownOutcome(started.Call)
	if started.ReadOnly || started.Snapshot == "" || s.Snapshots == nil {
		return f
	}
	ctx, end := lasting(ctx, snapshotGrace)
	defer end()
	f.Snapshot = s.takeAfter(ctx, j, started)
	f.Result.Content += "\n\n" + s.changedSince(ctx, j, started.Snapshot, f.Snapshot)
	f.Result = s.sanitizeResult(f.Result)
	return f
}

// changedSince tells the model what has changed in the workspace, as far as it
// may read it.
func (s *Stepper) changedSince(ctx context.Context, j *journal, before, after string) string {
	policy, err := s.policy(ctx, j)
	if err != nil {
		return cannotTell(err)
	}
	shown := readable(policy, "read")
	if weak.On("unknown.reads") {
		shown = func(string) bool { return true }
	}
	diff, hidden, err := s.Snapshots.PatchOf(ctx, j.history.Created().Dir, snapshot.ID(before), snapshot.ID(after), maxUnknown, shown)
	if err != nil {
		return cannotTell(err)
	}
	text := "Nothing in the workspace has changed since it began, apart from files that are ignored there."
	if diff != "" || hidden > 0 {
		text = "This has changed in the workspace since it began, by it or by somebody else:\n" + diff
	}
	if hidden > 0 {
		text += fmt.Sprintf("(%d changed files are not shown: they may not be read)", hidden)
	}
	return text
}

func cannotTell(err error) string {
	return fmt.Sprintf("What has changed in the workspace since it began cannot be told: %.*s", maxUnsafe, err)
}
