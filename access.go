package pawl

import "fmt"

// AccessKind says how a call touches something.
type AccessKind string

// The kinds of access.
const (
	AccessRead   AccessKind = "read"   // a path is read
	AccessWrite  AccessKind = "write"  // a path is created, changed or removed
	AccessExec   AccessKind = "exec"   // a command is run
	AccessEscape AccessKind = "escape" // a command is run outside of the sandbox: beside its exec
	AccessNet    AccessKind = "net"    // a host is reached
	AccessMCP    AccessKind = "mcp"    // a tool of an MCP server is called: server/tool@fingerprint
)

// Access is one thing that a call would touch. One vocabulary serves the
// permission rules, the question shown to a person, the sandbox and the audit log.
type Access struct {
	Kind   AccessKind `json:"kind"`
	Target string     `json:"target"` // a path, a command line, a host or a server's tool
}

func (a Access) String() string { return fmt.Sprintf("%s %s", a.Kind, a.Target) }
