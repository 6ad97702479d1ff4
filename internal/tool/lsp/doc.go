// Package lsp asks language servers what is wrong with the files of a
// workspace.
//
// A server is another program, and it reads a project that may be hostile. So
// nothing that it does, or fails to do, holds up the caller beyond its context:
// all that comes from it is bounded, and a server that breaks the protocol is
// ended and counted as crashed.
package lsp

import "time"

// The bounds of what a server may take.
const (
	messageBytes  = 32 << 20 // the largest message that is read
	headerBytes   = 4 << 10  // the longest line of a header
	headerLines   = 16       // before a message
	idBytes       = 100      // of a request's id, or a piece of work's
	pathBytes     = 4 << 10  // of a file's path
	floodBytes    = 64 << 20 // that a server may send without being asked again
	pendingCalls  = 256      // requests that wait for a reply
	queuedSends   = 16       // messages that wait to be written
	queuedReplies = 1024     // replies to its requests that wait to be written
	stderrBytes   = 2 << 10  // of its log, to say why it did not start

	textBytes    = 4 << 20 // the largest file that is sent to a server
	openDocs     = 32      // documents open at a time; the one longest unused is closed
	checkPaths   = 20      // files that one Check opens
	keptFiles    = 500     // files whose faults are kept
	keptFaults   = 50      // faults that are kept of one file, errors first
	messageChars = 500     // of a fault's message
	openWork     = 64      // pieces of work that it says it is at

	scanFiles    = 50_000                 // entries of a directory that are looked at for changes
	scanTime     = 300 * time.Millisecond // for the same
	scanFailures = 3                      // looks that were too much, until there are no more
)

// The bounds of a server's life.
const (
	maxServers  = 8                // that run at a time; the one longest unused is ended
	maxEntries  = 256              // servers that are remembered, running or not
	maxRestarts = 3                // of a crashed server before it is left alone for restTime
	startTime   = 30 * time.Second // until it must have answered the first request
	restTime    = 10 * time.Minute // until a server that failed is tried again
	idleTime    = 10 * time.Minute // until a server that nobody asks is ended
	hangTime    = 5 * time.Minute  // of silence with a question open, until it counts as crashed
	endGrace    = time.Second      // from the request to end until it is killed
)

// How long a server is listened to before its faults count as complete.
const (
	settleTime  = 100 * time.Millisecond  // after an answer for the version asked about: faults of other files follow at once
	quietTime   = 400 * time.Millisecond  // after an answer that does not say for which version it is
	silenceTime = 1500 * time.Millisecond // without any answer, from a server that has answered before and is not at work
	othersTime  = time.Second             // for the other open documents, when each must be asked about
)
