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
// there is more to estimate then. Where the conversation became another, the
// count is void.
func (c *Counted) Apply(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Compacted:
		if b.Keep != 0 {
			*c = Counted{}
		}
	case pawl.Reverted:
		if b.Refused == "" {
			*c = Counted{}
		}
	case pawl.Replied:
		read := b.Usage.Input + b.Usage.CacheRead + b.Usage.CacheWrite
		if b.Finish != pawl.FinishCanceled && read > 0 && b.Usage.Output > 0 {
			*c = Counted{int(read + b.Usage.Output), e.Seq}
		}
	default: // says nothing of it
	}
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
