package httpapi

import (
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/api"
)

// attendance knows when somebody was connected who could answer an ask.
type attendance struct {
	mu      sync.Mutex
	streams int       // that are open
	last    time.Time // a request, or the end of a stream
}

// LastSeen returns when somebody was last connected who could answer an ask: now if an event stream is open.
func (s *Server) LastSeen() time.Time {
	s.attendance.mu.Lock()
	defer s.attendance.mu.Unlock()
	if s.attendance.streams > 0 {
		return time.Now()
	}
	return s.attendance.last
}

// seen records a request.
func (s *Server) seen(p api.Principal) {
	if !p.Scope.Covers(api.ScopeRun) {
		return
	}
	s.attendance.mu.Lock()
	defer s.attendance.mu.Unlock()
	s.attendance.last = time.Now()
}

// attend records a stream until leave is called.
func (s *Server) attend(p api.Principal) (leave func()) {
	if !p.Scope.Covers(api.ScopeRun) {
		return func() {}
	}
	a := &s.attendance
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
