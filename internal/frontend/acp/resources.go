package acp

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl"
)

// The resources that an editor provides to a session: its open files and its MCP
// servers.

// Server is an MCP server that the editor provides.
type Server struct {
	Name      string
	Transport string // stdio, http or sse; others are not supported
	Command   string
	Args      []string
	Env       map[string]string
	URL       string
	Headers   map[string]string
}

// registerBuffers makes the editor's unsaved files visible to the session's tools, if
// the editor supports reading them.
func (a *agent) registerBuffers(id pawl.SessionID) *buffers {
	if a.Buffers == nil || !a.editor.reads() {
		return nil
	}
	b := &buffers{id: id, editor: a.editor, seen: &a.seen, now: time.Now}
	a.Buffers(id, b)
	return b
}

// useServers makes the session use the editor's MCP servers. It returns notes for the
// user.
func (a *agent) useServers(ctx context.Context, id pawl.SessionID, dir string, servers []Server) []string {
	if a.Servers == nil {
		return nil
	}
	return a.Servers(ctx, id, dir, servers)
}

// release unregisters what the editor provides to a session.
func (a *agent) release(ctx context.Context, s *session) {
	if s.buffers != nil {
		a.Buffers(s.id, nil)
	}
	if a.Servers != nil {
		a.Servers(ctx, s.id, s.dir, nil)
	}
}
