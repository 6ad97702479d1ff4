// Package mcpserver offers Pawl as an MCP server to other programs (hosts):
// they can run a turn, list sessions, and read a session. It is a front end
// like any other.
//
// The host and its model are not the user. They can only use what the user
// allowed when starting the server: directories, permission mode, model. A
// request can choose less, never more.
package mcpserver

import "time"

// The limits of requests and results.
const (
	messageBytes  = 8 << 20          // the largest message that is read
	maxTurns      = 8                // turns that run at once
	cancelWait    = 10 * time.Second // to wait for the end of a canceled turn
	progressChars = 200              // characters of a progress message
	askBytes      = 16 << 10         // bytes of an ask: the user must see all of it
	listed        = 20               // default length of a list of sessions
	maxListed     = 100              // maximum length of a list of sessions
	pageSessions  = 500              // sessions that are read at a time
	maxPages      = 20               // pages of a list
	readBytes     = 100 << 10        // bytes of a conversation in one result
	partChars     = 4000             // characters of a message, a call's input or its result
)
