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

// provider has the slots of one provider and of its models, and those who wait.
//
// Whoever waits stands in the line of its group and model, behind those who came
// before. The lines take turns: one whose first call begins goes behind all
// others. So of the lines whose call could begin, none is passed over by another
// twice. It would be if a group had one line for all models: what it waits for
// could then be passed over forever while its other calls take its turns.
type provider struct {
	id     string
	bounds Bounds

	mu      sync.Mutex
	all     *pool
	models  map[string]*pool
	lines   []*line // in the order of their turns; none is empty
	waiting int     // in all lines
}

// line is the calls of one group for one model that wait, the oldest first.
type line struct {
	group pawl.SessionID
	model *pool
	calls []*call
}

func newProvider(id string, b Bounds) *provider {
	b.Calls, b.Wait = cmp.Or(b.Calls, DefaultCalls), cmp.Or(b.Wait, DefaultWait)
	return &provider{id: id, bounds: b, all: newPool(id, b.Calls), models: map[string]*pool{}}
}

// model returns the pool of one of the provider's models.
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

// enter lets a call begin, or wait for its turn. Whoever enters leaves, too.
func (p *provider) enter(m *pool, group pawl.SessionID) (*call, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &call{provider: p, model: m}
	if len(p.lines) == 0 && p.all.open() && m.open() {
		c.begin()
		return c, nil
	}
	if p.waiting >= mostWaiting {
		return nil, p.full(m, "at all", fmt.Sprintf("%d calls wait already", p.waiting))
	}
	c.state, c.ready = waits, make(chan struct{})
	p.lineOf(m, group).add(c)
	p.waiting++
	p.dispatch()
	return c, nil
}

// lineOf finds the line of a group, or makes one behind all others.
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

// dispatch lets calls begin for as long as one may.
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

// drop takes a call out of its line, and a line that is empty out of the order.
func (p *provider) drop(c *call) {
	l := c.line
	l.calls = slices.DeleteFunc(l.calls, func(other *call) bool { return other == c })
	if len(l.calls) == 0 {
		p.lines = slices.DeleteFunc(p.lines, func(other *line) bool { return other == l })
	}
	p.waiting--
}

// pause lets no call of the model begin for a time. Other models of the provider
// go on: such limits are mostly a model's own, and a fallback may be one of them.
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

// full is the failure of a call that got no slot.
func (p *provider) full(m *pool, when, why string) error {
	return &FullError{model.ProviderError{Kind: pawl.ErrorRateLimited, Message: fmt.Sprintf(
		"the call to %s could not begin %s: %s; try again later, or raise providers.%s.calls in the configuration if the provider bears more", m.name, when, why, p.id)}}
}

// FullError is a call that got no slot in time. It is a [model.ProviderError] of our
// own: to try again at once would only be to wait as long again.
type FullError struct{ model.ProviderError }

// Unwrap makes errors.As find the [model.ProviderError].
func (e *FullError) Unwrap() error { return &e.ProviderError }

func (e *FullError) Error() string { return e.ProviderError.Error() }
