// Package acp has the command 'pawl acp', which editors start.
package acp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/auth"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/frontend/acp"
	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// acpFlags are the flags of 'pawl acp'.
type acpFlags struct{ turn.SettingsFlags }

// Command returns 'pawl acp'.
func Command() *cobra.Command {
	var f acpFlags
	cmd := &cobra.Command{
		Use:   "acp",
		Short: "Work in an editor, over the Agent Client Protocol",
		Long: `Speak the Agent Client Protocol on standard input and output, for editors such as
Zed. The editor starts it; nobody types here. The flags hold for all its prompts.

When the editor goes away, turns that are open stay open: the editor goes on with
them when it loads the session again, and so does 'pawl resume'.`,
		Example: `  pawl acp
  pawl acp --model sonnet --mode ask`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.Add(cmd)
	return cmd
}

func (f *acpFlags) run(cmd *cobra.Command) error {
	settings, err := f.Settings()
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // an editor that is gone is an error of a write
	a, err := app.Open(ctx, app.Options{})
	if err != nil {
		return err
	}
	defer a.Close()
	in := cmd.InOrStdin()
	if file, ok := in.(*os.File); ok && cli.IsTerminal(file) {
		fmt.Fprintln(cmd.ErrOrStderr(), "pawl: an editor is to start this and to speak with it; see docs/guide/editors.md. Ctrl-C ends it.")
	}
	return acp.Serve(ctx, acp.Config{
		Service: a, Version: app.Version, Settings: settings, Log: cmd.ErrOrStderr(),
		Model: turn.DefaultModel, Models: modelsToChoose, Mask: maskKnown,
		Mode: func(ctx context.Context, dir string, s pawl.Settings) (string, error) {
			policy, err := a.Policy.Policy(ctx, "", dir, s)
			return string(policy.Mode), err
		},
		Commands: func(ctx context.Context, dir string) ([]acp.Command, error) { return f.commands(ctx, a, dir) },
		Expand: func(ctx context.Context, dir string, p *pawl.Prompt) (notes []string, err error) {
			*p, notes, err = a.Expand(ctx, dir, *p)
			return notes, err
		},
		Notes:   func(ctx context.Context, dir string) []string { return f.notes(ctx, a, dir) },
		Buffers: a.Buffers.Set,
		Servers: func(ctx context.Context, id pawl.SessionID, dir string, servers []acp.Server) []string {
			return a.MCP.UseEditorServers(ctx, id, dir, f.Trust, lentServers(servers))
		},
	}, in, maskedLines{os.Stdout})
}

// maskedLines writes messages whole, one at a time: no key that pawl holds is in
// them, and nothing that would steer a terminal.
type maskedLines struct{ w io.Writer }

func (m maskedLines) Write(p []byte) (int, error) {
	if _, err := m.w.Write(sanitize.JSON([]byte(app.Secrets.Known(string(p))))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// maskKnown masks the keys that pawl holds in a text that comes in pieces.
func maskKnown(show func(string)) func(string) {
	w := app.Secrets.KnownWriter(showFunc(show))
	return func(text string) { _, _ = w.Write([]byte(text)) } // showing does not fail
}

type showFunc func(string)

func (show showFunc) Write(p []byte) (int, error) {
	show(string(p))
	return len(p), nil
}

// modelsToChoose are the models whose provider's key is found.
func modelsToChoose(ctx context.Context) ([]acp.Model, error) {
	found, err := auth.AvailableModels(ctx)
	if err != nil {
		return nil, err
	}
	var list []acp.Model
	for _, m := range found {
		list = append(list, acp.Model{Ref: m.Ref, Name: m.Name})
	}
	return list, nil
}

// notes say what the directory brings that does not take effect.
func (f *acpFlags) notes(ctx context.Context, a *app.App, dir string) []string {
	var b bytes.Buffer
	f.PrintTrustNotice(ctx, a, dir, &b)
	var list []string
	for line := range strings.Lines(b.String()) {
		list = append(list, strings.TrimPrefix(strings.TrimSpace(line), "pawl: note: "))
	}
	return list
}

// found is what there is for a directory.
func (f *acpFlags) found(ctx context.Context, a *app.App, dir string) (*extension.Found, error) {
	p, err := app.ExtensionPlaces(a.Policy)
	if err != nil {
		return nil, err
	}
	return app.FindExtensions(ctx, a.Policy, p, dir, f.Trust), nil
}

// commands are what can be called in a directory.
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

// lentServers converts the MCP servers of an editor.
func lentServers(list []acp.Server) []mcpclient.Server {
	var servers []mcpclient.Server
	for _, s := range list {
		servers = append(servers, mcpclient.Server{
			Name: s.Name, Transport: s.Transport, Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers,
		})
	}
	return servers
}
