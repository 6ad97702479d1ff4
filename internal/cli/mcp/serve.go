package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/mcp/mcpserver"
	"github.com/pawl-dev/pawl/internal/security/redact"
)

// serveFlags are the flags of 'pawl mcp serve'.
type serveFlags struct {
	turn.SettingsFlags
	dir      string
	anyModel bool
	verbose  bool
}

func mcpServeCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run Pawl as an MCP server for other agents",
		Long: `Run Pawl as an MCP server on standard input and output, for a host application that
starts it. It offers the tools pawl_run, pawl_sessions and pawl_session.

The flags limit what a host can do: sessions work in --dir and below, in the permission
mode of --mode or a stricter one, with the model of --model. Permission prompts go to
the user of the host, who can allow a call once. If the host cannot ask, the call is
denied. Project configuration is active if you have trusted it with 'pawl trust'.

The server stops at the end of its input. Unfinished turns can be resumed.`,
		Example: `  pawl mcp serve --dir ~/src/project
  pawl mcp serve --mode plan                # read-only
  pawl mcp serve --model sonnet --max-cost 2

  # for a host that reads .mcp.json
  {"mcpServers":{"pawl":{"command":"pawl","args":["mcp","serve","--dir","/srv/project"]}}}`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.dir, "dir", ".", "limit sessions to this `directory` and below")
	flags.BoolVar(&f.anyModel, "any-model", false, "let requests choose any model")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "log requests to standard error")
	_ = flags.MarkHidden("trust") // run rejects it
	return cmd
}

func (f *serveFlags) run(cmd *cobra.Command) error {
	settings, err := f.Settings()
	if err == nil && settings.Trusted {
		err = errors.New("--trust is not supported: trust each project with `pawl trust`")
	}
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	root, err := f.root()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if settings.Model == "" {
		if settings.Model, err = turn.DefaultModel(ctx); err != nil {
			return err
		}
	}
	a, err := app.Open(ctx, app.Options{})
	if err != nil {
		return err
	}
	defer a.Close()
	if settings.Mode, err = chosenMode(ctx, a, root, settings); err != nil {
		return err
	}
	level := slog.LevelWarn
	if f.verbose {
		level = slog.LevelInfo
	}
	return mcpserver.Serve(ctx, mcpserver.Config{
		Service: a.Service, Root: root, Settings: settings, AnyModel: f.anyModel, Version: app.Version,
		Log: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level})),
	}, os.Stdin, &protocol{app.Secrets.KnownWriter(os.Stdout)})
}

// root returns the real path of --dir.
func (f *serveFlags) root() (string, error) {
	abs, err := filepath.Abs(f.dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("--dir: %w", err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fault.New(pawl.ErrInvalid, "--dir %s is not a directory", f.dir)
	}
	return real, nil
}

// chosenMode returns the permission mode of requests that name none: that of --mode, of the configuration, or the
// default. It returns an error if the machine's policy does not allow the mode, so that Pawl fails at startup and not
// with the first request.
func chosenMode(ctx context.Context, a *app.App, dir string, s pawl.Settings) (string, error) {
	policy, err := a.Policy.Policy(ctx, "", dir, s)
	return string(policy.Mode), err
}

// protocol writes protocol messages to standard output. It masks known keys and flushes after each message.
type protocol struct{ out *redact.Writer }

var _ io.WriteCloser = (*protocol)(nil)

func (p *protocol) Write(text []byte) (int, error) {
	n, err := p.out.Write(text)
	return n, errors.Join(err, p.out.Flush())
}

// Close does nothing, because standard output must stay open.
func (p *protocol) Close() error { return nil }
