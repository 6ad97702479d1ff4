package mission

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission"
)

func missionPauseCommand() *cobra.Command {
	var t missionTarget
	cmd := &cobra.Command{
		Use:   "pause [id]",
		Short: "Pause a mission when its workers have finished",
		Long: `Pause a mission: start no more workers. Those that run are not interrupted: they finish,
and Pawl merges their work. Then the mission ends as paused, with exit code 6 in the
terminal that runs it. The command does not wait for that; 'pawl mission status --watch'
does.

A pause survives a crash. 'pawl mission resume' continues the mission. 'pawl mission stop'
interrupts the workers instead.`,
		Example: `  pawl mission pause
  pawl mission pause 8Q4Z7K`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.with(cmd, args, func(ctx context.Context, a *app.App, s pawl.Session) error {
				return pauseMission(ctx, cmd.ErrOrStderr(), a, s)
			})
		},
	}
	t.add(cmd)
	return cmd
}

func pauseMission(ctx context.Context, w io.Writer, a *app.App, s pawl.Session) error {
	b, err := a.Mission(ctx, s.ID)
	if err != nil {
		return err
	}
	if !mission.Running(b) {
		_, err := fmt.Fprintf(w, "pawl: mission %s is not running: %s\n", s.ID, stateText(b.State))
		return err
	}
	if err := (mission.Operations{}).Pause(ctx, a, s.ID); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "pawl: mission %s starts no more workers and pauses after %s. Run `pawl mission resume %s` to continue.\n",
		s.ID, humanize.Plural(len(b.Mission.In(pawl.PhaseRunning)), "running task"), s.ID)
	return err
}
