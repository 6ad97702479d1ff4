package tui

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/session"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/workspace/isolate"
)

// restart tells how to start Pawl again so that a session continues isolated.
type restart struct {
	dir      string         // the working directory
	session  pawl.SessionID // "" means a new one
	settings pawl.Settings
}

// isolateSession checks that a session can continue isolated: it must be idle and must not have
// changed files, because those changes could be neither applied nor discarded.
func isolateSession(ctx context.Context, svc pawl.Service, dir string, id pawl.SessionID, settings pawl.Settings) (restart, error) {
	switch {
	case isolate.Inside() != "":
		return restart{}, fault.New(pawl.ErrInvalid, "this session is already isolated").Hint("Quit to see its changes, and to apply or discard them.")
	case len(settings.AddDirs) > 0:
		return restart{}, fault.New(pawl.ErrInvalid, "an isolated session has no further project directories").Hint("Start Pawl with --isolated and without --add-dir.")
	case id == "":
		return restart{dir: dir, settings: settings}, session.CheckIsolation(ctx, dir)
	}
	s, err := svc.Get(ctx, id)
	if err != nil {
		return restart{}, err
	}
	if s.State() != pawl.StateIdle {
		return restart{}, fault.New(pawl.ErrBusy, "the session is busy").Hint("Wait until its turn has ended, or interrupt it.")
	}
	if s.Mission != "" {
		return restart{}, fault.New(pawl.ErrInvalid, "a mission cannot be isolated").Hint("Its workers work on copies anyway. Use /new first to isolate another session.")
	}
	if err := unchanged(ctx, svc, s); err != nil {
		return restart{}, err
	}
	return restart{dir: s.Dir, session: id, settings: settings}, session.CheckIsolation(ctx, s.Dir)
}

// unchanged returns an error if a session has changed files of the project and the changes were
// not undone.
func unchanged(ctx context.Context, svc pawl.Service, s pawl.Session) error {
	events, err := cli.SessionEvents(ctx, svc, s)
	if err != nil {
		return err
	}
	first := firstWork(events)
	if first == 0 {
		return nil
	}
	plan, err := svc.Preview(ctx, s.ID, pawl.Undo{To: first, Scope: pawl.ScopeFiles})
	if err != nil {
		return fmt.Errorf("find out what the session has changed: %w", err)
	}
	switch {
	case len(plan.Files) > 0:
		return fault.New(pawl.ErrConflict, "the session has already changed %s", humanize.Plural(len(plan.Files), "file")).
			Hint("Use /new and then /isolate to isolate a new session, or /undo the changes first.")
	case len(plan.Blind) > 0:
		return fault.New(pawl.ErrConflict, "the session may have changed files: Pawl has no record of what %s changed", humanize.Plural(len(plan.Blind), "call")).
			Hint("Use /new and then /isolate to isolate a new session.")
	}
	return nil
}

// firstWork returns the Seq of the first turn or shell command that was not undone; 0 without one.
func firstWork(events []pawl.Event) pawl.Seq {
	for e := range pawl.EffectiveEvents(pawl.SliceLog(events), pawl.ScopeConversation) {
		switch e.Body.(type) {
		case pawl.TurnStarted, pawl.ShellStarted:
			return e.Seq
		default:
		}
	}
	return 0
}

// exec replaces this process by one that continues the session isolated. A new process is needed
// because the view is mounted at the project's path, where this one sees the project.
func (r restart) exec(cmd *cobra.Command) error {
	for _, w := range []any{cmd.OutOrStdout(), cmd.ErrOrStderr()} {
		if screen, ok := w.(*cli.Screen); ok {
			if err := screen.Flush(); err != nil {
				return err
			}
		}
	}
	if err := os.Chdir(r.dir); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	err = syscall.Exec(self, append([]string{os.Args[0]}, r.args(cmd.Flags())...), os.Environ()) //nolint:gosec // it is Pawl
	return fmt.Errorf("start Pawl again to isolate the session: %w", err)
}

// args returns the arguments of the new process: the flags that the user has given, with the
// current session and settings.
func (r restart) args(given *pflag.FlagSet) []string {
	args := []string{"--isolated"}
	add := func(name, value string) { args = append(args, "--"+name+"="+value) }
	given.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "isolated", "session", "continue", "model", "mode", "agent", "add-dir":
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			add(f.Name, strings.Join(list.GetSlice(), ","))
			return
		}
		add(f.Name, f.Value.String())
	})
	for _, own := range []struct{ name, value string }{
		{"session", string(r.session)}, {"model", r.settings.Model}, {"mode", r.settings.Mode}, {"agent", r.settings.Agent},
	} {
		if own.value != "" {
			add(own.name, own.value)
		}
	}
	return args
}
