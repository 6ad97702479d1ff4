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
)

// pauseText tells the Commander why nothing starts. The prompt pauses by its Pause field, not by this text.
const pauseText = "The user has paused the mission. No more workers start, and those that run finish. End your reply now."

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
	b, err := boardOf(ctx, a, s.ID)
	if err != nil {
		return err
	}
	if b.State != pawl.MissionWorking || !b.Session.TurnOpen {
		_, err := fmt.Fprintf(w, "pawl: mission %s is not running: %s\n", s.ID, stateText(b.State))
		return err
	}
	if b.Mission.Paused == 0 {
		p := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: pauseText}}, Delivery: pawl.DeliverSteer, Settings: b.limits, Pause: true}
		if _, err := a.Send(ctx, s.ID, p); err != nil {
			return fmt.Errorf("pause mission %s: %w", s.ID, err)
		}
	}
	_, err = fmt.Fprintf(w, "pawl: mission %s starts no more workers and pauses after %s. Run `pawl mission resume %s` to continue.\n",
		s.ID, humanize.Plural(len(b.Mission.In(pawl.PhaseRunning)), "running task"), s.ID)
	return err
}
