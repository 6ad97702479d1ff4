package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/service/project"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/workspace/isolate"
)

// newProjects returns the component that answers front ends' questions about directories.
func newProjects(guard *policy.Safety, st store.Store, servers *MCPServers, known *catalogCache) (*project.Local, error) {
	p, err := ExtensionPlaces(guard)
	if err != nil {
		return nil, err
	}
	return project.New(project.Config{
		Safety: guard, Places: p, Store: st, Servers: projectServers{servers}, Mask: Secrets.Reader,
		Catalog: known.get,
		HasKey: func(p catalog.Provider) bool {
			c, err := known.get()
			return err == nil && c.HasKey(p)
		},
	}), nil
}

// useSessions makes the projects answer about the files of sessions.
func (b *builder) useSessions(stepper *agent.Stepper) error {
	views, err := config.Isolated()
	if err != nil {
		return err
	}
	b.Projects.Sessions = project.Sessions{Policy: b.authority().Policy, Changes: stepper.Changes, Sees: isolate.Store{Dir: views}.Sees}
	if snapshots, ok := b.agent.Snapshots.(project.Snapshots); ok {
		b.Projects.Sessions.Snapshots = snapshots
	}
	return nil
}

// projectServers provides the MCP servers of this process to package project.
type projectServers struct{ *MCPServers }

var _ project.Servers = projectServers{}

// Status returns the state of a directory's servers. It starts none.
func (s projectServers) Status(ctx context.Context, dir string) ([]pawl.ServerInfo, []string) {
	entries, faults, err := MCPServersOf(ctx, s.guard, dir, false)
	if err != nil {
		return nil, []string{fmt.Sprintf("MCP servers: %v", err)}
	}
	for i, fault := range faults {
		faults[i] = "MCP servers: " + fault
	}
	running := s.Servers.Status(dir)
	var list []pawl.ServerInfo
	for _, e := range entries {
		info := pawl.ServerInfo{Name: e.Name, Origin: originOf(e)}
		if e.Disabled {
			info.State = string(mcpclient.Disabled)
		}
		if i := slices.IndexFunc(running, func(r mcpclient.Status) bool { return r.Name == e.Name }); i >= 0 {
			info.State, info.Tools = string(running[i].State), len(running[i].Tools)
			info.Why = sanitize.Line(Secrets.Redact(running[i].Why))
		}
		list = append(list, info)
	}
	return list, faults
}

// States returns the state of a directory's servers, and problems of their configuration. It starts
// none.
func (s *MCPServers) States(ctx context.Context, dir string) ([]pawl.ServerInfo, []string) {
	return projectServers{s}.Status(ctx, dir)
}

func originOf(e MCPServer) string {
	if e.Project {
		return "project"
	}
	return "user"
}

// Commands returns the prompts of running servers as commands.
func (s projectServers) Commands(dir string) []pawl.CommandInfo {
	var list []pawl.CommandInfo
	for _, p := range s.Prompts(dir) {
		var args []string
		for _, a := range p.Arguments {
			if a.Required {
				args = append(args, "<"+a.Name+">")
			} else {
				args = append(args, "["+a.Name+"]")
			}
		}
		list = append(list, pawl.CommandInfo{
			Name: p.Command(), Description: sanitize.Line(p.Description), Arguments: sanitize.Line(strings.Join(args, " ")), Origin: "MCP server " + p.Server,
		})
	}
	return list
}

// Prompt replaces the first part of p with the server's prompt that name refers to. It reports
// whether there is one.
func (s projectServers) Prompt(ctx context.Context, dir, name, args string, p *pawl.Prompt) (bool, error) {
	return s.prompt(ctx, dir, name, args, p.Trusted, p)
}

// Attach adds the documents that words refers to as @server:uri to p. It returns a note for each
// document that cannot be read.
func (s projectServers) Attach(ctx context.Context, dir, words string, p *pawl.Prompt) []string {
	return s.attach(ctx, dir, words, p.Trusted, p)
}
