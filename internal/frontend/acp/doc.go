// Package acp connects editors over the Agent Client Protocol (ACP): JSON-RPC, one
// message per line, on standard input and output. It uses only pawl.Service; only
// sdk.go and sdk_values.go use the protocol's SDK.
package acp

// Limits of a connection.
const (
	maxLine     = 8 << 20   // bytes of one message; the SDK closes the connection at 10 MiB
	maxAttached = 256 << 10 // bytes of a linked file that are put in a prompt
	maxLines    = 10_000    // lines of it that are requested from the editor
	maxOutput   = 8 << 10   // bytes of a running command's output that are shown, from its end
	maxRaw      = 64 << 10  // bytes of a call's input that are passed on
	maxTitle    = 120       // characters of a call's title
	maxRule     = 160       // characters of a rule in an option's name; longer ones are only in the text
	listedPage  = 100       // sessions per page of session/list
)
