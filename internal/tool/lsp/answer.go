package lsp

import (
	"context"
	"time"
)

// wait waits until the server has answered the question. It reports false if
// ctx or the server ended before.
func (s *server) wait(ctx context.Context, q question) bool {
	if len(q.docs) == 0 {
		return true // no document: the server has nothing to report
	}
	listen := false
	for {
		s.mu.Lock()
		pull := s.canPull()
		s.mu.Unlock()
		if pull && !listen {
			whole, able := s.ask(ctx, q)
			if able {
				return whole
			}
			listen = true
		}
		asks := false // a server may register pull diagnostics only after the handshake
		came := s.until(ctx, func(now time.Time) time.Duration {
			if asks = s.canPull() && !listen; asks {
				return 0
			}
			return s.rest(q, now)
		}, func() {
			if !asks {
				s.settle(q)
			}
		})
		if !came || !asks {
			return came
		}
	}
}

// canPull reports whether the server supports requests for the diagnostics of
// a file.
func (s *server) canPull() bool { return s.pull != nil || s.spec.TSServer }

// newsOnly is a waiting time that only an event of the server ends.
const newsOnly = time.Hour

// until waits until rest, called after every event of the server, returns 0;
// then it calls then. Both are called with mu held. It reports whether then
// was called.
func (s *server) until(ctx context.Context, rest func(now time.Time) time.Duration, then func()) bool {
	for {
		s.mu.Lock()
		left, change := rest(time.Now()), s.change
		if left <= 0 {
			then()
		}
		s.mu.Unlock()
		if left <= 0 {
			return true
		}
		timer := time.NewTimer(left)
		select {
		case <-change:
		case <-timer.C:
		case <-s.ended:
			timer.Stop()
			return false
		case <-ctx.Done():
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

// rest returns how long to wait for the answer if there are no further events.
//
// A server answers by publishing diagnostics for the requested version.
// Diagnostics of other files follow at once. For servers that name no versions
// see guess.
func (s *server) rest(q question, now time.Time) time.Duration {
	left := time.Duration(0)
	for path, version := range q.docs {
		if v := s.verdicts[path]; v != nil && v.version >= version {
			left = max(left, s.spec.settleTime()-now.Sub(s.newsAt))
		} else {
			left = max(left, s.guess(q, path, now))
		}
	}
	return left
}

// guess is rest for answers that cannot be identified. A server that names no
// versions has answered when it has published and is silent for a while. A
// server that publishes nothing may have nothing to report, if it has answered
// before, is not working, and is not known to answer always.
func (s *server) guess(q question, path string, now time.Time) time.Duration {
	v := s.verdicts[path]
	switch {
	case len(s.work) > 0 || s.spec.Always || s.versioned && !q.same[path]:
		return newsOnly
	case !s.versioned && v != nil && v.news > q.since:
		return quietTime - now.Sub(s.newsAt)
	case !s.answered:
		return newsOnly
	default:
		return silenceTime - now.Sub(q.at)
	}
}

// settle records that the question is answered.
func (s *server) settle(q question) {
	s.answered = true
	s.heard()
	for path, version := range q.docs {
		if d := s.docs[path]; d != nil && d.version == version {
			d.done, d.changes = true, q.changes
		}
	}
}
