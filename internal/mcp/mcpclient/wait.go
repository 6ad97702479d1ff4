package mcpclient

import (
	"context"
	"fmt"
	"time"
)

// starting returns the names of servers that are starting for the first time.
// Servers that are retried after a failure are not included, or the tools
// offered to a model would change all the time.
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

// wait waits for starting servers, at most as long as a call may.
func (s *Servers) wait(ctx context.Context, dir string, which func(*link) bool) {
	ctx, cancel := context.WithTimeout(ctx, s.config.times.wait)
	defer cancel()
	for _, l := range s.of(dir) {
		if which(l) {
			l.started(ctx)
		}
	}
}

// started waits until the server is no longer starting, or ctx has ended.
func (l *link) started(ctx context.Context) {
	for {
		status, news := l.status()
		if status.State != Starting {
			return
		}
		select {
		case <-news:
		case <-l.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Await waits for a server that the user has named, longer than calls do. It
// returns an error if the server is not ready.
func (s *Servers) Await(ctx context.Context, dir, name string) error {
	l, err := s.find(dir, name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.config.times.start, fmt.Errorf("MCP server %s did not start within %s", name, s.config.times.start.Round(time.Second)))
	defer cancel()
	l.started(ctx)
	if _, err := l.ready(); err != nil && ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// Notes returns messages for the user about the servers of a directory that
// are not ready. Each server is reported once until it has been ready again.
func (s *Servers) Notes(dir string) []string {
	var notes []string
	for _, l := range s.of(dir) {
		l.mu.Lock()
		if !l.notified && (l.state == Failed || l.state == NeedsLogin) {
			l.notified = true
			notes = append(notes, fmt.Sprintf("MCP server %s is not ready (%s)%s", l.server.Name, l.state, because(l.why)))
		}
		l.mu.Unlock()
	}
	return notes
}
