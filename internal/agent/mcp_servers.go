package agent

import (
	"cmp"
	"context"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// Servers gives access to the tools of MCP servers. keep reports by name which tools a
// turn may use; for "mcp__server" it reports whether any tool of that server may be used.
// A session may have servers besides those of its project; its subagents have them too.
type Servers interface {
	// Tools returns the tools that the servers offer now. It does not wait for servers.
	Tools(id pawl.SessionID, dir string, keep func(name string) bool) []toolapi.Tool
	// Tool returns the tool of that name, even if it is not offered right now: the model
	// may know it from before. It waits briefly for a server that is starting.
	Tool(ctx context.Context, id pawl.SessionID, dir, name string, keep func(name string) bool) (toolapi.Tool, bool)
	// Notes returns messages about the servers for the user, each once.
	Notes(id pawl.SessionID, dir string) []string
}

// rootSession returns the session that the user sees: the parent's for a subagent.
func (j *journal) rootSession() pawl.SessionID {
	return cmp.Or(j.history.Created().Parent, j.id)
}

// reportServers shows the user what is wrong with MCP servers.
func (s *Stepper) reportServers(j *journal, turn int) {
	if s.Servers == nil {
		return
	}
	for _, text := range s.Servers.Notes(j.rootSession(), j.history.Created().Dir) {
		s.notice(j, turn, text)
	}
}
