package app

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// What an editor lends to sessions: what it has open, and its MCP servers.

// EditorBuffers are what sessions have open in an editor.
type EditorBuffers struct{ sessions sync.Map }

// set says what a session has open; nil means nothing any more.
func (o *EditorBuffers) Set(id pawl.SessionID, b toolapi.Buffers) {
	if b == nil {
		o.sessions.Delete(id)
		return
	}
	o.sessions.Store(id, b)
}

// of returns what a session has open, or nil.
func (o *EditorBuffers) Get(id pawl.SessionID) toolapi.Buffers {
	if b, ok := o.sessions.Load(id); ok {
		return b.(toolapi.Buffers)
	}
	return nil
}

// UseEditorServers has a session use the MCP servers that an editor hands over, and no others
// that it was lent before. They count as the user's own: the editor is the user's
// program. What is wrong with one is told, and it is left out. told is that the
// user has named the directory trusted.
func (s *MCPServers) UseEditorServers(ctx context.Context, id pawl.SessionID, dir string, told bool, list []mcpclient.Server) (notes []string) {
	var servers []mcpclient.Server
	if len(list) > 0 {
		servers, notes = s.editorServers(ctx, dir, told, list)
	}
	s.mu.Lock()
	own := s.editors[id]
	if own == nil && len(servers) > 0 && s.editors != nil {
		own = s.Extend()
		s.editors[id] = own
	}
	s.mu.Unlock()
	if own == nil {
		return notes
	}
	if err := own.Start(dir, servers); err != nil {
		notes = append(notes, "The editor's MCP servers are not used: "+err.Error())
	}
	return notes
}

// editorServers are those of an editor's servers that can be used in a directory.
func (s *MCPServers) editorServers(ctx context.Context, dir string, told bool, list []mcpclient.Server) (servers []mcpclient.Server, notes []string) {
	configured, _, err := MCPServersOf(ctx, s.guard, dir, told)
	if err != nil {
		return nil, []string{fmt.Sprintf("The editor's MCP servers are not used: %v", err)}
	}
	for _, l := range list {
		Secrets.AddHeaders(l.Name, l.Headers)
		Secrets.AddHeaders(l.Name, l.Env)
		server := editorServer(l)
		shown := fmt.Sprintf("The editor's MCP server %.40q", sanitize.Line(l.Name))
		same := func(name string) bool { return name == server.Name }
		switch err := server.Check(); {
		case slices.ContainsFunc(configured, func(e MCPServer) bool { return same(e.Name) }):
			notes = append(notes, fmt.Sprintf("%s is not used: pawl's configuration has one of that name (%s).", shown, server.Name))
			continue
		case slices.ContainsFunc(servers, func(o mcpclient.Server) bool { return same(o.Name) }):
			notes = append(notes, fmt.Sprintf("%s is not used: the editor has another that is called %s here: rename it there.", shown, server.Name))
			continue
		case err != nil:
			notes = append(notes, fmt.Sprintf("%s is not used: %s.", shown, sanitize.Line(err.Error())))
			continue
		case server.Name != l.Name:
			notes = append(notes, fmt.Sprintf("%s is called %s here.", shown, server.Name))
		}
		servers = append(servers, server)
	}
	return servers, notes
}

// editorServer is an editor's server as one of the user's own. It may be on this
// machine, without TLS, if its address says so by itself.
func editorServer(l mcpclient.Server) mcpclient.Server {
	return mcpclient.Server{
		Name: editorServerName(l.Name), Transport: l.Transport, Command: l.Command, Args: l.Args, Env: l.Env, Unsandboxed: true,
		URL: l.URL, Headers: l.Headers, Local: onThisMachine(l.URL),
	}
}

// onThisMachine reports whether an address names this very machine.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

var invalidInName = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// editorServerName is a server's name as names are here. Editors let people write any, and
// give long ones themselves.
func editorServerName(name string) string {
	if (mcpclient.Server{Name: name, Transport: mcpclient.Stdio, Command: "x"}).Check() == nil {
		return name
	}
	name = strings.Trim(invalidInName.ReplaceAllString(name, "-"), "-")
	return strings.TrimRight(name[:min(len(name), mcpclient.MaxServerName)], "-")
}

// of returns the servers of a session: those of its directory, and those that it is
// lent.
func (s *MCPServers) of(id pawl.SessionID) *mcpclient.Servers {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.editors[id]; own != nil {
		return own
	}
	return s.Servers
}

// Close ends all servers.
func (s *MCPServers) Close() {
	s.mu.Lock()
	lent := s.editors
	s.editors = nil
	s.mu.Unlock()
	for _, own := range lent {
		own.Close()
	}
	s.Servers.Close()
}
