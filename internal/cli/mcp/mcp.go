// Package mcp implements 'pawl mcp' and its subcommands.
package mcp

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/trust"
	"github.com/pawl-dev/pawl/internal/suggest"
)

// Command returns 'pawl mcp' with its subcommands.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Manage MCP servers, or run Pawl as one",
		Long: `Manage the MCP servers whose tools the agent can use: list, add, test and log in.
'pawl mcp serve' does the opposite: it runs Pawl as an MCP server for other agents.`,
		Example: `  pawl mcp list
  pawl mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/docs
  pawl mcp test files`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(mcpListCommand(), mcpTestCommand(), mcpAddCommand(), mcpAddJSONCommand(), mcpRemoveCommand(), mcpEnableCommand(), mcpDisableCommand(),
		mcpLoginCommand(), mcpLogoutCommand(), mcpToolsCommand(), mcpPromptsCommand(), mcpResourcesCommand(), mcpServeCommand())
	return cmd
}

// localServers holds the MCP servers that are configured for the working directory. None of them is running.
type localServers struct {
	*mcpclient.Servers
	guard     *policy.Safety
	dir       string
	entries   []app.MCPServer
	untrusted int      // number of project servers that are inactive because the project is not trusted
	faults    []string // problems of the configuration
}

// openServers reads the configuration. It starts no server.
func openServers(ctx context.Context) (*localServers, error) {
	if _, err := app.LoadUser(); err != nil { // registers the values of its variables as secrets
		return nil, err
	}
	guard, err := policy.Open()
	if err != nil {
		return nil, err
	}
	h := &localServers{guard: guard}
	if h.dir, err = app.WorkingDir(); err != nil {
		return nil, err
	}
	keys, err := app.OpenKeys()
	if err != nil {
		return nil, err
	}
	h.Servers = mcpclient.New(mcpclient.Config{Sandbox: guard.WrapTools, Guard: guard.Guard, Tokens: app.MCPTokens(keys)})
	if h.entries, h.faults, err = app.MCPServersOf(ctx, guard, h.dir, false); err != nil {
		return nil, err
	}
	for _, e := range h.entries {
		app.Secrets.AddHeaders(e.Name, e.Headers)
		app.Secrets.AddHeaders(e.Name, e.Env)
	}
	folder, _, err := guard.Project(ctx, h.dir, false)
	if err == nil && folder.State != trust.Trusted {
		err = h.countUntrusted(ctx)
	}
	return h, err
}

// Close stops the servers and removes the files that their sandboxes left in the working directory.
func (h *localServers) Close() {
	h.Servers.Close()
	h.guard.Close()
}

// countUntrusted counts the servers that would become active if the user trusted the project.
func (h *localServers) countUntrusted(ctx context.Context) error {
	guard, err := policy.Open() // a separate instance, so that trusting the project here does not affect h.guard
	if err != nil {
		return err
	}
	entries, _, err := app.MCPServersOf(ctx, guard, h.dir, true)
	if err != nil {
		h.faults = append(h.faults, fmt.Sprintf("cannot read the project configuration: %v", err))
	}
	for _, e := range entries {
		if e.Project {
			h.untrusted++
		}
	}
	return nil
}

// hint returns a message about untrusted servers, or "" if all servers are trusted.
func (h *localServers) hint() string {
	if h.untrusted == 0 {
		return ""
	}
	return fmt.Sprintf("this project has %s, inactive until you trust it. Run `pawl trust`.", humanize.Plural(h.untrusted, "MCP server"))
}

// find returns the server with the given name.
func (h *localServers) find(name string) (app.MCPServer, error) {
	if i := slices.IndexFunc(h.entries, func(e app.MCPServer) bool { return e.Name == name }); i >= 0 {
		return h.entries[i], nil
	}
	var names []string
	for _, e := range h.entries {
		names = append(names, e.Name)
	}
	if similar := suggest.Quoted("", name, names); similar != "" {
		return app.MCPServer{}, fault.New(pawl.ErrNotFound, "MCP server %.40q not found", name).Hint("Did you mean %s?", similar)
	}
	if h.untrusted > 0 {
		return app.MCPServer{}, fault.New(pawl.ErrNotFound, "MCP server %.40q not found", name).
			Hint("This project has %s, inactive until you trust it. Run `pawl trust`.", humanize.Plural(h.untrusted, "MCP server"))
	}
	return app.MCPServer{}, fault.New(pawl.ErrNotFound, "MCP server %.40q not found", name).Hint("Run `pawl mcp list` to see all servers.")
}

// selected returns the named servers, or all enabled ones if names is empty.
func (h *localServers) selected(names []string) (list []app.MCPServer, err error) {
	for _, name := range names {
		e, err := h.find(name)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	for _, e := range h.entries {
		if len(names) == 0 && !e.Disabled {
			list = append(list, e)
		}
	}
	return list, nil
}

// notReadyError returns the ExitError of a command for which n servers did not start, or nil if n is 0. The caller has
// printed the reasons.
func notReadyError(n int) error {
	if n == 0 {
		return nil
	}
	return &cli.ExitError{Code: cli.ExitFailed, Err: fault.New(pawl.ErrUnavailable, "%s not ready", humanize.Plural(n, "MCP server")).Hint("Run `pawl mcp test NAME` to see why.")}
}
