package lsp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// Servers manages the language servers of this process. They are started on
// first use and shared by all sessions in the same directory. The zero value
// is ready for use; fields must be set before the first Check. Close ends all
// servers.
type Servers struct {
	Table   []Spec                // the known servers; nil means Table()
	Enabled func(dir string) bool // whether servers may run in a workspace, since they run code of the project; nil means always
	Path    string                // search path for programs; "" means $PATH

	// Sandbox wraps a server's command in a sandbox, since it may run what a model
	// has written. nil means no sandbox.
	Sandbox func(ctx context.Context, dir, root string, args, env []string) (sandbox.Wrapped, error)

	mu      sync.Mutex
	entries map[key]*entry
	closed  chan struct{}  // closed by Close; nil before the first use
	busy    sync.WaitGroup // servers that are starting or ending
	times   times
}

// times are the limits of a server's lifetime; tests shorten them.
type times struct{ start, rest, idle, hang time.Duration }

// key identifies a server: one runs for each project of a workspace.
type key struct{ dir, root, name string }

// entry is a known server, running or not.
type entry struct {
	spec    Spec
	server  *server       // nil unless it runs
	ready   chan struct{} // closed when the current start has ended; nil if it is not starting
	err     error         // why it does not run
	retry   time.Time     // when it may be started again
	crashes int           // since its last rest
	users   int
	used    time.Time
	idle    *time.Timer
}

var (
	errClosed  = errors.New("the language servers are closed")
	errTooMany = fmt.Errorf("%d language servers are at work: there can be no more", maxServers)
	errHung    = errors.New("it does not answer any more")
)

// setUp initializes the zero value. The caller holds mu.
func (m *Servers) setUp() {
	if m.closed != nil {
		return
	}
	m.closed, m.entries = make(chan struct{}), map[key]*entry{}
	if m.times == (times{}) {
		m.times = times{start: startTime, rest: restTime, idle: idleTime, hang: hangTime}
	}
}

func (m *Servers) isClosed() bool {
	select {
	case <-m.closed:
		return true
	default:
		return false
	}
}

// use returns the server, starting it if necessary. The caller must release
// it. It waits for a start as long as ctx lasts; the start continues after
// that.
func (m *Servers) use(ctx context.Context, k key, spec Spec) (*server, error) {
	for {
		m.mu.Lock()
		m.setUp()
		e, err := m.entry(k, spec)
		if err != nil {
			m.mu.Unlock()
			return nil, err
		}
		if s := e.server; s != nil {
			e.users++
			e.used = time.Now()
			if e.idle != nil {
				e.idle.Stop()
			}
			m.mu.Unlock()
			return s, nil
		}
		ready := e.ready
		m.mu.Unlock()
		select {
		case <-ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// entry returns the entry of a server that runs or is starting.
func (m *Servers) entry(k key, spec Spec) (*entry, error) {
	if m.isClosed() {
		return nil, errClosed
	}
	e := m.entries[k]
	if e == nil {
		if len(m.entries) >= maxEntries {
			m.forget()
		}
		e = &entry{spec: spec}
		m.entries[k] = e
	}
	if e.server != nil && e.server.dead(time.Now(), m.times.hang) {
		m.handleCrash(e)
	}
	if e.server != nil || e.ready != nil {
		return e, nil
	}
	if time.Now().Before(e.retry) {
		return nil, e.err
	}
	if !m.evict() {
		return nil, errTooMany
	}
	e.ready = make(chan struct{})
	m.busy.Go(func() { m.start(k, e) })
	return e, nil
}

// dead reports whether the connection has failed. It makes it fail if a
// request has been unanswered for too long by a server that reports no work.
func (s *server) dead(now time.Time, limit time.Duration) bool {
	s.mu.Lock()
	hung := !s.askedAt.IsZero() && now.Sub(s.askedAt) > limit && len(s.work) == 0
	s.mu.Unlock()
	if hung {
		s.conn.fail(errHung)
	}
	select {
	case <-s.conn.failed:
		return true
	default:
		return false
	}
}

// handleCrash handles a crashed server. It can be started again up to maxRestarts
// times; then it rests. The caller holds mu.
func (m *Servers) handleCrash(e *entry) {
	s, ready := e.server, make(chan struct{})
	e.server, e.ready = nil, ready
	m.busy.Go(func() {
		<-s.ended
		m.mu.Lock()
		defer m.mu.Unlock()
		e.err = s.err
		if e.crashes++; e.crashes > maxRestarts {
			e.crashes, e.retry = 0, time.Now().Add(m.times.rest)
		}
		close(ready)
		e.ready = nil
	})
}

// start starts the entry's server. The start outlives the call that needed it.
func (m *Servers) start(k key, e *entry) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), m.times.start, errors.New("it did not answer in time"))
	defer cancel()
	go func() {
		select {
		case <-m.closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	path := m.path()
	var s *server
	program, err := find(e.spec.program(), k.dir, path)
	if err == nil {
		s, err = startServer(ctx, m.Sandbox, e.spec, k.dir, k.root, program, path)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil && m.isClosed() {
		m.busy.Go(s.end)
		s, err = nil, errClosed
	}
	e.server, e.err = s, err
	if err != nil {
		e.retry = time.Now().Add(m.times.rest)
	}
	close(e.ready)
	e.ready = nil
}

func (m *Servers) path() string {
	if m.Path != "" {
		return m.Path
	}
	return os.Getenv("PATH")
}

// release returns a server. It ends after it has been unused for a while.
func (m *Servers) release(k key, s *server) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[k]
	if e == nil {
		return
	}
	e.used = time.Now()
	if e.users--; e.users > 0 || e.server != s {
		return
	}
	e.idle = time.AfterFunc(m.times.idle, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if e.users == 0 && e.server == s && !m.isClosed() {
			m.retire(e)
		}
	})
}

// retire ends a server that is not needed. The caller holds mu.
func (m *Servers) retire(e *entry) {
	s := e.server
	e.server = nil
	m.busy.Go(s.end)
}

// evict makes sure that one more server may run. If necessary it ends the
// least recently used one.
func (m *Servers) evict() bool {
	running := 0
	var oldest *entry
	for _, e := range m.entries {
		if e.server == nil && e.ready == nil {
			continue
		}
		running++
		if e.server != nil && e.users == 0 && (oldest == nil || e.used.Before(oldest.used)) {
			oldest = e
		}
	}
	if running < maxServers {
		return true
	}
	if oldest == nil {
		return false
	}
	m.retire(oldest)
	return true
}

// forget removes the entries of servers that do not run.
func (m *Servers) forget() {
	for k, e := range m.entries {
		if e.server == nil && e.ready == nil && e.users == 0 {
			delete(m.entries, k)
		}
	}
}

// Close ends all servers and waits for them. No server is started after it.
func (m *Servers) Close() {
	m.mu.Lock()
	m.setUp()
	if !m.isClosed() {
		close(m.closed)
	}
	for _, e := range m.entries {
		if e.idle != nil {
			e.idle.Stop()
		}
		if e.server != nil {
			m.retire(e)
		}
	}
	m.mu.Unlock()
	m.busy.Wait()
}
