package httpapi

import (
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/api"
)

// presence knows when somebody was connected who could answer an ask.
type presence struct {
	mu      sync.Mutex
	streams int       // that are open
	last    time.Time // a request, or the end of a stream
}

// LastSeen returns when somebody was last connected who could answer an ask: now if an event stream is open.
func (s *Server) LastSeen() time.Time {
	s.presence.mu.Lock()
	defer s.presence.mu.Unlock()
	if s.presence.streams > 0 {
		return time.Now()
	}
	return s.presence.last
}

// seen records a request.
func (s *Server) seen(p api.Principal) {
	if !p.Scope.Covers(api.ScopeRun) {
		return
	}
	s.presence.mu.Lock()
	defer s.presence.mu.Unlock()
	s.presence.last = time.Now()
}

// connected records a stream until leave is called.
func (s *Server) connected(p api.Principal) (leave func()) {
	if !p.Scope.Covers(api.ScopeRun) {
		return func() {}
	}
	a := &s.presence
	a.mu.Lock()
	defer a.mu.Unlock()
	a.streams++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.streams--
		a.last = time.Now()
	}
}
