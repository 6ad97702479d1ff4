package mission

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/mission"
)

// missionStatusFlags are the flags of 'pawl mission status'.
type missionStatusFlags struct {
	missionTarget
	json  bool
	watch bool
}

func missionStatusCommand() *cobra.Command {
	var f missionStatusFlags
	cmd := &cobra.Command{
		Use:   "status [id]",
		Short: "Show the progress of a mission",
		Long: `Show the progress of a mission: its tasks with their time, cost and workers, returned
tasks, the latest checks and gate results. Without an id, show the newest mission of this
directory.

With --watch, follow the mission until it ends. A terminal shows a live board; otherwise
each change is a line, or with --json the whole board on a line. The exit code is then
that of the mission: 0 sealed, 4 a limit was reached, 5 the model failed, 6 blocked or
not sealed, 130 canceled.`,
		Example: `  pawl mission status
  pawl mission status --watch
  pawl mission status --json | jq -r '.mission.tasks[] | "\(.task.id) \(.phase)"'`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, args, func(ctx context.Context, a *app.App, s pawl.Session) error {
				return f.run(ctx, cmd.OutOrStdout(), a, s)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print the board as JSON")
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "follow the mission until it ends")
	return cmd
}

func (f *missionStatusFlags) run(ctx context.Context, w io.Writer, a *app.App, s pawl.Session) error {
	b, err := boardOf(ctx, a, s.ID)
	if err != nil {
		return err
	}
	if f.watch {
		return newWatcher(w, a, f.json).run(ctx, b)
	}
	if b.forecast, err = forecast(ctx, a, b.Board); err != nil {
		return err
	}
	if f.json {
		return cli.WriteJSON(w, struct {
			pawl.Board

			Forecast *mission.Forecast `json:"forecast,omitempty"` // nil without earlier missions
		}{b.Board, b.forecast})
	}
	_, err = io.WriteString(w, b.text())
	return err
}

// boardOf returns the current board of a mission.
func boardOf(ctx context.Context, svc pawl.Service, id pawl.SessionID) (board, error) {
	row, err := svc.Mission(ctx, id)
	if err != nil {
		return board{}, err
	}
	b := board{Board: row, now: time.Now()}
	b.limits, err = mission.NewestSettings(ctx, svc, row.Session)
	return b, err
}
