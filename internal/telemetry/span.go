package telemetry

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
)

// Span is a piece of work, from its beginning to its end.
type Span struct {
	Trace  TraceID
	ID     SpanID
	Parent SpanID // zero: it has none
	Name   string
	Client bool // it is a request to somebody else
	Start  time.Time
	End    time.Time
	Attrs  []Attr
	Events []SpanEvent
	Fault  string // what went wrong; "" if nothing did
}

// SpanEvent is a moment within a span.
type SpanEvent struct {
	Name  string
	At    time.Time
	Attrs []Attr
}

// Attr is a name with a value: a string, bool, int64, float64 or []string.
type Attr struct {
	Key   string
	Value any
}

// TraceID names what was done for one prompt, by all who took part.
type TraceID [16]byte

// SpanID names a span within it.
type SpanID [8]byte

// The ids are made from the log's own names. So a turn that another process goes
// on with is in the same trace, and what the first one sent has its parent.

func traceOf(id pawl.SessionID, turn int) TraceID {
	sum := sha256.Sum256(fmt.Appendf(nil, "trace %s %d", id, turn))
	return TraceID(sum[:16])
}

func spanOf(id pawl.SessionID, what string) SpanID {
	sum := sha256.Sum256(fmt.Appendf(nil, "span %s %s", id, what))
	return SpanID(sum[:8])
}

func turnSpan(id pawl.SessionID, turn int) SpanID { return spanOf(id, fmt.Sprint("turn ", turn)) }

func replySpan(id pawl.SessionID, turn, step int) SpanID {
	return spanOf(id, fmt.Sprint("reply ", turn, " ", step))
}

func callSpan(id pawl.SessionID, call pawl.CallID) SpanID { return spanOf(id, "call "+string(call)) }

func (s *Span) set(key string, value any) { s.Attrs = append(s.Attrs, Attr{key, value}) }

// setText sets what is known only sometimes.
func (s *Span) setText(key, value string) {
	if value != "" {
		s.set(key, value)
	}
}
