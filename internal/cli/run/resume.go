package run

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/session"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
)

type resumeFlags struct {
	turn.OutputFlags
	all  bool
	list bool
}

// ResumeCommand returns 'pawl resume'.
func ResumeCommand() *cobra.Command {
	var f resumeFlags
	cmd := &cobra.Command{
		Use:   "resume [id…]",
		Short: "Resume interrupted sessions",
		Long: `Resume sessions that were interrupted during a turn, for example by a crash, or that have
queued prompts. Each session continues from its last event, without a new prompt. Pawl
does not repeat a tool call that was running, unless it only reads; the model learns that
its outcome is unknown.

Without an id, Pawl resumes all interrupted sessions of the working directory.`,
		Example: `  pawl resume --list
  pawl resume
  pawl resume last`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.Add(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "include the sessions of all directories")
	cmd.Flags().BoolVar(&f.list, "list", false, "list the sessions without resuming them")
	return cmd
}

func (f *resumeFlags) run(cmd *cobra.Command, ids []string) error {
	if err := f.Check(); err != nil {
		return cli.UsageError(cmd, err)
	}
	ctx := cmd.Context()
	a, err := app.Open(ctx, app.Options{})
	if err != nil {
		return err
	}
	defer a.Close()
	sessions, err := f.sessions(ctx, a, ids)
	if err != nil {
		return err
	}
	if len(sessions) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "pawl: nothing to resume")
		return nil
	}
	if len(sessions) == 1 && !f.list {
		if done, err := session.EnterView(cmd, false, string(sessions[0].ID), false); done || err != nil {
			return err
		}
	}
	if f.list {
		return session.PrintSessions(cmd.OutOrStdout(), sessions)
	}
	var errs []error
	for _, s := range sessions {
		err := f.resume(cmd, a, s)
		switch {
		case errors.Is(err, pawl.ErrBusy) && len(ids) == 0: // not an error: the user did not name the session
			fmt.Fprintf(cmd.ErrOrStderr(), "pawl: %s\n", fault.Text(err))
		case errors.Is(err, turn.ErrInterrupted), len(sessions) == 1:
			return err
		case err != nil:
			errs = append(errs, fmt.Errorf("session %s: %w", s.ID, err))
		}
	}
	return errors.Join(errs...)
}

// sessions returns the sessions to resume: the named ones that are not idle or, without ids, all
// unfinished ones.
func (f *resumeFlags) sessions(ctx context.Context, a *app.App, ids []string) ([]pawl.Session, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		filter := pawl.Filter{Unfinished: true, Limit: 1000}
		if !f.all {
			filter.Dir = dir
		}
		page, err := a.List(ctx, filter)
		return page.Sessions, err
	}
	var sessions []pawl.Session
	for _, id := range ids {
		s, err := cli.FindSession(ctx, a.Service, id, dir)
		if err != nil {
			return nil, err
		}
		if s.State() != pawl.StateIdle {
			sessions = append(sessions, s)
		}
	}
	return sessions, nil
}

func (f *resumeFlags) resume(cmd *cobra.Command, a *app.App, s pawl.Session) error {
	if f.Format == "text" {
		fmt.Fprintf(cmd.ErrOrStderr(), "pawl: resuming %s: %s\n", s.ID, humanize.FirstLine(s.Name(), 60))
	}
	if err := a.Resume(cmd.Context(), s.ID); err != nil {
		if errors.Is(err, pawl.ErrBusy) {
			return fault.New(pawl.ErrBusy, "cannot resume: %w", err).Hint("Wait until it is idle, or run `pawl session show %s` to see what it does.", s.ID)
		}
		return err
	}
	idle := func(e pawl.Event) bool {
		switch e.Body.(type) {
		case pawl.TurnFinished, pawl.Undone, pawl.Compacted, pawl.ShellRan:
		default:
			return false
		}
		now, err := a.Get(cmd.Context(), s.ID)
		return err != nil || now.State() == pawl.StateIdle
	}
	ask := f.Asker(cmd, a)
	if ask == nil { // denies pending permission requests, which would never be answered otherwise
		ask = turn.NewAsker(a, nil, cmd.ErrOrStderr())
	}
	return turn.EndSession(cmd, a, s.ID, f.Follow(cmd, a, s, s.Head, ask, idle))
}
