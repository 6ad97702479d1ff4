package ratelimit

import "time"

// pool counts the running calls of a provider, or of one of its models. Its limit adapts by additive increase
// and multiplicative decrease (AIMD): it grows by one and shrinks by half.
type pool struct {
	name                 string
	most, limit, running int

	cuts  int       // how often the limit was halved
	good  int       // successful calls since the limit last changed
	until time.Time // no call starts before
}

func newPool(name string, most int) *pool { return &pool{name: name, most: most, limit: most} }

// open reports whether a call may start.
func (p *pool) open() bool { return p.running < p.limit && p.pause() <= 0 }

// pause returns how long no call may start.
func (p *pool) pause() time.Duration {
	if p.until.IsZero() { // the common case: do not read the clock
		return 0
	}
	return time.Until(p.until)
}

// cut halves the limit after a rejected call, given the number of cuts when the call began. If there was a cut
// since, it does nothing: concurrent calls are rejected together, which is a single reason to slow down.
func (p *pool) cut(began int) {
	if began != p.cuts {
		return
	}
	p.limit = max(1, p.limit/2)
	p.cuts++
	p.good = 0
}

// grow counts a successful call, and raises the limit by one after as many calls as the limit. It ignores calls
// that began before the last cut.
func (p *pool) grow(began int) {
	if began != p.cuts || p.limit == p.most {
		return
	}
	if p.good++; p.good >= p.limit {
		p.limit++
		p.good = 0
	}
}
