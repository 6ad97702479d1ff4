package app

import (
	"context"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// MCPServers manages the MCP servers of this process. The servers of a directory start when a turn
// starts there, or when the user refers to one of their prompts or documents. Listing them starts
// none.
type MCPServers struct {
	*mcpclient.Servers
	guard *policy.Safety

	mu       sync.Mutex
	editors  map[pawl.SessionID]*mcpclient.Servers // sessions with servers of an editor; nil after Close
	reported map[string]bool                       // problems that Notes has returned
	pending  map[string][]string                   // problems that Notes has not returned yet, by directory
}

var _ agent.Servers = (*MCPServers)(nil)

// newMCPServers returns the MCP servers without starting any. taken reports whether a tool name is in use.
func newMCPServers(guard *policy.Safety, taken func(name string) bool) (*MCPServers, error) {
	keys, err := OpenKeys()
	if err != nil {
		return nil, err
	}
	return &MCPServers{
		Servers: mcpclient.New(mcpclient.Config{Sandbox: guard.WrapTools, Guard: guard.Guard, Tokens: MCPTokens(keys), Taken: taken}),
		guard:   guard, editors: map[pawl.SessionID]*mcpclient.Servers{}, reported: map[string]bool{}, pending: map[string][]string{},
	}, nil
}

// useMCPServers makes a turn start the servers of its directory and use their tools. The turn
// does not wait for them.
func useMCPServers(s *MCPServers, loop *agent.Config) {
	look := loop.Extensions
	loop.Servers = s
	loop.Extensions = func(ctx context.Context, dir string, settings pawl.Settings) (*extension.Found, error) {
		found, err := look(ctx, dir, settings)
		if err == nil {
			s.startAll(ctx, dir, settings.Trusted)
		}
		return found, err
	}
}

// startAll starts the configured servers of a directory and stops those that are no longer
// configured. Problems are not fatal; Notes reports them. trusted means that the user has passed
// --trust.
func (s *MCPServers) startAll(ctx context.Context, dir string, trusted bool) {
	entries, faults, err := MCPServersOf(ctx, s.guard, dir, trusted)
	if err == nil {
		var servers []mcpclient.Server
		for _, e := range entries {
			Secrets.AddHeaders(e.Name, e.Headers)
			Secrets.AddHeaders(e.Name, e.Env)
			servers = append(servers, e.Server)
		}
		err = s.Start(dir, servers)
	}
	if err != nil {
		faults = append(faults, err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fault := range faults {
		if !s.reported[fault] {
			s.reported[fault] = true
			s.pending[dir] = append(s.pending[dir], "MCP servers: "+fault)
		}
	}
}

// Tools returns the tools that a session's servers offer now.
func (s *MCPServers) Tools(id pawl.SessionID, dir string, keep func(name string) bool) []toolapi.Tool {
	return s.of(id).Tools(dir, keep)
}

// Tool returns the tool with the given name from a session's servers.
func (s *MCPServers) Tool(ctx context.Context, id pawl.SessionID, dir, name string, keep func(name string) bool) (toolapi.Tool, bool) {
	return s.of(id).Tool(ctx, dir, name, keep)
}

// Notes returns problems with the servers and their configuration, each once.
func (s *MCPServers) Notes(id pawl.SessionID, dir string) []string {
	s.mu.Lock()
	notes := s.pending[dir]
	delete(s.pending, dir)
	s.mu.Unlock()
	return append(notes, s.of(id).Notes(dir)...)
}
