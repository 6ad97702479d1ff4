// Package tui implements 'pawl' without a subcommand, which starts the terminal UI or, for screen
// readers, the line-based UI.
package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/session"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/tui"
	prompts "github.com/pawl-dev/pawl/internal/frontend/tui/editor/history"
	"github.com/pawl-dev/pawl/internal/frontend/tui/onboarding"
	"github.com/pawl-dev/pawl/internal/workspace/isolate"
)

// Flags are the flags of 'pawl' without a subcommand.
type Flags struct {
	turn.SettingsFlags
	session  string
	isolated bool
	last     bool
	server   string
	theme    string
	lines    bool // use the line-based UI
}

// Add adds the flags to cmd.
func (f *Flags) Add(cmd *cobra.Command) {
	f.SettingsFlags.Add(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&f.session, "session", "s", "", "continue the session with this `id`")
	flags.BoolVarP(&f.last, "continue", "c", false, "continue the last session of this directory")
	flags.StringVar(&f.server, "attach", "", "run on a server: its `url`, or unix for the local socket (token: PAWL_TOKEN)")
	flags.StringVar(&f.theme, "theme", "", "color theme: dark, light, contrast, plain, terminal, auto or the `name` of your own")
	flags.BoolVar(&f.lines, "screen-reader", false, "use the line-based interface for screen readers and simple terminals (or PAWL_SCREEN_READER=1)")
	cmd.MarkFlagsMutuallyExclusive("session", "continue")
	session.AddIsolated(cmd, &f.isolated)
	cli.GroupFlags(cmd, cli.FlagsSession, "session", "continue")
	cli.GroupFlags(cmd, cli.FlagsServer, "attach")
}

// Run runs the terminal UI or the line-based UI, and sends a prompt unless it is "". Without a terminal it prints the usage and returns
// an error.
func (f *Flags) Run(cmd *cobra.Command, prompt string) error {
	settings, err := f.Settings()
	if err != nil {
		return cli.UsageError(cmd, err)
	}
	if in, ok := cmd.InOrStdin().(*os.File); !ok || !cli.IsTerminal(in) || !cli.IsTerminal(cmd.OutOrStdout()) {
		return noTerminal(cmd, prompt)
	}
	if f.server == "" {
		if done, err := session.EnterView(cmd, f.isolated, f.session, f.last); done || err != nil {
			return err
		}
	}
	next := make(chan restart, 1)
	if err := f.open(cmd, prompt, settings, next); err != nil {
		return err
	}
	select {
	case r := <-next:
		return r.exec(cmd)
	default:
		return nil
	}
}

// open runs a UI until the user quits. If the user isolates the session, it sends to next how to
// start Pawl again.
func (f *Flags) open(cmd *cobra.Command, prompt string, settings pawl.Settings, next chan restart) error {
	ctx := cmd.Context()
	dir, err := app.WorkingDir()
	if err != nil {
		return err
	}
	user, err := app.LoadUser()
	if err != nil {
		return err
	}
	lines, err := f.screenReader(cmd, user)
	if err != nil {
		return err
	}
	notice, err := f.setup(ctx, &settings, user, lines)
	if err != nil {
		return err
	}
	a, err := app.OpenAt(ctx, f.server)
	if err != nil {
		return err
	}
	defer a.Close()
	data, err := config.Data()
	if err != nil {
		return err
	}
	c := tui.Config{Service: a.Service, Dir: dir, Prompt: prompt, Notice: notice, Settings: settings, History: prompts.File{Path: filepath.Join(data, "prompts.jsonl")}}
	if err := setAppearance(&c, f.theme, user); err != nil {
		return err
	}
	c.Export = func(ctx context.Context, id pawl.SessionID, file string) (string, error) {
		return exportTo(ctx, a, dir, id, file)
	}
	if f.server == "" { // the keys and the configuration of a server are not available here
		c.Onboarding = onboarding.Options{Accounts: accounts{changed: a.ForgetModels}, Save: saveModel}
		c.Permissions = permissionSource(a.Policy)
		c.AddDir = func(added []string, name string) ([]string, error) { return addDir(a.Policy, dir, added, name) }
		c.Isolated = isolate.Inside() != ""
		c.Isolate = func(ctx context.Context, id pawl.SessionID, settings pawl.Settings) error {
			r, err := isolateSession(ctx, a.Service, dir, id, settings)
			if err == nil {
				select {
				case next <- r:
				default: // it was requested twice
				}
			}
			return err
		}
	}
	if f.session != "" || f.last {
		name := f.session
		if f.last {
			name = "last"
		}
		s, err := cli.FindSession(ctx, a.Service, name, dir)
		if err != nil {
			return err
		}
		c.Session = s.ID
	}
	if lines {
		return runLineUI(cmd, a, c)
	}
	return tui.Run(ctx, c)
}

// noTerminal prints the usage, unless a prompt was given, and returns the error for a missing terminal.
func noTerminal(cmd *cobra.Command, prompt string) error {
	if prompt == "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s\n\n%s\n", cmd.Short, cmd.UsageString())
	}
	return &cli.ExitError{Code: cli.ExitUsage, Err: fault.New(pawl.ErrInvalid, "the terminal UI needs a terminal").Hint("Run `pawl run \"your prompt\"` to work without one.")}
}

// errNoModel ends Pawl if the user leaves the first screen.
var errNoModel = fault.New(pawl.ErrInvalid, "no model chosen").Hint("Run `pawl` to choose one, or `pawl auth` to see what was found.")

// setup sets the model of a new session: the one of the flags, the configured one or, in the terminal UI, the one
// that the user connects to now. It returns a text for the user. Nothing is stored before the user confirms it.
func (f *Flags) setup(ctx context.Context, settings *pawl.Settings, user config.User, lines bool) (string, error) {
	if settings.Model != "" || f.session != "" || f.last {
		return "", nil
	}
	configured, err := app.ConfiguredModel()
	if err != nil {
		return "", err
	}
	if settings.Model = configured; configured != "" || lines || f.server != "" {
		return "", nil
	}
	c := tui.Config{Onboarding: onboarding.Options{Accounts: accounts{}, Save: saveModel}}
	if err := setAppearance(&c, f.theme, user); err != nil {
		return "", err
	}
	chosen, err := tui.Setup(ctx, c)
	if err != nil {
		return "", err
	}
	if settings.Model = chosen.Model; chosen.Model == "" {
		return "", &cli.ExitError{Code: cli.ExitCanceled, Err: errNoModel}
	}
	return chosen.Note, nil
}
