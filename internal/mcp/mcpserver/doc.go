// Package mcpserver offers pawl to other programs as an MCP server: to run a turn,
// to list sessions, and to read one. It is a front end like any other.
//
// The host, and the model that it works for, are not the user. What they may ask
// for is what the user has said when the server was started: the directories, the
// mode, the model. A request can choose less of it and never more.
package mcpserver

import "time"

// The bounds of what a host may ask for, and of what it is told.
const (
	messageBytes  = 8 << 20          // the largest message that is read
	maxTurns      = 8                // that run at once for a host
	cancelWait    = 10 * time.Second // until a canceled turn must have ended
	progressChars = 200              // of a word on how far it is
	askBytes      = 16 << 10         // of what a person is asked: they must see all of it
	listed        = 20               // sessions of a list, unless it is asked for more
	maxListed     = 100              // the most of that
	pageSessions  = 500              // that are looked at at a time
	maxPages      = 20               // of those
	readBytes     = 100 << 10        // of a conversation that is told at once
	partChars     = 4000             // of a message, a call's input or its result
)
