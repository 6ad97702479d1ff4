package fakeprovider

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Kind is a kind of fault.
type Kind string

// The kinds of fault, as spelled in scripts. Some take a number after a colon.
const (
	KindError      Kind = "error"      // status 400; the line's text is the message
	KindOverloaded Kind = "overloaded" // the protocol's status for overload; the line's text is the message
	KindOverflow   Kind = "overflow"   // the request is too long for the model, in the protocol's format
	KindStatus     Kind = "status"     // spelled as the number itself: 429, or 429:2 for a Retry-After of 2 seconds

	KindDropFirst    Kind = "drop_first"    // the connection breaks before the first byte
	KindDrop         Kind = "drop"          // ... in mid-text
	KindDropInCall   Kind = "drop_in_call"  // ... in the arguments of a call
	KindHang         Kind = "hang"          // silence in mid-text
	KindSilence      Kind = "silence"       // silence after N bytes
	KindDribble      Kind = "dribble"       // byte by byte, N milliseconds apart
	KindMalformed    Kind = "malformed"     // an event in mid-text is not JSON
	KindNoEnd        Kind = "no_end"        // the stream ends without its last event
	KindStreamError  Kind = "stream_error"  // an error inside of the stream, in mid-text
	KindOverflowLate Kind = "overflow_late" // the same for a request that is too long

	KindEmpty        Kind = "empty"         // neither text nor calls
	KindRefusal      Kind = "refusal"       // the provider stops the reply for safety reasons
	KindGarbage      Kind = "garbage"       // the arguments of the last call are truncated, but the reply ends normally
	KindCutArguments Kind = "cut_arguments" // the same, because the reply reached its token limit
	KindDuplicateIDs Kind = "duplicate_ids" // the last call is sent twice, with the same id
	KindUnknownTool  Kind = "unknown_tool"  // the last call is to a tool that does not exist
	KindHuge         Kind = "huge"          // a text of N bytes in one line; without N 1 MiB
)

// numbered are the kinds that take a number, with their defaults.
var numbered = map[Kind]int{KindSilence: 0, KindDribble: 0, KindHuge: 1 << 20}

var kinds = []Kind{
	KindError, KindOverloaded, KindOverflow, KindDropFirst, KindDrop, KindDropInCall, KindHang, KindSilence, KindDribble,
	KindMalformed, KindNoEnd, KindStreamError, KindOverflowLate, KindEmpty, KindRefusal, KindGarbage, KindCutArguments,
	KindDuplicateIDs, KindUnknownTool, KindHuge,
}

// maxNumber bounds the number of a fault, such as the size of a huge line.
const maxNumber = 256 << 20

// Fault is a fault to simulate. The zero value means none.
type Fault struct {
	Kind       Kind
	Status     int    // KindStatus
	RetryAfter string // KindStatus: value of the header; empty means none
	Message    string // error, overloaded, status: replaces the default message of the protocol
	Body       string // KindStatus: replaces the default body of the protocol
	N          int    // for the kinds that take a number
}

// String returns the fault as ParseFault reads it.
func (f Fault) String() string {
	_, takes := numbered[f.Kind]
	switch {
	case f.Kind == KindStatus && f.RetryAfter != "":
		return fmt.Sprintf("%d:%s", f.Status, f.RetryAfter)
	case f.Kind == KindStatus:
		return strconv.Itoa(f.Status)
	case takes:
		return fmt.Sprintf("%s:%d", f.Kind, f.N)
	default:
		return string(f.Kind)
	}
}

// ParseFault parses a fault as in scripts: drop, 500, 429:2, silence:100.
func ParseFault(s string) (Fault, error) {
	name, number, has := strings.Cut(s, ":")
	if status, err := strconv.Atoi(name); err == nil {
		if status < 400 || status > 599 {
			return Fault{}, fmt.Errorf("fault %q: want a status from 400 to 599", s)
		}
		if _, err := strconv.ParseUint(number, 10, 16); has && err != nil {
			return Fault{}, fmt.Errorf("fault %q: want seconds to wait after the colon", s)
		}
		return Fault{Kind: KindStatus, Status: status, RetryAfter: number}, nil
	}
	for _, k := range kinds {
		if string(k) != name {
			continue
		}
		n, takes := numbered[k]
		if has {
			var err error
			if n, err = strconv.Atoi(number); err != nil || !takes || n < 0 || n > maxNumber {
				return Fault{}, fmt.Errorf("fault %q: want a number from 0 to %d, of silence, dribble or huge only", s, maxNumber)
			}
		}
		return Fault{Kind: k, N: n}, nil
	}
	return Fault{}, fmt.Errorf("fault %q: want a status or one of %s", s, list(kinds))
}

func list(kinds []Kind) string {
	var b strings.Builder
	for i, k := range kinds {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(k))
	}
	return b.String()
}

// failure is an error response, independent of the protocol.
type failure struct {
	status   int
	overflow bool   // the request is too long for the model
	message  string // empty: the protocol's default
}

// failure returns the error response of the fault, if it has one.
func (f Fault) failure(p Protocol) (failure, bool) {
	switch f.Kind {
	case KindError:
		return failure{status: http.StatusBadRequest, message: or(f.Message, "the provider could not answer")}, true
	case KindOverloaded:
		if p == Messages {
			return failure{status: statusOverloaded, message: f.Message}, true
		}
		return failure{status: http.StatusServiceUnavailable, message: f.Message}, true
	case KindOverflow:
		return failure{status: http.StatusBadRequest, overflow: true}, true
	case KindStatus:
		return failure{status: f.Status, message: f.Message}, true
	default:
		return failure{}, false
	}
}

// unstreamed returns the fault for a response that is not streamed: errors within the stream become error
// responses.
func (f Fault) unstreamed() Fault {
	switch f.Kind {
	case KindStreamError:
		f.Kind = KindOverloaded
	case KindOverflowLate:
		f.Kind = KindOverflow
	default:
	}
	return f
}

// statusOverloaded is used by Anthropic; the others use 503.
const statusOverloaded = 529

// pause returns the time between the bytes of a dribble.
func (f Fault) pause() time.Duration { return time.Duration(f.N) * time.Millisecond }

func or(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}
