// Package mcpclient is a client of MCP servers: it starts or connects to them
// and offers their tools, prompts and resources.
//
// A server is untrusted. Its tool descriptions reach the model, so they are
// bounded, sanitized and fingerprinted: a tool whose description changes needs
// permission again. What a server sends is bounded too, and nothing that it
// does, or fails to do, blocks a turn.
package mcpclient

import "time"

// The limits of what a server sends.
const (
	messageBytes = 8 << 20  // the largest message that is read
	floodBytes   = 64 << 20 // bytes that a server may send between two requests
	floodLines   = 20_000   // messages that a server may send between two requests
	strayLines   = 200      // lines of its output that are not messages
	stderrBytes  = 4 << 10  // bytes of its log that are kept
	whyChars     = 300      // characters of an error
	faultsKept   = 50       // problems of its lists that are kept

	maxTools         = 200      // of a server
	maxPrompts       = 100      // likewise
	maxResources     = 500      // likewise
	maxPages         = 50       // of a list
	cursorBytes      = 4 << 10  // bytes of a page cursor
	nameBytes        = 128      // bytes of the server's name of a tool
	descriptionBytes = 1000     // of a tool's description
	briefBytes       = 300      // bytes of the description that are always sent to the model
	schemaBytes      = 16 << 10 // of a tool's schema
	schemaDepth      = 20       // nesting of a tool's schema
	uriBytes         = 2 << 10  // bytes of a resource's URI
	resultBytes      = 1 << 20  // bytes of the text of a result
	resultFiles      = 8        // images and documents of a result
	fileBytes        = 5 << 20  // bytes of each
	progressTexts    = 1000     // progress messages of a call
	progressChars    = 200      // characters of each
	askFields        = 6        // fields of a form for the user
	askOptions       = 8        // options of each
	askChars         = 1000     // characters of its message
	sessionAsks      = 50       // forms of a connection, answered or denied, before it is closed
	searchBytes      = 8 << 10  // bytes of a result of mcp_search
	searchDescribed  = 5        // tools that one result describes in full
)

// The limits of a server's lifetime.
const (
	maxServers   = 32               // of a directory
	startTime    = 30 * time.Second // time to start and list its tools
	waitTime     = 10 * time.Second // time that a call waits for starting servers
	callTime     = 60 * time.Second // default timeout of a call
	maxCallTime  = time.Hour        // longest timeout of a call
	maxFailures  = 5                // consecutive failures before it is not tried again
	firstPause   = time.Second      // before the next attempt; doubled each time
	longestPause = time.Minute      // longest time between attempts
	steadyTime   = time.Minute      // a connection that lasted this long resets the failures
	refreshPause = time.Second      // between two updates of its lists
	endGrace     = time.Second      // time from the request to end until it is killed
	maxRedirects = 10
)

// times are the durations that tests shorten.
type times struct{ start, wait, pause, steady, refresh time.Duration }
