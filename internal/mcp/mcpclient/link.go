package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
)

// link is a server of a directory, through all of its connections.
type link struct {
	config Config
	dir    string
	server Server
	once   bool // it is not tried again

	quit  chan struct{} // closed by end
	gone  chan struct{} // closed when nothing of it is left
	again chan struct{} // somebody wants it tried again
	stop  sync.Once

	mu        sync.Mutex
	news      chan struct{} // closed and replaced when the state changes
	state     State
	why       string
	failed    bool     // it has, since it was last ready
	told      bool     // a person was told that it is not ready
	log       string   // of the last program
	program   *program // nil unless one runs
	session   *session // nil unless it is ready
	tools     []*remote
	known     map[string]*remote // what the model is told of the tools, by the server's names
	faults    []Fault
	prompts   []Prompt
	resources []Resource
	named     map[callKey]string // the fingerprints that were named to permission, of calls that have not begun
	running   []*running
}

// callKey names a call among all sessions.
type callKey struct {
	session pawl.SessionID
	call    pawl.CallID
}

func newLink(c Config, dir string, s Server) *link {
	return &link{
		config: c, dir: dir, server: s, state: Starting,
		quit: make(chan struct{}), gone: make(chan struct{}), again: make(chan struct{}, 1), news: make(chan struct{}),
		known: map[string]*remote{}, named: map[callKey]string{},
	}
}

// run sees to it that there is a connection, until the link is ended.
func (l *link) run() {
	defer close(l.gone)
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
			l.set(NeedsLogin, fmt.Sprintf("run 'pawl mcp login %s'", l.server.Name))
		case failures >= maxFailures || l.once:
			l.set(Failed, line(err.Error(), whyChars))
		default:
			l.set(Failed, line(err.Error(), whyChars)+"; it is tried again")
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

// pause is how long to wait after so many failures.
func (l *link) pause(failures int) time.Duration {
	return min(l.config.times.pause<<(failures-1), longestPause)
}

// rest waits until it is time, or somebody wants to try again; 0 is until
// somebody does. It reports whether to go on.
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

// live makes a connection and sees it to its end, which it returns.
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

// forget keeps the end of a program's log.
func (l *link) forget(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.program = nil
	if s.program != nil {
		l.log = s.program.stderr.String()
	}
}

// set changes the state and tells who waits for it.
func (l *link) set(state State, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state, l.why = state, why
	switch state {
	case Ready:
		l.failed, l.told = false, false
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

// end ends the server and returns when nothing of it is left.
func (l *link) end() {
	l.stop.Do(func() { close(l.quit) })
	<-l.gone
}

// ready returns the connection, or why there is none.
func (l *link) ready() (*session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil {
		return nil, fmt.Errorf("the MCP server %s is not ready (%s)%s: %w", l.server.Name, l.state, because(l.why), pawl.ErrUnavailable)
	}
	return l.session, nil
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}
