// Package pawl is the API of Pawl, a coding agent that records every step before it
// takes the next one.
//
// Four rules explain the whole program:
//
//  1. Everything that happens is an [Event] in one append-only, numbered log per session.
//  2. The model's prompt, the screen and crash recovery are three readers of that log.
//  3. The loop only decides. Every effect is a step that the loop is given.
//  4. Front ends use one [Service] and one event stream, nothing else.
//
// A client gets a Service, in this process or over HTTP (package client), creates a
// [Session], sends a [Prompt], and follows the session with Service.Events. Each
// event has a [Body] that says what happened: the model replied, a tool call
// started, the user is asked something. An [Asked] event waits for Service.Answer.
//
// The log is the only state. [Conversation] folds it into messages as the model
// sees them, and [Fold] into a [History]: the conversation, the open turn, the todo
// list and the mission.
//
// Errors wrap one of [ErrInvalid], [ErrNotFound], [ErrConflict], [ErrBusy],
// [ErrDenied] and [ErrUnavailable]; [CodeOf] returns the class of an error.
//
// The package contains types and small functions. It does no I/O.
// docs/architecture.md describes the packages that are built on it, docs/events.md
// every event.
package pawl
