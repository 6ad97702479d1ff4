// Package lsp is a client of language servers (LSP). It starts them and
// reports their diagnostics of the files of a workspace.
//
// A server is another program, and it reads a project that may be hostile. So
// nothing that it does, or fails to do, blocks the caller beyond its context:
// everything that comes from it is bounded, and a server that breaks the
// protocol is killed and counts as crashed.
package lsp

import "time"

// The limits of the input from a server.
const (
	messageBytes  = 32 << 20 // the largest message that is read
	headerBytes   = 4 << 10  // the longest line of a header
	headerLines   = 16       // before a message
	idBytes       = 100      // of the id of a request or a progress token
	pathBytes     = 4 << 10  // of a file's path
	floodBytes    = 64 << 20 // bytes that a server may send between two requests
	pendingCalls  = 256      // requests without a response
	queuedSends   = 16       // messages waiting to be written
	queuedReplies = 1024     // responses to its requests waiting to be written
	stderrBytes   = 2 << 10  // bytes of its log, for the error if it does not start

	textBytes    = 4 << 20 // the largest file that is sent to a server
	openDocs     = 32      // documents open at a time; the least recently used is closed
	checkPaths   = 20      // files that one Check opens
	keptFiles    = 500     // files whose diagnostics are kept
	keptFaults   = 50      // diagnostics kept of one file, errors first
	messageChars = 500     // characters of a diagnostic's message
	openWork     = 64      // progress tokens of a server

	scanFiles    = 50_000                 // directory entries that are examined for changes
	scanTime     = 300 * time.Millisecond // time for the same
	scanFailures = 3                      // scans that exceed these limits before scanning stops
)

// The limits of a server's lifetime.
const (
	maxServers  = 8                // servers that run at a time; the least recently used is ended
	maxEntries  = 256              // servers that are remembered, running or not
	maxRestarts = 3                // restarts of a crashed server before it is not tried for restTime
	startTime   = 30 * time.Second // time to answer the first request
	restTime    = 10 * time.Minute // time before a failed server is tried again
	idleTime    = 10 * time.Minute // time after which an unused server is ended
	hangTime    = 5 * time.Minute  // silence after a request, after which it counts as crashed
	endGrace    = time.Second      // time from the shutdown request until it is killed
)

// How long to wait for further diagnostics until they count as complete.
const (
	settleTime  = 100 * time.Millisecond  // after an answer for the requested version: diagnostics of other files follow at once
	quietTime   = 400 * time.Millisecond  // after an answer that names no version
	silenceTime = 1500 * time.Millisecond // without any answer, for a server that has answered before and is not working
	othersTime  = time.Second             // for the other open documents, if each must be requested
)
