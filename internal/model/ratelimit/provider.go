package ratelimit

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// provider holds the slots of a provider and its models, and the waiting calls.
//
// Calls wait in the queue of their group and model, in order. The queues take turns (round robin): when the
// first call of a queue starts, the queue moves to the end. So no queue whose call could start is overtaken
// twice by another. With one queue per group for all models, a call could wait forever while other calls of its
// group take its turns.
type provider struct {
	id     string
	bounds Bounds

	mu      sync.Mutex
	all     *pool
	models  map[string]*pool
	lines   []*line // in the order of their turns; never empty ones
	waiting int     // total of all queues
}

// line is the queue of one group for one model, oldest call first.
type line struct {
	group pawl.SessionID
	model *pool
	calls []*call
}

func newProvider(id string, b Bounds) *provider {
	b.Calls, b.Wait = cmp.Or(b.Calls, DefaultCalls), cmp.Or(b.Wait, DefaultWait)
	return &provider{id: id, bounds: b, all: newPool(id, b.Calls), models: map[string]*pool{}}
}

// model returns the pool of a model.
func (p *provider) model(name string) *pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, ok := p.models[name]
	if !ok {
		m = newPool(p.id+"/"+name, min(cmp.Or(p.bounds.Models[name], p.bounds.Calls), p.bounds.Calls))
		p.models[name] = m
	}
	return m
}

// enter starts a call, or queues it. Call leave after it.
func (p *provider) enter(m *pool, group pawl.SessionID) (*call, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &call{provider: p, model: m}
	if len(p.lines) == 0 && p.all.open() && m.open() {
		c.begin()
		return c, nil
	}
	if p.waiting >= mostWaiting {
		return nil, p.full(m, "", fmt.Sprintf("%d calls are already waiting", p.waiting))
	}
	c.state, c.ready = waits, make(chan struct{})
	p.lineOf(m, group).add(c)
	p.waiting++
	p.dispatch()
	return c, nil
}

// lineOf returns the queue of a group, creating it at the end if needed.
func (p *provider) lineOf(m *pool, group pawl.SessionID) *line {
	i := slices.IndexFunc(p.lines, func(l *line) bool { return l.group == group && l.model == m })
	if i >= 0 {
		return p.lines[i]
	}
	l := &line{group: group, model: m}
	p.lines = append(p.lines, l)
	return l
}

func (l *line) add(c *call) {
	c.line = l
	l.calls = append(l.calls, c)
}

// dispatch starts waiting calls as long as possible.
func (p *provider) dispatch() {
	for len(p.lines) > 0 && p.all.open() {
		i := slices.IndexFunc(p.lines, func(l *line) bool { return l.model.open() })
		if i < 0 {
			return
		}
		l := p.lines[i]
		c := l.calls[0]
		p.drop(c)
		if len(l.calls) > 0 { // its turn is over
			p.lines = append(slices.Delete(p.lines, i, i+1), l)
		}
		c.begin()
		close(c.ready)
	}
}

// drop removes a call from its queue, and the queue if it is empty.
func (p *provider) drop(c *call) {
	l := c.line
	l.calls = slices.DeleteFunc(l.calls, func(other *call) bool { return other == c })
	if len(l.calls) == 0 {
		p.lines = slices.DeleteFunc(p.lines, func(other *line) bool { return other == l })
	}
	p.waiting--
}

// pause keeps calls of the model from starting for d. Other models of the provider continue: such limits are
// usually per model, and a fallback may be one of them.
func (p *provider) pause(m *pool, d time.Duration) {
	until := time.Now().Add(d)
	if d <= 0 || d > mostPause || !until.After(m.until) {
		return
	}
	m.until = until
	time.AfterFunc(d, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dispatch()
	})
}

// full returns the error of a call that got no slot.
func (p *provider) full(m *pool, when, why string) error {
	return &FullError{model.ProviderError{Kind: pawl.ErrorRateLimited, Message: fmt.Sprintf(
		"the call to %s could not start%s: %s; try again later, or raise providers.%s.calls in the configuration if the provider allows more", m.name, when, why, p.id)}}
}

// FullError means that a call got no slot in time. It wraps a [model.ProviderError], but must not be retried:
// that would only wait as long again.
type FullError struct{ model.ProviderError }

// Unwrap makes errors.As find the [model.ProviderError].
func (e *FullError) Unwrap() error { return &e.ProviderError }

func (e *FullError) Error() string { return e.ProviderError.Error() }
