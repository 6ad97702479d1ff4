package prompt

import (
	"slices"

	"github.com/pawl-dev/pawl"
)

// Counted is how large a session's newest request was by the provider's own
// count, which no estimate comes near. It is a fold of the log; the zero value
// is before the first reply.
type Counted struct {
	Known int      // tokens that were read and written
	At    pawl.Seq // the reply that was written
}

// Apply takes in the next event of the log. A reply of which the provider did
// not count all, because it was canceled or tells nothing, changes nothing:
// there is more to estimate then.
func (c *Counted) Apply(e pawl.Event) {
	b, ok := e.Body.(pawl.Replied)
	if !ok || b.Finish == pawl.FinishCanceled {
		return
	}
	read := b.Usage.Input + b.Usage.CacheRead + b.Usage.CacheWrite
	if read > 0 && b.Usage.Output > 0 {
		*c = Counted{int(read + b.Usage.Output), e.Seq}
	}
}

// Tokens returns how large a request with these messages is: what is known, and
// an estimate of what came after. was are the messages as they were when they
// were counted, the reply included, if some of them have been cleared since or
// left out; nil means that none have. The system prompt and the tools are part
// of what is known, and only of that.
func (c Counted) Tokens(now, was []pawl.Message) int {
	first := c.After(now)
	n := c.Known + Estimate(now[first:])
	if was != nil {
		n += Estimate(now[:first]) - Estimate(was)
	}
	return max(n, Estimate(now[first:]))
}

// After returns the index of the first message that came after the count.
func (c Counted) After(messages []pawl.Message) int {
	i := slices.IndexFunc(messages, func(m pawl.Message) bool {
		return m.Seq > c.At || m.Seq == c.At && m.Role == pawl.RoleTool // results stand at their reply's number
	})
	if i < 0 {
		return len(messages)
	}
	return i
}
