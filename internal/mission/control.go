// Package mission runs missions: it plans, assigns tasks to workers, merges their results and asks the gate,
// until the goal is verified. All decisions follow from the session's log, and every effect can be repeated, so
// a mission continues after a crash.
package mission

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/workspace/worktree"
)

// Sessions creates and drives the sessions of workers. [pawl.Service] implements it.
type Sessions interface {
	Create(ctx context.Context, n pawl.NewSession) (pawl.Session, error)
	Get(ctx context.Context, id pawl.SessionID) (pawl.Session, error)
	Send(ctx context.Context, id pawl.SessionID, p pawl.Prompt) (pawl.Seq, error)
	Cancel(ctx context.Context, id pawl.SessionID) error
	Resume(ctx context.Context, id pawl.SessionID) error
	Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error]
}

// Config holds the dependencies of a Control.
type Config struct {
	Sessions   Sessions
	Repo       func(ctx context.Context, dir string) (*git.Repo, error)          // finds the repository of a project
	Worktrees  func(ctx context.Context, repo *git.Repo) (dir string, err error) // the directory for the worktrees of a repository
	Gate       func(repo *git.Repo) (*gate.Gate, error)                          // opens a gate; Leave closes it
	ShareCache func(ctx context.Context, g *gate.Gate, dir string) error         // if not nil, gives a worktree the cache of the checks
	Guard      func(ctx context.Context, g policy.Guarding) error                // if not nil, lets the project's configuration apply in a worktree
	Clear      func(dir string) error                                            // if not nil, removes what belongs to a worktree outside of it
	Clock      func() time.Time                                                  // nil means time.Now

	// Offer, Fetch and Drop support workers on other hosts: Offer makes a new worktree available to all
	// hosts, Fetch brings its content back to this host, and Drop deletes it everywhere. If nil, all workers
	// run on this host.
	Offer, Fetch, Drop func(ctx context.Context, dir string) error
}

// Control runs missions.
type Control struct {
	Config
	mu     sync.Mutex
	opened map[pawl.SessionID]*resources
}

// New returns a Control.
func New(c Config) *Control {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	return &Control{Config: c, opened: map[pawl.SessionID]*resources{}}
}

// resources holds the open resources of a mission.
type resources struct {
	repo  *git.Repo
	trees *worktree.Trees
	gate  *gate.Gate
	live  map[pawl.SessionID]*liveness // the workers that this process has looked after
}

// open returns the resources of a mission, opening them on first use.
func (c *Control) open(ctx context.Context, b missionapi.Journal) (*resources, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.opened[b.Session()]; f != nil {
		return f, nil
	}
	repo, err := c.Repo(ctx, b.Dir())
	if err != nil {
		return nil, fault.New(err, "a mission needs a git repository: %w", err).Hint("Run `git init`, then commit your files.")
	}
	dir, err := c.Worktrees(ctx, repo)
	if err != nil {
		return nil, err
	}
	g, err := c.Gate(repo)
	if err != nil {
		return nil, err
	}
	g.Hidden = append(g.Hidden, dir)
	f := &resources{repo: repo, trees: &worktree.Trees{Repo: repo, Dir: dir, Whole: c.Offer != nil}, gate: g, live: map[pawl.SessionID]*liveness{}}
	// Remove the worktrees of abandoned missions, so that they do not fill the disk.
	if _, err := sweep(ctx, f.trees, func(dir string) bool { return Needed(ctx, c.Sessions.Get, dir) }, false); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	c.opened[b.Session()] = f
	return f, nil
}

// hasCommit returns an error if the repository has no commit to start from.
func (f *resources) hasCommit(ctx context.Context) error {
	if _, err := f.repo.Commit(ctx, "HEAD"); err != nil {
		return fault.New(err, "a mission needs a commit to start from: %w", err).Hint("Commit your files with `git add` and `git commit`.")
	}
	return nil
}

// Leave closes the resources of a mission at the end of a turn, and removes the worktrees of tasks that are
// done. Those of running tasks stay for the next turn.
func (c *Control) Leave(ctx context.Context, b missionapi.Journal) error {
	c.mu.Lock()
	f := c.opened[b.Session()]
	delete(c.opened, b.Session())
	c.mu.Unlock()
	if f == nil {
		return nil
	}
	m := b.Mission()
	err := c.writeFiles(b, m)
	kept := false
	for _, id := range m.Team {
		if m.Sealed == nil && isRunning(m, id) {
			kept = true
			continue
		}
		err = errors.Join(err, c.removeWorktree(ctx, f, id))
	}
	if !kept {
		err = errors.Join(err, c.removeWorktree(ctx, f, b.Session())) // see guard
	}
	return errors.Join(err, f.gate.Close())
}

// removeWorktree removes a worker's worktree, and what its commands left elsewhere.
func (c *Control) removeWorktree(ctx context.Context, f *resources, id pawl.SessionID) error {
	var err error
	dir := f.trees.Path(worktreeName(id))
	if c.Clear != nil {
		err = c.Clear(dir) // needs the worktree to exist
	}
	if err = errors.Join(err, f.trees.Remove(worktreeName(id))); err != nil || c.Drop == nil {
		return err
	}
	return c.Drop(ctx, dir)
}

// isRunning reports whether a worker has a task that is not collected yet.
func isRunning(m *pawl.Mission, id pawl.SessionID) bool {
	for _, t := range m.In(pawl.PhaseRunning) {
		if t.Worker == id {
			return true
		}
	}
	return false
}

// worktreeName returns the name of a worker's worktree.
func worktreeName(id pawl.SessionID) string { return strings.ToLower(string(id)) }

// Advance collects finished work and starts the tasks that are ready.
func (c *Control) Advance(ctx context.Context, b missionapi.Journal) (string, error) {
	if isOver(b.Mission()) {
		return "", nil
	}
	f, err := c.open(ctx, b)
	switch {
	case err != nil:
		return "", err
	case b.Mission().Criteria == nil: // before the plan, check only that there is a commit to start from
		return "", f.hasCommit(ctx)
	}
	edits, err := c.step(ctx, b, f)
	if err != nil {
		return "", err
	}
	m := b.Mission()
	return paragraphs(edits, news(m)), c.writeFiles(b, m)
}

// isOver reports whether the mission has ended.
func isOver(m *pawl.Mission) bool { return m.Sealed != nil || m.Blocked != nil }

// step does everything that is possible without waiting for a worker. It returns problems with the user's edits
// of the plan, for the Commander.
func (c *Control) step(ctx context.Context, b missionapi.Journal, f *resources) (edits string, err error) {
	if err := b.Spent(ctx); err != nil { // first, or a worker stopped by the budget would count as failed
		return "", err
	}
	if edits, err = c.readEdits(ctx, b); err != nil {
		return "", err
	}
	for _, t := range b.Mission().In(pawl.PhaseRunning) {
		if err := c.supervise(ctx, b, f, t); err != nil {
			return "", err
		}
	}
	return edits, c.startReady(ctx, b, f)
}

// sealMarker in the Commander's last message request the seal, as the seal tool does.
const sealMarker = "<mission_seal>SEALED</mission_seal>"

// Settle waits for the workers until the Commander has a decision to make.
func (c *Control) Settle(ctx context.Context, b missionapi.Journal, said string) (string, error) {
	m := b.Mission()
	if isOver(m) {
		return "", c.writeFiles(b, m)
	}
	if why := limitReached(m); why != "" {
		return "", b.Record(ctx, pawl.Blocked{By: "pawl", Reason: why})
	}
	if len(m.Tasks) == 0 || m.Criteria == nil {
		if m.Paused > 0 {
			return "", b.Record(ctx, paused())
		}
		return noPlan, nil
	}
	f, err := c.open(ctx, b)
	if err != nil {
		return "", err
	}
	for {
		edits, err := c.step(ctx, b, f)
		if err != nil {
			return "", err
		}
		m := b.Mission()
		if err := c.writeFiles(b, m); err != nil {
			return "", err
		}
		switch {
		case m.Paused > 0 && len(m.In(pawl.PhaseRunning)) == 0:
			return "", b.Record(ctx, paused())
		case m.Paused > 0: // wait for the workers
		case strings.Contains(said, sealMarker) && len(m.Open()) == 0:
			text, err := c.seal(ctx, b, f, func(string) {})
			switch {
			case errors.Is(err, pawl.ErrUnavailable) && ctx.Err() == nil:
				return "Not sealed: " + err.Error(), nil // as the tool would report it
			case err != nil || b.Mission().Sealed != nil:
				return "", err
			}
			return text, nil
		case edits == "" && awaitsApproval(m):
			return "", b.Record(ctx, pawl.Blocked{By: "pawl", State: pawl.MissionPlanned, Reason: approvalReason(m)})
		case edits != "" || needsDecision(m):
			return paragraphs(edits, openWork(m)), nil
		}
		if prompted, err := c.wait(ctx, b, f, m); err != nil || prompted {
			return "", err
		}
	}
}

// needsDecision reports whether the Commander has a decision to make: a task was returned too often, or no task is
// running and none can start.
func needsDecision(m *pawl.Mission) bool {
	for _, id := range m.News {
		if t := m.Task(id); t != nil && t.Phase == pawl.PhaseReturned {
			return true
		}
	}
	return len(m.In(pawl.PhaseRunning)) == 0
}

// limitReached returns which limit the mission has reached, or "".
func limitReached(m *pawl.Mission) string {
	switch {
	case m.Nudges >= pawl.MissionNudges:
		return fmt.Sprintf("The commander stopped %d times without progress.", m.Nudges)
	case m.Round >= pawl.MissionRounds:
		return fmt.Sprintf("The gate did not pass in %d rounds.", m.Round)
	case m.Attempts >= pawl.MissionAttempts:
		return fmt.Sprintf("Tasks were attempted %d times.", m.Attempts)
	default:
		return ""
	}
}

// branch returns the name of the mission's integration branch.
func branch(id pawl.SessionID) string {
	return worktree.Prefix + "mission-" + strings.ToLower(string(id))
}

// Dir returns the directory with a mission's files for people, relative to the project.
func Dir(id pawl.SessionID) string { return filepath.Join(".pawl", "missions", string(id)) }

func paragraphs(texts ...string) string {
	var some []string
	for _, t := range texts {
		if t != "" {
			some = append(some, t)
		}
	}
	return strings.Join(some, "\n\n")
}
