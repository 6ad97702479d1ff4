// Package mcpclient offers the tools of MCP servers as tools of pawl.
//
// A server is another's program, or another's machine. What it says of its
// tools reaches the model, so it is bounded, made visible and remembered: a
// tool that changes what it says of itself is asked for again. What it sends
// is bounded too, and nothing that it does, or fails to do, holds up a turn.
package mcpclient

import "time"

// The bounds of what a server may say.
const (
	messageBytes = 8 << 20  // the largest message that is read
	floodBytes   = 64 << 20 // that a server may send without being asked again
	floodLines   = 20_000   // likewise
	strayLines   = 200      // of its output that are no messages
	stderrBytes  = 4 << 10  // of its log that are kept
	whyChars     = 300      // of a reason
	faultsKept   = 50       // of what is wrong with its lists

	maxTools         = 200      // of a server
	maxPrompts       = 100      // likewise
	maxResources     = 500      // likewise
	maxPages         = 50       // of a list
	cursorBytes      = 4 << 10  // of a page's name
	nameBytes        = 128      // of a tool as the server has it
	descriptionBytes = 1000     // of a tool's description
	briefBytes       = 300      // of it that a model is always told
	schemaBytes      = 16 << 10 // of a tool's schema
	schemaDepth      = 20       // of the same
	uriBytes         = 2 << 10  // of a resource's name
	resultBytes      = 1 << 20  // of a result's text
	resultFiles      = 8        // images and documents of a result
	fileBytes        = 5 << 20  // of each
	progressTexts    = 1000     // of a call
	progressChars    = 200      // of each
	askFields        = 6        // of a form that a person is asked to fill in
	askOptions       = 8        // of each
	askChars         = 1000     // of its words
	sessionAsks      = 50       // of a connection, asked or declined, until it is ended
	searchBytes      = 8 << 10  // of an answer of mcp_search
	searchDescribed  = 5        // tools that one describes in full
)

// The bounds of a server's life.
const (
	maxServers   = 32               // of a directory
	startTime    = 30 * time.Second // until it must have told its tools
	waitTime     = 10 * time.Second // that a call waits for servers that start
	callTime     = 60 * time.Second // of a call, unless its entry says otherwise
	maxCallTime  = time.Hour        // the longest that an entry can say
	maxFailures  = 5                // in a row, until it is left alone
	firstPause   = time.Second      // before it is tried again; doubled each time
	longestPause = time.Minute      // the most of that
	steadyTime   = time.Minute      // a connection that held this long is no failure
	refreshPause = time.Second      // between two looks at its lists
	endGrace     = time.Second      // from the request to end until it is cut off
	maxRedirects = 10
)

// times are those that tests shorten.
type times struct{ start, wait, pause, steady, refresh time.Duration }
