package api

import (
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/pawl-dev/pawl"
)

// The codes of errors that are HTTP's own.
const (
	CodeUnauthorized pawl.Code = "unauthorized" // no token, or none that is known
	CodeLimited      pawl.Code = "limited"      // too much at once: try again after Retry-After
)

// The errors for them.
var (
	ErrUnauthorized = errors.New("unauthorized")
	ErrLimited      = errors.New("limited")
)

// LimitError is an [ErrLimited] that knows when it is worth another try.
type LimitError struct {
	What  string
	After time.Duration
}

func (e *LimitError) Error() string { return e.What }

// Is makes errors.Is(err, ErrLimited) hold.
func (e *LimitError) Is(target error) bool { return target == ErrLimited }

// RetryAfter is how many seconds to wait after an error: 1 if it does not say.
func RetryAfter(err error) int {
	var limit *LimitError
	if !errors.As(err, &limit) {
		return 1
	}
	return max(1, int(math.Ceil(limit.After.Seconds())))
}

var statuses = map[pawl.Code]int{
	pawl.CodeInvalid:     http.StatusBadRequest,
	pawl.CodeNotFound:    http.StatusNotFound,
	pawl.CodeConflict:    http.StatusConflict,
	pawl.CodeBusy:        http.StatusLocked,
	pawl.CodeDenied:      http.StatusForbidden,
	pawl.CodeUnavailable: http.StatusServiceUnavailable,
	pawl.CodeInternal:    http.StatusInternalServerError,
	CodeUnauthorized:     http.StatusUnauthorized,
	CodeLimited:          http.StatusTooManyRequests,
}

// errorOf is the error that a code stands for.
func errorOf(code pawl.Code) error {
	switch code {
	case CodeUnauthorized:
		return ErrUnauthorized
	case CodeLimited:
		return ErrLimited
	default:
		return code.Err()
	}
}

// FaultOf says an error for HTTP. What is pawl's own failure is said without its
// words, which may tell what is nobody's business; the server's log has them.
func FaultOf(err error) (Fault, int) {
	f := FaultBody{Code: pawl.CodeOf(err), Message: err.Error()}
	var busy *pawl.BusyError
	switch {
	case errors.As(err, &busy):
		f.Holder = busy.Holder
	case errors.Is(err, ErrUnauthorized):
		f.Code = CodeUnauthorized
	case errors.Is(err, ErrLimited):
		f.Code = CodeLimited
	case f.Code == pawl.CodeInternal:
		f.Message = "something failed in the server: its log says what, by the request id"
	}
	return Fault{f}, statuses[f.Code]
}

// Err is the error that was reported.
func (f Fault) Err(session pawl.SessionID) error {
	if f.Error.Code == pawl.CodeBusy && (f.Error.Holder != "" || session != "") {
		return &remoteBusy{remoteError{f.Error.Message, pawl.ErrBusy}, pawl.BusyError{Session: session, Holder: f.Error.Holder}}
	}
	return &remoteError{f.Error.Message, errorOf(f.Error.Code)}
}

// remoteError has the words of the other side, and the class.
type remoteError struct {
	text  string
	class error // nil for an internal one
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.class }

// remoteBusy is a BusyError with the words of the other side.
type remoteBusy struct {
	remoteError
	busy pawl.BusyError
}

func (e *remoteBusy) Unwrap() error { return &e.busy }
