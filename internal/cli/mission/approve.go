package mission

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission"
)

// missionApproveFlags are the flags of 'pawl mission approve'.
type missionApproveFlags struct {
	missionResumeFlags
	hash string
}

func missionApproveCommand() *cobra.Command {
	var f missionApproveFlags
	cmd := &cobra.Command{
		Use:   "approve [id]",
		Short: "Approve the plan of a mission and start the work",
		Long: `Approve the plan of a mission that was started with --plan-only, with your edits, and
start the work. The log records the plan and who approved it. Without an id, approve the
plan of the newest mission of this directory.

The approval is for these tasks. If the Commander adds a task or changes one later, that
task waits for your approval too, and the mission ends with exit code 6 when nothing else
is left to do.

Only this command and the API approve a plan: no prompt, file or model output does. The
flags and exit codes are those of 'pawl mission resume'.`,
		Example: `  pawl mission approve
  pawl mission approve --max-cost 20 8Q4Z7K
  pawl mission approve --hash "$(pawl mission plan --json | jq -r .hash)"`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			settings, err := f.settings(cmd)
			if err != nil {
				return err
			}
			return f.with(cmd, args, func(ctx context.Context, a *app.App, s pawl.Session) error {
				return f.approve(ctx, cmd, a, s, settings)
			})
		},
	}
	f.addAll(cmd)
	cmd.Flags().StringVar(&f.hash, "hash", "", "approve only the plan with this `hash` or a prefix of it, as 'pawl mission plan' prints it")
	return cmd
}

func (f *missionApproveFlags) approve(ctx context.Context, cmd *cobra.Command, a *app.App, s pawl.Session, settings pawl.Settings) error {
	b, err := a.Mission(ctx, s.ID)
	if err != nil {
		return err
	}
	p, _, err := mission.Approval(b, func(hash string) bool {
		_, short, _ := strings.Cut(hash, ":")
		return strings.HasPrefix(hash, f.hash) || strings.HasPrefix(short, f.hash)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "pawl: mission %s: approving plan %s with %s\n", s.ID, shortHash(p.Hash), humanize.Plural(len(p.Tasks), "task"))
	if _, err := (mission.Operations{}).Approve(ctx, a, s.ID, api.PlanApproval{Hash: p.Hash, Settings: settings}); err != nil {
		return err
	}
	return followMission(cmd, a, f.OutputFlags, s, s.Head)
}
