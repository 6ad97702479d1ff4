package telemetry

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl"
)

// Span is a unit of work with a start and an end.
type Span struct {
	Trace  TraceID
	ID     SpanID
	Parent SpanID // zero if it has none
	Name   string
	Client bool // it is a request to another service
	Start  time.Time
	End    time.Time
	Attrs  []Attr
	Events []SpanEvent
	Fault  string // kind of failure; "" if it succeeded
}

// SpanEvent is an event at a point in time within a span.
type SpanEvent struct {
	Name  string
	At    time.Time
	Attrs []Attr
}

// Attr is an attribute. Its value is a string, bool, int64, float64 or []string.
type Attr struct {
	Key   string
	Value any
}

// TraceID identifies a trace: all work for one prompt, subagents included.
type TraceID [16]byte

// SpanID identifies a span within a trace.
type SpanID [8]byte

// The ids are derived from session, turn and call ids. So a turn that another process
// resumes is in the same trace, and spans sent by the first process have their parent.

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

// setText sets an attribute unless value is empty.
func (s *Span) setText(key, value string) {
	if value != "" {
		s.set(key, value)
	}
}
