package mission

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
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
	if err := approvable(b); err != nil {
		return err
	}
	p, err := planOf(b, nil)
	if err != nil {
		return err
	}
	if p.Approved {
		return fault.New(pawl.ErrInvalid, "the plan of mission %s is already approved", s.ID).Hint("Run `pawl mission resume %s` to continue the work.", s.ID)
	}
	if _, hash, _ := strings.Cut(p.Hash, ":"); !strings.HasPrefix(p.Hash, f.hash) && !strings.HasPrefix(hash, f.hash) {
		return fault.New(pawl.ErrConflict, "the plan has changed: its hash is %s", shortHash(p.Hash)).Hint("Run `pawl mission plan %s` to read it.", s.ID)
	}
	text := "The user has approved the plan. Delegate its tasks."
	if p.Edited {
		text = "The user has edited the plan and approved it. Delegate its tasks."
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "pawl: mission %s: approving plan %s with %s\n", s.ID, shortHash(p.Hash), humanize.Plural(len(p.Tasks), "task"))
	return f.send(ctx, cmd, a, s, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: text}}, Settings: settings, Approve: &pawl.Plan{Tasks: p.Tasks}})
}

// approvable returns an error if a mission does not wait for the approval of its plan.
func approvable(b pawl.Board) error {
	id, m := b.Session.ID, b.Mission
	switch {
	case b.State == pawl.MissionSealed || !m.Order.ApprovePlan:
		return fault.New(pawl.ErrInvalid, "mission %s does not wait for approval: it is %s", id, b.State).Hint("Only missions that are started with --plan-only wait for approval.")
	case b.Session.State() != pawl.StateIdle:
		return fault.New(pawl.ErrBusy, "mission %s is still planning or working", id).Hint("Run `pawl mission status --watch %[1]s` to follow it, or `pawl mission resume %[1]s` if it was interrupted.", id)
	case m.Criteria == nil:
		return fault.New(pawl.ErrInvalid, "mission %s has no plan yet", id).Hint("Run `pawl mission resume %s` to continue planning.", id)
	default:
		return nil
	}
}
