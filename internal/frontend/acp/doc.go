// Package acp lets an editor work with pawl over the Agent Client Protocol: one
// JSON message a line, on standard input and output. It knows pawl.Service and
// nothing behind it; the protocol's library is known to sdk.go and
// sdk_values.go alone.
package acp

// The bounds of a connection.
const (
	maxLine     = 8 << 20   // bytes of one message; the library ends the connection at 10 MiB
	maxAttached = 256 << 10 // bytes of a linked file that go into a prompt
	maxLines    = 10_000    // lines of it that the editor is asked for
	maxOutput   = 8 << 10   // bytes of a running command's output that are shown: its end
	maxRaw      = 64 << 10  // bytes of a call's input that are handed on as they are
	maxTitle    = 120       // characters of a call's title
	maxRule     = 160       // characters of a rule in the name of an option; a longer one stands in the text alone
	listedPage  = 100       // sessions of one answer to session/list
)
