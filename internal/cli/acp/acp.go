// Package acp implements the command 'pawl acp', which editors start.
package acp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/frontend/acp"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// acpFlags are the flags of 'pawl acp'.
type acpFlags struct {
	turn.SettingsFlags
	login bool
}

// Command returns 'pawl acp'.
func Command() *cobra.Command {
	var f acpFlags
	cmd := &cobra.Command{
		Use:   "acp",
		Short: "Run Pawl in an editor (Agent Client Protocol)",
		Long: `Run Pawl as an agent for editors such as Zed, with the Agent Client Protocol on standard
input and output. The editor starts this command. The flags apply to all its prompts.

If the editor exits, unfinished turns are interrupted. They continue when the editor
loads the session again, or with 'pawl resume'.`,
		Example: `  pawl acp
  pawl acp --model sonnet --mode ask`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.login {
				return login(cmd)
			}
			return f.run(cmd)
		},
	}
	f.Add(cmd)
	cmd.Flags().BoolVar(&f.login, "login", false, "save an API key in this terminal, then exit (editors use it)")
	return cmd
}

func (f *acpFlags) run(cmd *cobra.Command) error {
	settings, err := f.Settings()
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // makes writes to a closed pipe fail instead of ending the process
	a, err := app.Open(ctx, app.Options{})
	if err != nil {
		return err
	}
	defer a.Close()
	models, err := app.NewModels()
	if err != nil {
		return err
	}
	in := cmd.InOrStdin()
	if file, ok := in.(*os.File); ok && cli.IsTerminal(file) {
		fmt.Fprintln(cmd.ErrOrStderr(), "pawl: this command is meant to be started by an editor (see docs/how-to/editors.md). Press Ctrl-C to exit.")
	}
	return acp.Serve(ctx, acp.Config{
		Service: a, Version: app.Version, Settings: settings, Log: cmd.ErrOrStderr(),
		Model: turn.DefaultModel, Mask: maskKnown, Login: []string{"--login"},
		Window: func(ref string) int64 {
			w, err := models.Window(ref)
			if err != nil { // the model is not in the catalog any more
				return 0
			}
			return int64(w.Context)
		},
		Mode: func(ctx context.Context, dir string, s pawl.Settings) (string, error) {
			policy, err := a.Policy.Policy(ctx, "", dir, s)
			return string(policy.Mode), err
		},
		Commands: func(ctx context.Context, dir string) ([]acp.Command, error) { return f.commands(ctx, a, dir) },
		Agents:   func(ctx context.Context, dir string) ([]pawl.AgentInfo, error) { return f.agents(ctx, a, dir) },
		Notes:    func(ctx context.Context, dir string) []string { return f.notes(ctx, a, dir) },
		Buffers:  a.Buffers.Set,
		Servers: func(ctx context.Context, id pawl.SessionID, dir string, servers []acp.Server) []string {
			return a.MCP.UseEditorServers(ctx, id, dir, f.Trust, editorServers(servers))
		},
	}, in, maskedLines{os.Stdout})
}

// maskedLines masks known secrets and escapes control characters in JSON messages. Each Write must
// be a complete message.
type maskedLines struct{ w io.Writer }

func (m maskedLines) Write(p []byte) (int, error) {
	if _, err := m.w.Write(sanitize.JSON([]byte(app.Secrets.Known(string(p))))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// maskKnown returns a function that passes text on to show with known secrets masked, even if they
// are split across calls.
func maskKnown(show func(string)) func(string) {
	w := app.Secrets.KnownWriter(showFunc(show))
	return func(text string) { _, _ = w.Write([]byte(text)) } // showFunc.Write does not fail
}

type showFunc func(string)

func (show showFunc) Write(p []byte) (int, error) {
	show(string(p))
	return len(p), nil
}

// notes returns notes about project configuration that is not in effect because dir is not trusted.
func (f *acpFlags) notes(ctx context.Context, a *app.App, dir string) []string {
	var b bytes.Buffer
	f.PrintTrustNotice(ctx, a, dir, &b)
	var list []string
	for line := range strings.Lines(b.String()) {
		list = append(list, strings.TrimPrefix(strings.TrimSpace(line), "pawl: note: "))
	}
	return list
}

// found returns the extensions for a directory.
func (f *acpFlags) found(ctx context.Context, a *app.App, dir string) (*extension.Found, error) {
	p, err := app.ExtensionPlaces(a.Policy)
	if err != nil {
		return nil, err
	}
	return app.FindExtensions(ctx, a.Policy, p, dir, f.Trust), nil
}

// commands returns the commands that prompts in a directory can use.
func (f *acpFlags) commands(ctx context.Context, a *app.App, dir string) ([]acp.Command, error) {
	found, err := f.found(ctx, a, dir)
	if err != nil {
		return nil, err
	}
	var list []acp.Command
	for _, c := range found.Commands.Commands {
		list = append(list, acp.Command{Name: sanitize.Line(c.Name), Description: sanitize.Line(c.Description), Hint: sanitize.Line(c.Hint)})
	}
	return list, nil
}

// agents returns the agents of a directory: the built-in ones and those that were found.
func (f *acpFlags) agents(ctx context.Context, a *app.App, dir string) ([]pawl.AgentInfo, error) {
	project, err := a.Look(ctx, dir)
	if err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(project.Agents, func(g pawl.AgentInfo) bool { return !g.Native })
	found, err := f.found(ctx, a, dir)
	if err != nil {
		return nil, err
	}
	for _, g := range found.Agents.Agents {
		list = append(list, pawl.AgentInfo{
			Name: sanitize.Line(g.Name), Description: sanitize.Line(g.Description), Origin: string(g.Origin.Layer), Mode: g.Mode, Hidden: g.Hidden, Color: sanitize.Line(g.Color), Model: sanitize.Line(g.Model),
		})
	}
	return list, nil
}

// editorServers converts the MCP servers of an editor.
func editorServers(list []acp.Server) []mcpclient.Server {
	var servers []mcpclient.Server
	for _, s := range list {
		servers = append(servers, mcpclient.Server{
			Name: s.Name, Transport: s.Transport, Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers,
		})
	}
	return servers
}
