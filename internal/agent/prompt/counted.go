package prompt

import (
	"slices"

	"github.com/pawl-dev/pawl"
)

// Counted is the size of a session's newest request by the provider's own count, which is better
// than any estimate. It is a fold of the log; the zero value is before the first reply.
type Counted struct {
	Known int      // tokens of the request and its reply
	At    pawl.Seq // the reply
}

// Apply folds the next event. A reply without a full count, because it was canceled or the
// provider reports none, changes nothing: then more is estimated. A compaction or an undo
// resets the count.
func (c *Counted) Apply(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Compacted:
		if b.Keep != 0 {
			*c = Counted{}
		}
	case pawl.Undone:
		if b.Refused == "" {
			*c = Counted{}
		}
	case pawl.Replied:
		read := b.Usage.Input + b.Usage.CacheRead + b.Usage.CacheWrite
		if b.Finish != pawl.FinishCanceled && read > 0 && b.Usage.Output > 0 {
			*c = Counted{int(read + b.Usage.Output), e.Seq}
		}
	default:
	}
}

// After returns the index of the first message after the counted request and its reply.
func (c Counted) After(messages []pawl.Message) int {
	i := slices.IndexFunc(messages, func(m pawl.Message) bool {
		return m.Seq > c.At || m.Seq == c.At && m.Role == pawl.RoleTool // results have the Seq of their reply
	})
	if i < 0 {
		return len(messages)
	}
	return i
}
