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

// MCPServers are the MCP servers of this process. Those of a directory are started
// when a turn begins there, or when a person asks for a prompt or a document of
// theirs; a command that only looks starts none.
type MCPServers struct {
	*mcpclient.Servers
	guard *policy.Safety

	mu       sync.Mutex
	editors  map[pawl.SessionID]*mcpclient.Servers // by an editor; nil once they are closed
	reported map[string]bool                       // faults of configurations that a person was told
	pending  map[string][]string                   // those that they are yet to be told, by directory
}

var _ agent.Servers = (*MCPServers)(nil)

// newMCPServers returns the servers, none of which runs.
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

// useMCPServers has the servers of a directory start when a turn begins in it, and
// gives the turn their tools. The turn does not wait for them.
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

// startAll starts the servers of a directory, and no others. What is wrong with them is
// told: a session works without. told is that the user has named the directory
// trusted.
func (s *MCPServers) startAll(ctx context.Context, dir string, told bool) {
	entries, faults, err := MCPServersOf(ctx, s.guard, dir, told)
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

// Tool returns the tool of that name, of one of a session's servers.
func (s *MCPServers) Tool(ctx context.Context, id pawl.SessionID, dir, name string, keep func(name string) bool) (toolapi.Tool, bool) {
	return s.of(id).Tool(ctx, dir, name, keep)
}

// Notes returns what a person is to be told of the servers and of what configures
// them, each once.
func (s *MCPServers) Notes(id pawl.SessionID, dir string) []string {
	s.mu.Lock()
	notes := s.pending[dir]
	delete(s.pending, dir)
	s.mu.Unlock()
	return append(notes, s.of(id).Notes(dir)...)
}
