package mcp

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// probeResult is the result of starting a server once to inspect it.
type probeResult struct {
	mcpclient.Status
	mcpclient.Offer
	err error
}

// probe starts the servers concurrently to inspect them, and returns the results in the order of entries.
func (h *localServers) probe(ctx context.Context, entries []app.MCPServer) ([]probeResult, error) {
	looked := make([]probeResult, len(entries))
	var all sync.WaitGroup
	for i, e := range entries {
		all.Go(func() { looked[i].Status, looked[i].Offer, looked[i].err = h.Look(ctx, h.dir, e.Server) })
	}
	all.Wait()
	for _, l := range looked {
		if l.err != nil {
			return nil, l.err
		}
	}
	return looked, nil
}

// testedServer is a server as 'pawl mcp test --json' prints it.
type testedServer struct {
	Name      string          `json:"name"`
	Transport string          `json:"transport"`
	State     mcpclient.State `json:"state"`
	Why       string          `json:"why,omitempty"`
	Tools     []string        `json:"tools"`
	Prompts   []string        `json:"prompts"`
	Resources []string        `json:"resources"`
	LeftOut   []string        `json:"left_out"`
	Log       string          `json:"log,omitempty"`
}

func mcpTestCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test [name…]",
		Short: "Start MCP servers and show what they offer",
		Long: `Start the named MCP servers, or all enabled ones, and show what they offer, what Pawl
ignores and why, and the end of their logs. Then stop them. Servers of a project that
you do not trust are not started.

Exit codes: 0 all servers are ready, 1 at least one is not.`,
		Example: "  pawl mcp test files\n  pawl mcp test --json | jq '.[] | select(.state != \"ready\")'",
		RunE: func(cmd *cobra.Command, args []string) error {
			looked, err := probeServers(cmd, args)
			if err != nil {
				return err
			}
			tested, failed := []testedServer{}, 0
			for _, l := range looked {
				tested = append(tested, l.tested())
				if l.State != mcpclient.Ready {
					failed++
				}
			}
			if asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), tested)
			} else {
				err = printTested(cmd.OutOrStdout(), tested)
			}
			if err != nil {
				return err
			}
			if failed > 0 {
				return &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("%d of %s not ready", failed, humanize.Plural(len(tested), "MCP server"))}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// probeServers probes the named servers, or all enabled ones if names is empty.
func probeServers(cmd *cobra.Command, names []string) ([]probeResult, error) {
	h, err := openServers(cmd.Context())
	if err != nil {
		return nil, err
	}
	defer h.Close()
	h.printFaults(cmd.ErrOrStderr())
	entries, err := h.selected(names)
	if err != nil {
		return nil, err
	}
	return h.probe(cmd.Context(), entries)
}

func (l probeResult) tested() testedServer {
	t := testedServer{
		Name: l.Name, Transport: l.Transport, State: l.State, Why: l.Why, Log: app.Secrets.Redact(l.Log),
		Tools: []string{}, Prompts: []string{}, Resources: []string{}, LeftOut: []string{},
	}
	for _, tool := range l.Offer.Tools {
		t.Tools = append(t.Tools, tool.Name)
	}
	for _, p := range l.Offer.Prompts {
		t.Prompts = append(t.Prompts, p.Name)
	}
	for _, r := range l.Offer.Resources {
		t.Resources = append(t.Resources, r.URI)
	}
	for _, f := range l.LeftOut {
		t.LeftOut = append(t.LeftOut, f.String())
	}
	return t
}

func printTested(w io.Writer, list []testedServer) error {
	var out strings.Builder
	if len(list) == 0 {
		out.WriteString("No MCP servers to test. Run `pawl mcp list` to see all servers.\n")
	}
	for _, s := range list {
		fmt.Fprintf(&out, "%s: %s", s.Name, s.State)
		if s.Why != "" {
			fmt.Fprintf(&out, ": %s", sanitize.Line(s.Why))
		}
		out.WriteByte('\n')
		for _, part := range []struct {
			name string
			list []string
		}{{"tool", s.Tools}, {"prompt", s.Prompts}, {"resource", s.Resources}, {"ignored:", s.LeftOut}} {
			for _, text := range part.list {
				fmt.Fprintf(&out, "  %s %s\n", part.name, sanitize.Line(text))
			}
		}
		for line := range strings.Lines(s.Log) {
			fmt.Fprintf(&out, "  log | %s\n", sanitize.Line(strings.TrimRight(line, "\n")))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// offer is a tool, a prompt or a resource of a server.
type offer struct {
	Server      string   `json:"server"`
	Name        string   `json:"name"`
	URI         string   `json:"uri,omitempty"`
	Description string   `json:"description,omitempty"`
	Arguments   []string `json:"arguments,omitempty"` // of a prompt; optional ones are in brackets
	MediaType   string   `json:"media_type,omitempty"`
}

func mcpToolsCommand() *cobra.Command {
	return mcpOfferCommand("tools", "List the tools of MCP servers", func(l probeResult) (list []offer) {
		for _, t := range l.Offer.Tools {
			list = append(list, offer{Server: l.Name, Name: t.Name, Description: t.Description})
		}
		return list
	})
}

func mcpPromptsCommand() *cobra.Command {
	return mcpOfferCommand("prompts", "List the prompts of MCP servers", func(l probeResult) (list []offer) {
		for _, p := range l.Offer.Prompts {
			thing := offer{Server: l.Name, Name: p.Name, Description: p.Description}
			for _, a := range p.Arguments {
				name := a.Name
				if !a.Required {
					name = "[" + name + "]"
				}
				thing.Arguments = append(thing.Arguments, name)
			}
			list = append(list, thing)
		}
		return list
	})
}

func mcpResourcesCommand() *cobra.Command {
	return mcpOfferCommand("resources", "List the resources of MCP servers", func(l probeResult) (list []offer) {
		for _, r := range l.Offer.Resources {
			list = append(list, offer{Server: l.Name, Name: r.Name, URI: r.URI, Description: r.Description, MediaType: r.MediaType})
		}
		return list
	})
}

// mcpOfferCommand returns the command that lists one kind of offer: tools, prompts or resources.
func mcpOfferCommand(kind, short string, of func(probeResult) []offer) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   kind + " [name…]",
		Short: short,
		Long: short + `.

Pawl starts the named servers, or all enabled ones, and stops them afterwards. Servers of
a project that you do not trust are not started.

Exit codes: 0 all servers are ready, 1 at least one is not.`,
		Example: fmt.Sprintf("  pawl mcp %s\n  pawl mcp %s files --json", kind, kind),
		RunE: func(cmd *cobra.Command, args []string) error {
			looked, err := probeServers(cmd, args)
			if err != nil {
				return err
			}
			things, failed := []offer{}, 0
			for _, l := range looked {
				things = append(things, of(l)...)
				if l.State != mcpclient.Ready {
					failed++
					fmt.Fprintf(cmd.ErrOrStderr(), "pawl: %s: %s: %s\n", l.Name, l.State, sanitize.Line(l.Why))
				}
			}
			if asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), things)
			} else {
				err = printOffers(cmd.OutOrStdout(), kind, things)
			}
			if err != nil {
				return err
			}
			return notReadyError(failed)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printOffers(w io.Writer, kind string, things []offer) error {
	var out strings.Builder
	if len(things) == 0 {
		fmt.Fprintf(&out, "No %s found.\n", kind)
	}
	for _, t := range things {
		words := []string{t.Name, t.URI}
		if kind != "tools" { // the names of tools include the server
			words = append([]string{t.Server}, words...)
		}
		words = append(words, t.Arguments...)
		for _, word := range words {
			if word != "" {
				out.WriteString(sanitize.Line(word) + " ")
			}
		}
		if t.Description != "" {
			fmt.Fprintf(&out, " %s", humanize.FirstLine(t.Description, 100))
		}
		out.WriteByte('\n')
	}
	_, err := io.WriteString(w, out.String())
	return err
}
