package pawl

import "fmt"

// AccessKind is what a tool call does with a resource.
type AccessKind string

// The kinds of access.
const (
	AccessRead   AccessKind = "read"   // reads a path
	AccessWrite  AccessKind = "write"  // creates, changes or removes a path
	AccessExec   AccessKind = "exec"   // runs a command
	AccessEscape AccessKind = "escape" // runs a command outside the sandbox; listed in addition to its exec
	AccessNet    AccessKind = "net"    // connects to a host
	AccessMCP    AccessKind = "mcp"    // calls a tool of an MCP server: server/tool@fingerprint
	AccessSkill  AccessKind = "skill"  // installs skills: host/owner/repository
)

// Access is one resource that a tool call would use. Permission rules, permission
// prompts, the sandbox and the audit log all use this type.
type Access struct {
	Kind   AccessKind `json:"kind"`
	Target string     `json:"target"` // a path, a command line, a host or a server's tool
}

func (a Access) String() string { return fmt.Sprintf("%s %s", a.Kind, a.Target) }
