package api

import (
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/pawl-dev/pawl"
)

// Error codes that only the HTTP interface has.
const (
	CodeUnauthorized pawl.Code = "unauthorized" // no token, or an unknown one
	CodeLimited      pawl.Code = "limited"      // over a limit: retry after Retry-After
	CodeTooLarge     pawl.Code = "too_large"    // the body is larger than the route takes
)

// Errors that correspond to these codes.
var (
	ErrUnauthorized = errors.New("unauthorized")
	ErrLimited      = errors.New("limited")
	ErrTooLarge     = errors.New("too large")
)

// LimitError is an [ErrLimited] that says when to retry.
type LimitError struct {
	What  string
	After time.Duration
}

func (e *LimitError) Error() string { return e.What }

// Is makes errors.Is(err, ErrLimited) hold.
func (e *LimitError) Is(target error) bool { return target == ErrLimited }

// RetryAfter returns the seconds to wait before a retry, 1 if the error does not say.
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
	CodeTooLarge:         http.StatusRequestEntityTooLarge,
}

// errorOf returns the error that a code stands for, nil for an internal error.
func errorOf(code pawl.Code) error {
	switch code {
	case CodeUnauthorized:
		return ErrUnauthorized
	case CodeLimited:
		return ErrLimited
	case CodeTooLarge:
		return ErrTooLarge
	default:
		return code.Err()
	}
}

// FaultOf returns the response body and the HTTP status for an error. The text of an
// internal error is replaced, since it may contain details that the caller must not
// see; the server logs it.
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
	case errors.Is(err, ErrTooLarge):
		f.Code = CodeTooLarge
	case f.Code == pawl.CodeInternal:
		f.Message = "internal error: see the server's log for this request ID"
	}
	return Fault{f}, statuses[f.Code]
}

// Err returns the error that the server reported. The session is for errors about a
// busy session.
func (f Fault) Err(session pawl.SessionID) error {
	if f.Error.Code == pawl.CodeBusy && (f.Error.Holder != "" || session != "") {
		return &remoteBusy{remoteError{f.Error.Message, pawl.ErrBusy}, pawl.BusyError{Session: session, Holder: f.Error.Holder}}
	}
	return &remoteError{f.Error.Message, errorOf(f.Error.Code)}
}

// remoteError has the text and the class of an error of the server.
type remoteError struct {
	text  string
	class error // nil for an internal error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.class }

// remoteBusy is a BusyError with the server's text.
type remoteBusy struct {
	remoteError
	busy pawl.BusyError
}

func (e *remoteBusy) Unwrap() error { return &e.busy }
