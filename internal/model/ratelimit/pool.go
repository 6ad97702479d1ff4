package ratelimit

import "time"

// pool counts the calls of a provider, or of one of its models. Its limit adapts:
// it grows by one at a time and shrinks by half, so it comes near to what the
// provider bears and soon leaves what it does not.
type pool struct {
	name                 string
	most, limit, running int

	cuts  int       // how often the limit was halved
	good  int       // calls that went well since the limit last changed
	until time.Time // no call begins before
}

func newPool(name string, most int) *pool { return &pool{name: name, most: most, limit: most} }

// open reports whether a call may begin.
func (p *pool) open() bool { return p.running < p.limit && p.pause() <= 0 }

// pause is how long no call may begin.
func (p *pool) pause() time.Duration {
	if p.until.IsZero() { // as it mostly is: then nobody looks at the clock
		return 0
	}
	return time.Until(p.until)
}

// cut halves the limit, after a call that began when there had been so many cuts.
// If there was one since, the call says nothing new: calls that run at once are
// refused together, and that is one reason to go slower, not many.
func (p *pool) cut(began int) {
	if began != p.cuts {
		return
	}
	p.limit = max(1, p.limit/2)
	p.cuts++
	p.good = 0
}

// grow counts a call that went well, and adds one to the limit after a limit's
// worth of them. One that began before the last cut ran under another limit.
func (p *pool) grow(began int) {
	if began != p.cuts || p.limit == p.most {
		return
	}
	if p.good++; p.good >= p.limit {
		p.limit++
		p.good = 0
	}
}
