package agent

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
)

// turnAccount is what the budgets of an open turn depend on.
type turnAccount struct {
	name      string // for messages
	session   pawl.SessionID
	settings  pawl.Settings
	began     time.Time
	usage     pawl.Usage       // of its own replies
	subagents []pawl.SessionID // that it started, workers and reviewers included
}

// accountOf returns the account of the session's open turn.
func accountOf(j *journal) turnAccount {
	open := j.history.Open()
	t := turnAccount{name: "the turn", session: j.id, settings: open.Settings, began: open.Began, usage: open.Usage, subagents: slices.Clone(open.Workers)}
	for _, c := range open.Subagents {
		t.subagents = append(t.subagents, c.Subagent)
	}
	return t
}

// total returns the usage of the turn and its subagents, given the usage of its session.
// The session's own rows do not count: they have other turns, and titles.
func (t turnAccount) total(rows []pawl.UsageRow) pawl.Usage {
	sum := t.usage
	for _, r := range rows {
		if slices.Contains(t.subagents, r.Session) {
			sum = sum.Add(r.Usage)
		}
	}
	return sum
}

// turnUsage returns the usage of the open turn, including its subagents.
func (s *Stepper) turnUsage(ctx context.Context, j *journal) (pawl.Usage, error) {
	t := accountOf(j)
	if len(t.subagents) == 0 {
		return t.usage, nil
	}
	rows, err := s.Store.Usage(ctx, pawl.UsageFilter{Session: t.session})
	if err != nil {
		return pawl.Usage{}, fmt.Errorf("usage of %s: %w", t.session, err)
	}
	return t.total(rows), nil
}

// parentLog follows the log of a subagent's parent for the account of its open turn. The
// parent's journal cannot serve: it may be in another process, and a step holds it.
type parentLog struct {
	mu      sync.Mutex
	head    pawl.Seq
	prompts map[pawl.Seq]pawl.Settings // that no turn was started for
	turn    *turnAccount               // nil while no turn is open
}

// parentTurn returns the account of the turn that started this session, if it is still
// open; otherwise nil. Subagents start no subagents, so there is at most one.
func (j *journal) parentTurn(ctx context.Context) (*turnAccount, error) {
	id := j.history.Created().Parent
	if id == "" {
		return nil, nil
	}
	p := &j.parent
	p.mu.Lock()
	defer p.mu.Unlock()
	for e, err := range j.store.Events(ctx, id, p.head) {
		if pawl.CodeOf(err) == pawl.CodeNotFound {
			return nil, nil // an import, or the parent was deleted
		}
		if err != nil {
			return nil, fmt.Errorf("read log of %s: %w", id, err)
		}
		p.apply(e)
	}
	if p.turn == nil || !slices.Contains(p.turn.subagents, j.id) {
		return nil, nil
	}
	turn := *p.turn
	turn.subagents = slices.Clone(turn.subagents)
	return &turn, nil
}

func (p *parentLog) apply(e pawl.Event) {
	p.head = e.Seq
	switch b := e.Body.(type) {
	case pawl.Prompted:
		if p.prompts == nil {
			p.prompts = map[pawl.Seq]pawl.Settings{}
		}
		p.prompts[e.Seq] = b.Settings
	case pawl.TurnStarted:
		p.turn = &turnAccount{name: "the parent's turn", session: e.Session, settings: p.prompts[b.Prompt], began: e.At}
		delete(p.prompts, b.Prompt)
	case pawl.TurnFinished:
		p.turn = nil
	case pawl.Replied:
		p.turn.add(b.Usage)
	case pawl.Compacted:
		p.turn.add(b.Usage)
	default:
		if c, ok := e.Subagent(); ok && p.turn != nil {
			p.turn.subagents = append(p.turn.subagents, c.Subagent)
		}
	}
}

// add counts usage of the turn itself. A compaction may happen without a turn.
func (t *turnAccount) add(u pawl.Usage) {
	if t != nil {
		t.usage = t.usage.Add(u)
	}
}

// accounts has the model calls in flight of this process, by the session at the top. The
// zero value is ready to use.
type accounts struct {
	mu   sync.Mutex
	byID map[pawl.SessionID]*account
}

// account counts the model calls in flight of a session and its subagents.
type account struct {
	users    int // guarded by accounts.mu
	mu       sync.Mutex
	inFlight int
	freed    chan struct{} // closed when a call ends
}

func (a *accounts) enter(id pawl.SessionID) *account {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID == nil {
		a.byID = map[pawl.SessionID]*account{}
	}
	if a.byID[id] == nil {
		a.byID[id] = &account{freed: make(chan struct{})}
	}
	a.byID[id].users++
	return a.byID[id]
}

func (a *accounts) leave(id pawl.SessionID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID[id].users--; a.byID[id].users == 0 {
		delete(a.byID, id)
	}
}

// draw reserves a model call of the open turn; release ends it, once its usage is stored.
// It returns a *Stop when a budget is used up. While the calls in flight are expected to
// use up a budget, it waits for one of them to end.
func (s *Stepper) draw(ctx context.Context, j *journal) (release func(), err error) {
	if j.history.Open() == nil {
		return func() {}, nil
	}
	turns, err := s.limitedTurns(ctx, j)
	if err != nil || len(turns) == 0 {
		return func() {}, err
	}
	id := turns[len(turns)-1].session
	a := s.accounts.enter(id)
	for {
		freed, err := s.reserve(ctx, j, a)
		switch {
		case err != nil:
			s.accounts.leave(id)
			return nil, err
		case freed == nil:
			return func() { a.release(); s.accounts.leave(id) }, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			s.accounts.leave(id)
			return nil, context.Cause(ctx)
		}
	}
}

// reserve counts a call as in flight if the budgets allow it. Otherwise it returns what
// to wait for. Calls are checked one at a time, so that none overlooks another.
func (s *Stepper) reserve(ctx context.Context, j *journal, a *account) (freed <-chan struct{}, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	budgets, err := s.budgets(ctx, j)
	if err == nil {
		err = usedUp(budgets)
	}
	if err != nil {
		return nil, err
	}
	for _, b := range budgets {
		if !b.allows(a.inFlight) {
			return a.freed, nil
		}
	}
	a.inFlight++
	return nil, nil
}

// release ends a call.
func (a *account) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inFlight--
	close(a.freed)
	a.freed = make(chan struct{})
}
