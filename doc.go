// Package pawl is the vocabulary of Pawl, a coding agent that only moves forward.
//
// Four sentences explain the whole program:
//
//  1. All that happens is an [Event] in one append-only, numbered log per session.
//  2. The prompt, the screen and the restart are three readers of that log.
//  3. The loop decides; every effect is a step that it is given.
//  4. Front ends know one [Service] and one event stream, nothing else.
//
// This package holds types and small interfaces, uses the standard library
// only and does no I/O. docs/architecture.md shows the rooms that are built on it.
package pawl
