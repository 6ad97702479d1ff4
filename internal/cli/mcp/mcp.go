// Package mcp has the commands below 'pawl mcp'.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/trust"
)

// Command returns 'pawl mcp' with its subcommands.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Look at MCP servers, add and test them, and be one",
		Long: `Look at the MCP servers whose tools the model can use, add and test them, log in to
them. 'pawl mcp serve' is the other way round: it offers pawl to other agents.`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(mcpListCommand(), mcpTestCommand(), mcpAddCommand(), mcpAddJSONCommand(), mcpRemoveCommand(), mcpEnableCommand(), mcpDisableCommand(),
		mcpLoginCommand(), mcpLogoutCommand(), mcpToolsCommand(), mcpPromptsCommand(), mcpResourcesCommand(), mcpServeCommand())
	return cmd
}

// localServers are the MCP servers of the directory that pawl was started in. None runs.
type localServers struct {
	*mcpclient.Servers
	guard     *policy.Safety
	dir       string
	entries   []app.MCPServer
	untrusted int      // entries that the directory brings and that count for nothing
	faults    []string // what is wrong with configurations
}

// openServers reads what is configured. Nothing is started by it.
func openServers(ctx context.Context) (*localServers, error) {
	if _, err := app.LoadUser(); err != nil { // what it has from variables is a secret from then on
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

// Close ends the servers, and takes away what their sandboxes have left in the directory.
func (h *localServers) Close() {
	h.Servers.Close()
	h.guard.Close()
}

// countUntrusted says how many servers the directory would bring if it were trusted.
func (h *localServers) countUntrusted(ctx context.Context) error {
	guard, err := policy.Open() // apart: what it is told here counts for nothing else
	if err != nil {
		return err
	}
	entries, _, err := app.MCPServersOf(ctx, guard, h.dir, true)
	if err != nil {
		h.faults = append(h.faults, fmt.Sprintf("what this folder brings cannot be read: %v", err))
	}
	for _, e := range entries {
		if e.Project {
			h.untrusted++
		}
	}
	return nil
}

// hint says what to do about servers that do not count.
func (h *localServers) hint() string {
	if h.untrusted == 0 {
		return ""
	}
	return fmt.Sprintf("MCP servers of this folder that count for nothing until you trust it: %d ('pawl trust' shows what it brings)", h.untrusted)
}

// find returns the server of that name.
func (h *localServers) find(name string) (app.MCPServer, error) {
	if i := slices.IndexFunc(h.entries, func(e app.MCPServer) bool { return e.Name == name }); i >= 0 {
		return h.entries[i], nil
	}
	next := "'pawl mcp list' shows those that there are"
	if h.untrusted > 0 {
		next += "; " + h.hint()
	}
	return app.MCPServer{}, fmt.Errorf("there is no MCP server %.40q here: %s: %w", name, next, pawl.ErrNotFound)
}

// selected returns the servers of these names; without any, all that are not disabled.
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

// notReadyError is the end of a command some of whose servers did not come up. What is
// the matter has been said.
func notReadyError(n int) error {
	if n == 0 {
		return nil
	}
	return &cli.ExitError{Code: cli.ExitFailed, Err: errors.New("not all servers are ready: 'pawl mcp test NAME' says more")}
}
