// Package fault builds the errors that people read. An error says what happened and why; its hint says what to do next.
// The class of an error, such as pawl.ErrNotFound, is for programs: it is not part of the text.
package fault

import (
	"errors"
	"fmt"
)

// Error is an error with a class and perhaps a hint.
type Error struct {
	class error
	err   error
	hint  string
}

// New returns an error of a class, or of none if class is nil. The text is formatted as by [fmt.Errorf]: it may wrap other errors with %w.
func New(class error, format string, args ...any) *Error {
	return &Error{class: class, err: fmt.Errorf(format, args...)}
}

// Hint sets what the reader can do next, as a sentence, and returns e. Front ends print it after the text; the HTTP
// API does not return it, because it may name commands.
func (e *Error) Hint(format string, args ...any) *Error {
	e.hint = fmt.Sprintf(format, args...)
	return e
}

func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the class and the error that the text was formatted from.
func (e *Error) Unwrap() []error {
	if e.class == nil {
		return []error{e.err}
	}
	return []error{e.err, e.class}
}

// HintOf returns the hint of the first error in err's tree that has one, or "".
func HintOf(err error) string {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.hint != "" {
			return e.hint
		}
		err = e.err
	}
	return ""
}

// Text returns the text of an error and its hint as one or two sentences.
func Text(err error) string {
	text := err.Error()
	if hint := HintOf(err); hint != "" {
		return text + ". " + hint
	}
	return text
}
