package pawl

import (
	"errors"
	"fmt"
)

// The errors of the API. Compare with errors.Is.
var (
	// ErrInvalid: the request can never succeed.
	ErrInvalid = errors.New("invalid")
	// ErrNotFound: the session, blob or draft does not exist.
	ErrNotFound = errors.New("not found")
	// ErrConflict: another writer was first; nothing was written.
	ErrConflict = errors.New("conflict")
	// ErrBusy: the session is working, or another process works on it.
	ErrBusy = errors.New("busy")
	// ErrDenied: a rule or a user denied it.
	ErrDenied = errors.New("denied")
	// ErrUnavailable: something that Pawl needs cannot be reached.
	ErrUnavailable = errors.New("unavailable")
	// ErrRewound: [History.Apply] met an undo or redo, so what it applied before is
	// no longer valid. Read the log again with [Fold].
	ErrRewound = errors.New("the session was undone or redone: read its log again")
)

// Code is the class of an error that a [Service] returns. Codes are stable, for
// scripts and clients.
type Code string

// The codes. Errors that wrap none of the API's errors are internal.
const (
	CodeInvalid     Code = "invalid"
	CodeNotFound    Code = "not_found"
	CodeConflict    Code = "conflict"
	CodeBusy        Code = "busy"
	CodeDenied      Code = "denied"
	CodeUnavailable Code = "unavailable"
	CodeInternal    Code = "internal"
)

// classes are the errors that have a code.
var classes = []struct {
	err  error
	code Code
}{
	{ErrInvalid, CodeInvalid},
	{ErrNotFound, CodeNotFound},
	{ErrConflict, CodeConflict},
	{ErrBusy, CodeBusy},
	{ErrDenied, CodeDenied},
	{ErrUnavailable, CodeUnavailable},
}

// CodeOf returns the class of a non-nil error.
func CodeOf(err error) Code {
	for _, c := range classes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	return CodeInternal
}

// Err returns the error of the code, or nil for [CodeInternal] and unknown codes.
func (c Code) Err() error {
	for _, class := range classes {
		if class.code == c {
			return class.err
		}
	}
	return nil
}

// BusyError is an [ErrBusy] that names who holds the session.
type BusyError struct {
	Session SessionID
	Holder  string // the process that works on the session; "" if the session's own open turn is in the way
}

func (e *BusyError) Error() string {
	if e.Holder == "" {
		return fmt.Sprintf("session %s is busy: a turn is running or prompts are queued", e.Session)
	}
	return fmt.Sprintf("session %s is busy: %s is working on it", e.Session, e.Holder)
}

// Is makes errors.Is(err, ErrBusy) true.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }
