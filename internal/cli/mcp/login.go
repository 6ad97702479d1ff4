package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// loginWait is how long 'pawl mcp login' waits for the user to log in.
const loginWait = 10 * time.Minute

func mcpLoginCommand() *cobra.Command {
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "login name",
		Short: "Log in to a remote MCP server in your browser",
		Long: `Log in to a remote MCP server with OAuth. Pawl opens your browser at the login page of the
server, and prints its URL as well. The token is saved in the system keyring or, on
systems without one, in keys.json in Pawl's data directory. It is sent only to that
server.

The browser must run on this machine, because it is redirected to Pawl at 127.0.0.1.`,
		Example: "  pawl mcp login tracker\n  pawl mcp login tracker --no-browser",
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := openServers(cmd.Context())
			if err != nil {
				return err
			}
			e, err := h.find(args[0])
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), loginWait, fmt.Errorf("login timed out after %s", loginWait))
			defer cancel()
			servers, err := loginServers(cmd.ErrOrStderr(), noBrowser)
			if err != nil {
				return err
			}
			if err := servers.Login(ctx, e.Server); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Logged in to %s.\n", e.Name)
			return err
		},
	}
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "print the URL without opening a browser")
	return cmd
}

// loginServers returns Servers whose Login prints the login URL to w and, unless noBrowser is set, opens it in a
// browser.
func loginServers(w io.Writer, noBrowser bool) (*mcpclient.Servers, error) {
	keys, err := app.OpenKeys()
	if err != nil {
		return nil, err
	}
	return mcpclient.New(mcpclient.Config{Tokens: app.MCPTokens(keys), Open: func(ctx context.Context, address string) error {
		fmt.Fprintf(w, "Open this URL to log in:\n  %s\n", sanitize.Line(address))
		if noBrowser {
			return nil
		}
		if err := mcpclient.OpenBrowser(ctx, address); err != nil {
			fmt.Fprintln(w, "Cannot open a browser. Open the URL yourself, on this machine.")
		}
		return nil
	}}), nil
}

func mcpLogoutCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "logout name",
		Short:   "Delete the login to an MCP server",
		Example: "  pawl mcp logout tracker\n  pawl mcp logout hub",
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := openServers(cmd.Context())
			if err != nil {
				return err
			}
			e, err := h.find(args[0])
			if err != nil {
				return err
			}
			err = h.Logout(e.Server)
			if errors.Is(err, pawl.ErrNotFound) {
				return fault.New(pawl.ErrNotFound, "no saved login to %s", e.Name).Hint("Run `pawl mcp list` to see the saved logins.")
			}
			return err
		},
	}
}
