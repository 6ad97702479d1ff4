package lsp

import (
	"context"
	"time"
)

// wait returns when the server has answered the question, and reports whether
// it has; false means that ctx ended before, or the server.
func (s *server) wait(ctx context.Context, q question) bool {
	if len(q.docs) == 0 {
		return true // there is nothing that the server could say something of
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
		asks := false // a server may offer to be asked only after the greeting
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

// canPull reports whether the server can be asked for a file's faults.
func (s *server) canPull() bool { return s.pull != nil || s.spec.TSServer }

// newsOnly is a rest that nothing but news can shorten.
const newsOnly = time.Hour

// until waits until rest, asked at every piece of news, is 0; then it calls
// then. Both are called with mu held. It reports whether it came to that.
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
		case <-s.gone:
			timer.Stop()
			return false
		case <-ctx.Done():
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

// rest is how long the question must still be waited for if there is no news.
//
// A server answers by publishing for the version asked about: then it is done,
// but for what it has to say of other files, which comes at once. For one that
// names no versions see guess.
func (s *server) rest(q question, now time.Time) time.Duration {
	left := time.Duration(0)
	for path, version := range q.docs {
		if v := s.verdicts[path]; v != nil && v.version >= version {
			left = max(left, settleTime-now.Sub(s.newsAt))
		} else {
			left = max(left, s.guess(q, path, now))
		}
	}
	return left
}

// guess is rest where the answer cannot be recognized for certain. A server that
// names no versions is done when it has published and is quiet for a while. One
// that publishes nothing may have nothing to say, if it has ever answered, is
// not at work, and is not known to answer always.
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

// settle notes that the question is answered.
func (s *server) settle(q question) {
	s.answered = true
	s.heard()
	for path, version := range q.docs {
		if d := s.docs[path]; d != nil && d.version == version {
			d.done, d.changes = true, q.changes
		}
	}
}
