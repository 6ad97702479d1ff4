package mission

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// missionTarget has the flags that say where to find a mission.
type missionTarget struct {
	server string // "" means this process
}

func (t *missionTarget) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.server, "attach", "", "use the server at this `url`, or unix for the local socket; PAWL_TOKEN is the token")
}

// with calls f with the mission that args names, or with the newest one of the working directory.
func (t *missionTarget) with(cmd *cobra.Command, args []string, f func(ctx context.Context, a *app.App, s pawl.Session) error) error {
	ctx := cmd.Context()
	a, err := app.OpenAt(ctx, t.server)
	if err != nil {
		return err
	}
	s, err := missionOf(ctx, a, args)
	if err == nil {
		err = f(ctx, a, s)
	}
	return errors.Join(err, a.Close())
}

// missionOf returns the mission that args names, or the newest one of the working directory.
func missionOf(ctx context.Context, a *app.App, args []string) (pawl.Session, error) {
	dir, err := os.Getwd()
	if err != nil {
		return pawl.Session{}, err
	}
	name := cli.Last
	if len(args) > 0 {
		name = args[0]
	}
	return cli.FindMission(ctx, a.Service, name, dir)
}

// endError returns the ExitError for the state of a mission, or nil if the mission is sealed, or planned as --plan-only
// asks for.
func endError(b pawl.Board) error {
	id := b.Session.ID
	switch {
	case b.State == pawl.MissionSealed:
		return nil
	case b.State == pawl.MissionPlanned && b.Mission.Blocked != nil && b.Mission.Attempts == 0:
		return nil // that is all that was asked for
	case b.State == pawl.MissionPlanned && b.Mission.Blocked != nil:
		return &cli.ExitError{Code: cli.ExitGate, Err: fault.New(pawl.ErrInvalid, "mission not sealed: its plan has changed and waits for approval").Hint("Run `pawl mission plan %[1]s` to read it, and `pawl mission approve %[1]s` to continue.", id)}
	case b.State == pawl.MissionPaused && b.Mission.Blocked != nil:
		return &cli.ExitError{Code: cli.ExitGate, Err: fault.New(pawl.ErrInvalid, "mission paused").Hint("Run `pawl mission resume %s` to continue.", id)}
	case b.State == pawl.MissionBlocked && b.Mission.Blocked != nil:
		return &cli.ExitError{Code: cli.ExitGate, Err: fault.New(pawl.ErrInvalid, "mission blocked: %s", humanize.FirstLine(b.Mission.Blocked.Reason, 500)).Hint("Run `pawl mission resume %s` when that is resolved.", id)}
	case b.Ended != nil && b.Ended.Reason != pawl.ReasonEndTurn:
		var exit *cli.ExitError
		if errors.As(cli.TurnError(*b.Ended), &exit) {
			return &cli.ExitError{Code: exit.Code, Err: fault.New(pawl.ErrInvalid, "mission stopped: %w", exit.Err).Hint("Run `pawl mission resume %s` to continue.", id)}
		}
	}
	return &cli.ExitError{Code: cli.ExitGate, Err: fault.New(pawl.ErrInvalid, "mission not sealed").Hint("Run `pawl mission resume %s` to continue.", id)}
}
