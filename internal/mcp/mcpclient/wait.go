package mcpclient

import (
	"context"
	"fmt"
	"time"
)

// starting names the servers that start for the first time. One that has failed is
// not among them while it is tried again: what a model is offered would change all
// the time.
func (s *Servers) starting(dir string, keep Keep) []string {
	var names []string
	for _, l := range s.of(dir) {
		l.mu.Lock()
		if l.state == Starting && !l.failed && keep(prefix+l.server.Name) {
			names = append(names, l.server.Name)
		}
		l.mu.Unlock()
	}
	return names
}

// wait waits for servers that start, as long as a call waits for any.
func (s *Servers) wait(ctx context.Context, dir string, which func(*link) bool) {
	ctx, cancel := context.WithTimeout(ctx, s.config.times.wait)
	defer cancel()
	for _, l := range s.of(dir) {
		if which(l) {
			l.started(ctx)
		}
	}
}

// started returns once the server does not start any more, or when ctx has ended.
func (l *link) started(ctx context.Context) {
	for {
		status, news := l.status()
		if status.State != Starting {
			return
		}
		select {
		case <-news:
		case <-l.gone:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Await waits for one server that a person has named, longer than calls do, and
// says why it is not ready.
func (s *Servers) Await(ctx context.Context, dir, name string) error {
	l, err := s.find(dir, name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.config.times.start, fmt.Errorf("the MCP server %s did not start within %s", name, s.config.times.start.Round(time.Second)))
	defer cancel()
	l.started(ctx)
	if _, err := l.ready(); err != nil && ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// Notes returns which servers of a directory could not be reached, for a person. Each
// is told once, until it has been ready again.
func (s *Servers) Notes(dir string) []string {
	var notes []string
	for _, l := range s.of(dir) {
		l.mu.Lock()
		if !l.told && (l.state == Failed || l.state == NeedsLogin) {
			l.told = true
			notes = append(notes, fmt.Sprintf("the MCP server %s is not ready (%s)%s", l.server.Name, l.state, because(l.why)))
		}
		l.mu.Unlock()
	}
	return notes
}
