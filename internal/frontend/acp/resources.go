package acp

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl"
)

// What an editor lends to a session: what it has open, and its MCP servers.

// Server is an MCP server that the editor hands over.
type Server struct {
	Name      string
	Transport string // stdio, http or sse; another cannot be used
	Command   string
	Args      []string
	Env       map[string]string
	URL       string
	Headers   map[string]string
}

// lend has a session's calls see what is open in the editor, if the editor can
// tell.
func (a *agent) registerBuffers(id pawl.SessionID) *buffers {
	if a.Buffers == nil || !a.editor.reads() {
		return nil
	}
	b := &buffers{id: id, editor: a.editor, seen: &a.seen, now: time.Now}
	a.Buffers(id, b)
	return b
}

// serve has a session use the editor's MCP servers, and says what is to be known
// of them.
func (a *agent) useServers(ctx context.Context, row pawl.Session, servers []Server) []string {
	if a.Servers == nil {
		return nil
	}
	return a.Servers(ctx, row.ID, row.Dir, servers)
}

// takeBack ends what the editor has lent to a session.
func (a *agent) release(ctx context.Context, s *session) {
	if s.buffers != nil {
		a.Buffers(s.id, nil)
	}
	if a.Servers != nil {
		a.Servers(ctx, s.id, s.dir, nil)
	}
}
