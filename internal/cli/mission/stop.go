package mission

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/mission"
)

func missionStopCommand() *cobra.Command {
	var t missionTarget
	cmd := &cobra.Command{
		Use:   "stop [id]",
		Short: "Stop a mission now",
		Long: `Stop a mission, like Ctrl-C in the terminal that runs it, and wait until it has stopped.
Workers are interrupted: what they have done so far is kept for the next attempt. Merged
tasks stay merged. 'pawl mission pause' lets the workers finish instead. 'pawl mission
resume' continues the mission.`,
		Example: `  pawl mission stop
  pawl mission stop 8Q4Z7K`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.with(cmd, args, func(ctx context.Context, a *app.App, s pawl.Session) error {
				return stopMission(ctx, cmd.ErrOrStderr(), a, s)
			})
		},
	}
	t.add(cmd)
	return cmd
}

func stopMission(ctx context.Context, w io.Writer, a *app.App, s pawl.Session) error {
	if s.State() == pawl.StateIdle {
		_, err := fmt.Fprintf(w, "pawl: mission %s is not running: %s\n", s.ID, s.MissionState())
		return err
	}
	if err := (mission.Operations{}).Stop(ctx, a, s.ID); err != nil {
		return err
	}
	if err := awaitEnd(ctx, a, s); err != nil {
		return err
	}
	b, err := a.Mission(ctx, s.ID)
	if err != nil {
		return err
	}
	next := fmt.Sprintf("Run `pawl mission resume %s` to continue.", s.ID)
	if b.State == pawl.MissionSealed { // it was sealed before it could be stopped
		next = fmt.Sprintf("Run `git merge %s` to merge it.", b.Mission.Branch)
	}
	_, err = fmt.Fprintf(w, "pawl: mission %s is %s. %s\n", s.ID, b.State, next)
	return err
}

// awaitEnd waits until a session is idle.
func awaitEnd(ctx context.Context, svc pawl.Service, s pawl.Session) error {
	for e, err := range svc.Events(ctx, s.ID, s.Head) {
		if err != nil {
			return err
		}
		switch e.Body.(type) {
		case pawl.TurnFinished, pawl.Withdrawn:
		default:
			continue
		}
		now, err := svc.Get(ctx, s.ID)
		if err != nil || now.State() == pawl.StateIdle {
			return err
		}
	}
	return ctx.Err()
}
