package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	configcmd "github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/cli/session"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/lineui"
	"github.com/pawl-dev/pawl/internal/frontend/tui"
)

// screenReaderVar is the environment variable that selects the line-based UI, like --screen-reader.
const screenReaderVar = "PAWL_SCREEN_READER"

// screenReader holds the settings that select the line-based UI.
type screenReader struct {
	flag       bool
	flagGiven  bool   // the flag is set on the command line, to true or false
	variable   string // PAWL_SCREEN_READER
	configured bool   // in the user's configuration
	terminal   string // TERM
}

// wanted reports whether to use the line-based UI. The flag takes precedence over the environment
// variable, which takes precedence over the configuration. A dumb terminal always uses the
// line-based UI, unless the flag is false.
func (s screenReader) wanted() (bool, error) {
	if s.flagGiven {
		return s.flag, nil
	}
	dumb := s.terminal == "dumb"
	if s.variable == "" {
		return s.configured || dumb, nil
	}
	on, err := strconv.ParseBool(s.variable)
	if err != nil {
		return false, fmt.Errorf("invalid value %q of %s: use 1 or 0", s.variable, screenReaderVar)
	}
	return on || dumb, nil
}

// screenReader reports whether to use the line-based UI.
func (f *Flags) screenReader(cmd *cobra.Command, user config.User) (bool, error) {
	on, err := screenReader{
		flag: f.lines, flagGiven: cmd.Flags().Changed("screen-reader"),
		variable: os.Getenv(screenReaderVar), configured: user.TUI.ScreenReader, terminal: os.Getenv("TERM"),
	}.wanted()
	if err != nil {
		return false, cli.UsageError(cmd, err)
	}
	return on, nil
}

// runLineUI runs the line-based UI.
func runLineUI(cmd *cobra.Command, a *app.App, c tui.Config) error {
	ctx, stop := context.WithCancelCause(cmd.Context())
	defer stop(nil)
	interrupts, kills := make(chan os.Signal, 4), make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	signal.Notify(kills, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(interrupts)
	defer signal.Stop(kills)
	go func() {
		select {
		case s := <-kills:
			stop(turn.SignalError{Signal: s})
		case <-ctx.Done():
		}
	}()
	in := cmd.InOrStdin()
	err := lineui.Run(ctx, lineui.Config{
		Service: c.Service, Dir: c.Dir, Session: c.Session, Prompt: c.Prompt, Settings: c.Settings,
		In: in, Out: cmd.OutOrStdout(), Interrupts: interrupts,
		Pending: func() bool { return inputPending(in) }, Forget: func() { cli.DiscardInput(in) },
		Columns: terminalColumns, Bell: func() { _, _ = os.Stdout.WriteString("\a") },
		AddDir: c.AddDir, Isolate: c.Isolate, Isolated: c.Isolated,
		Onboarding: lineOnboarding(c),
		Show: func(ctx context.Context, w io.Writer, s pawl.Session) error {
			return session.Show(ctx, w, a.Service, s)
		},
	})
	var killed turn.SignalError
	if errors.As(err, &killed) {
		return &cli.ExitError{Code: 128 + int(killed.Signal.(syscall.Signal)), Err: fault.New(turn.ErrInterrupted, "interrupted: %w", killed).Hint("Run `pawl -c` to continue.")}
	}
	return err
}

// lineOnboarding returns the help for users without a model; none if the keys are on a server.
func lineOnboarding(c tui.Config) lineui.Onboarding {
	if c.Onboarding.Accounts == nil {
		return lineui.Onboarding{}
	}
	return lineui.Onboarding{Help: app.ModelHelp, Save: saveChoice}
}

// saveChoice saves a model and a mode in the user's configuration.
func saveChoice(model, mode string) error {
	if err := config.Set("model", model, configcmd.Usable); err != nil {
		return err
	}
	return config.Set("permissions.mode", mode, configcmd.Usable)
}

// terminalColumns returns the width of standard output, or cli.DefaultColumns.
func terminalColumns() int {
	if n, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && n > 0 {
		return n
	}
	return cli.DefaultColumns
}

// inputPending reports whether there is unread input.
func inputPending(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	var set unix.FdSet
	fd := int(f.Fd())
	set.Set(fd)
	n, err := unix.Select(fd+1, &set, nil, nil, &unix.Timeval{})
	return err == nil && n > 0
}
