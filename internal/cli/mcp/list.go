package mcp

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// listedServer is a server as 'pawl mcp list --json' prints it.
type listedServer struct {
	Name      string `json:"name"`
	Transport string `json:"transport"`
	Target    string `json:"target"` // the program and its arguments, or the address
	Origin    string `json:"origin"` // user or project
	Trusted   bool   `json:"trusted"`
	File      string `json:"file"`
	Login     bool   `json:"login"` // a login is stored
	Disabled  bool   `json:"disabled"`
}

// serverListing is the output of 'pawl mcp list --json'.
type serverListing struct {
	Servers   []listedServer `json:"servers"`
	Untrusted int            `json:"untrusted"` // project servers that are inactive because the project is not trusted
	Faults    []string       `json:"faults"`
}

func mcpListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List MCP servers",
		Long: `List the MCP servers of your configuration and, if you trust the project, of the project:
their transport, their configuration file, and whether a login is saved. Problems of the
configuration are reported too.

No server is started; 'pawl mcp test' starts them.`,
		Example: "  pawl mcp list\n  pawl mcp list --json | jq -r '.servers[].name'",
		Args:    cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := openServers(cmd.Context())
			if err != nil {
				return err
			}
			list, err := h.list()
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), list)
			}
			h.printFaults(cmd.ErrOrStderr())
			return list.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (h *localServers) list() (serverListing, error) {
	list := serverListing{Servers: []listedServer{}, Untrusted: h.untrusted, Faults: append([]string{}, h.faults...)}
	for _, e := range h.entries {
		login, err := h.LoggedIn(e.Server)
		if err != nil {
			return list, err
		}
		origin := "user"
		if e.Project {
			origin = "project" // entries has no untrusted servers
		}
		list.Servers = append(list.Servers, listedServer{
			Name: e.Name, Transport: e.Transport, Target: target(e.Server), Origin: origin, Trusted: true, File: e.File, Login: login, Disabled: e.Disabled,
		})
	}
	return list, nil
}

// target returns the command line or the URL of a server, with secrets masked.
func target(s mcpclient.Server) string {
	if s.Transport == mcpclient.Stdio {
		return app.Secrets.Redact(strings.Join(append([]string{s.Command}, s.Args...), " "))
	}
	address, _, _ := strings.Cut(s.URL, "?")
	return app.Secrets.Redact(address)
}

// printFaults prints the problems of the configuration, and a hint about untrusted servers.
func (h *localServers) printFaults(w io.Writer) {
	for _, fault := range h.faults {
		fmt.Fprintf(w, "pawl: %s\n", sanitize.Line(fault))
	}
	if hint := h.hint(); hint != "" {
		fmt.Fprintf(w, "pawl: %s\n", hint)
	}
}

func (l serverListing) print(w io.Writer) error {
	if len(l.Servers) == 0 {
		_, err := fmt.Fprintln(w, "No MCP servers configured. Run `pawl mcp add --help` to see how to add one.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tTRANSPORT\tORIGIN\tSTATE\tFILE\tTARGET")
	for _, s := range l.Servers {
		state := "enabled"
		if s.Disabled {
			state = "disabled"
		}
		if s.Login {
			state += ", logged in"
		}
		origin := s.Origin
		if s.Origin == "project" {
			origin += ", trusted"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, s.Transport, origin, state, sanitize.Line(s.File), humanize.FirstLine(s.Target, 80))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "No server was started. Run `pawl mcp test` to test them.")
	return err
}
