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

// EditorBuffers holds the unsaved editor buffers of each session.
type EditorBuffers struct{ sessions sync.Map }

// Set sets the buffers of a session; nil removes them.
func (o *EditorBuffers) Set(id pawl.SessionID, b toolapi.Buffers) {
	if b == nil {
		o.sessions.Delete(id)
		return
	}
	o.sessions.Store(id, b)
}

// Get returns the buffers of a session, or nil.
func (o *EditorBuffers) Get(id pawl.SessionID) toolapi.Buffers {
	if b, ok := o.sessions.Load(id); ok {
		return b.(toolapi.Buffers)
	}
	return nil
}

// UseEditorServers makes a session use the MCP servers of an editor, in place of those that the
// editor passed before. They are trusted like the user's own servers. Servers that cannot be used
// are skipped, with a note for each. trusted means that the user has passed --trust.
func (s *MCPServers) UseEditorServers(ctx context.Context, id pawl.SessionID, dir string, trusted bool, list []mcpclient.Server) (notes []string) {
	var servers []mcpclient.Server
	if len(list) > 0 {
		servers, notes = s.editorServers(ctx, dir, trusted, list)
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

// editorServers returns the editor's servers that can be used in a directory, and notes about
// those that are skipped or renamed.
func (s *MCPServers) editorServers(ctx context.Context, dir string, trusted bool, list []mcpclient.Server) (servers []mcpclient.Server, notes []string) {
	configured, _, err := MCPServersOf(ctx, s.guard, dir, trusted)
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
			notes = append(notes, fmt.Sprintf("%s is not used: Pawl's configuration has a server with the same name (%s).", shown, server.Name))
			continue
		case slices.ContainsFunc(servers, func(o mcpclient.Server) bool { return same(o.Name) }):
			notes = append(notes, fmt.Sprintf("%s is not used: the editor has another server that Pawl calls %s. Rename one of them in the editor.", shown, server.Name))
			continue
		case err != nil:
			notes = append(notes, fmt.Sprintf("%s is not used: %s.", shown, sanitize.Line(err.Error())))
			continue
		case server.Name != l.Name:
			notes = append(notes, fmt.Sprintf("%s is called %s in Pawl.", shown, server.Name))
		}
		servers = append(servers, server)
	}
	return servers, notes
}

// editorServer returns the configuration of an editor's server. TLS is optional for a server on a
// loopback address.
func editorServer(l mcpclient.Server) mcpclient.Server {
	return mcpclient.Server{
		Name: editorServerName(l.Name), Transport: l.Transport, Command: l.Command, Args: l.Args, Env: l.Env, Unsandboxed: true,
		URL: l.URL, Headers: l.Headers, Local: isLoopback(l.URL),
	}
}

// isLoopback reports whether the host of a URL is localhost or a loopback address.
func isLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

var invalidInName = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// editorServerName returns a valid name for an editor's server. Editors allow any name.
func editorServerName(name string) string {
	if (mcpclient.Server{Name: name, Transport: mcpclient.Stdio, Command: "x"}).Check() == nil {
		return name
	}
	name = strings.Trim(invalidInName.ReplaceAllString(name, "-"), "-")
	return strings.TrimRight(name[:min(len(name), mcpclient.MaxServerName)], "-")
}

// of returns the MCP servers of a session: those of its directory and of its editor.
func (s *MCPServers) of(id pawl.SessionID) *mcpclient.Servers {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.editors[id]; own != nil {
		return own
	}
	return s.Servers
}

// Close stops all servers.
func (s *MCPServers) Close() {
	s.mu.Lock()
	editors := s.editors
	s.editors = nil
	s.mu.Unlock()
	for _, own := range editors {
		own.Close()
	}
	s.Servers.Close()
}
