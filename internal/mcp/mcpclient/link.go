package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// link manages one server of a directory across its connections.
type link struct {
	config Config
	dir    string
	server Server
	once   bool // do not retry

	quit  chan struct{} // closed by end
	ended chan struct{} // closed when the server and all its processes have ended
	again chan struct{} // requests a retry
	stop  sync.Once

	mu        sync.Mutex
	news      chan struct{} // closed and replaced when the state changes
	state     State
	why       string
	failed    bool     // it has failed since it was last ready
	notified  bool     // the user was notified that it is not ready
	log       string   // log of the last program
	program   *program // nil unless one runs
	session   *session // nil unless it is ready
	tools     []*remote
	known     map[string]*remote // tool descriptions as the model has them, by the server's names
	faults    []Fault
	prompts   []Prompt
	resources []Resource
	named     map[callKey]string // fingerprints that permission was asked for, by calls that have not started
	running   []*running
}

// callKey identifies a call across sessions.
type callKey struct {
	session pawl.SessionID
	call    pawl.CallID
}

func newLink(c Config, dir string, s Server) *link {
	return &link{
		config: c, dir: dir, server: s, state: Starting,
		quit: make(chan struct{}), ended: make(chan struct{}), again: make(chan struct{}, 1), news: make(chan struct{}),
		known: map[string]*remote{}, named: map[callKey]string{},
	}
}

// run connects and reconnects to the server until the link ends.
func (l *link) run() {
	defer close(l.ended)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-l.quit
		cancel()
	}()
	for failures := 0; ctx.Err() == nil; {
		began := time.Now()
		err := l.live(ctx, failures)
		if time.Since(began) > l.config.times.steady {
			failures = 0
		}
		failures++
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errLogin):
			l.set(NeedsLogin, fmt.Sprintf("run `pawl mcp login %s`", l.server.Name))
		case failures >= maxFailures || l.once:
			l.set(Failed, line(err.Error(), whyChars))
		default:
			l.set(Failed, line(err.Error(), whyChars)+"; retrying")
			if l.rest(l.pause(failures)) {
				continue
			}
		}
		if !l.rest(0) {
			return
		}
		failures = 0
	}
}

// pause returns the backoff after a number of failures.
func (l *link) pause(failures int) time.Duration {
	return min(l.config.times.pause<<(failures-1), longestPause)
}

// rest waits for d or for a request to retry; 0 means for a request only. It
// reports false if the link ends.
func (l *link) rest(d time.Duration) bool {
	var due <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
	case <-l.again:
	case <-l.quit:
		return false
	}
	l.set(Starting, "")
	return true
}

// live connects and serves the connection to its end. It returns the reason
// for the end.
func (l *link) live(ctx context.Context, failures int) error {
	s, err := l.connect(ctx, failures)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.session = s
	l.mu.Unlock()
	l.set(Ready, "")
	s.attend(ctx, l)
	l.mu.Lock()
	l.session = nil
	l.mu.Unlock()
	s.end()
	l.forget(s)
	return s.reason()
}

// forget stores the log of a program that has ended.
func (l *link) forget(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.program = nil
	if s.program != nil {
		l.log = s.program.stderr.String()
	}
}

// set changes the state and wakes all waiters.
func (l *link) set(state State, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state, l.why = state, why
	switch state {
	case Ready:
		l.failed, l.notified = false, false
	case Failed, NeedsLogin:
		l.failed = true
	case Starting, Disabled:
	}
	if state != Ready {
		l.tools, l.prompts, l.resources = nil, nil, nil
	}
	close(l.news)
	l.news = make(chan struct{})
}

func (l *link) tryAgain() {
	select {
	case l.again <- struct{}{}:
	default:
	}
}

// end ends the server and waits until all its processes have ended.
func (l *link) end() {
	l.stop.Do(func() { close(l.quit) })
	<-l.ended
}

// ready returns the connection, or an error that says why the server is not
// ready.
func (l *link) ready() (*session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil {
		return nil, fault.New(pawl.ErrUnavailable, "MCP server %s is not ready (%s)%s", l.server.Name, l.state, because(l.why))
	}
	return l.session, nil
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}
