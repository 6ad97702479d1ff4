package mission

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// missionPlanFlags are the flags of 'pawl mission plan'.
type missionPlanFlags struct {
	missionTarget
	edit, json bool
}

func missionPlanCommand() *cobra.Command {
	var f missionPlanFlags
	cmd := &cobra.Command{
		Use:   "plan [id]",
		Short: "Show or edit the plan of a mission",
		Long: `Show the plan of a mission: its tasks with the files that they own, the criteria, the
checks, and whether it is approved. Without an id, show the newest mission of this
directory.

With --edit, open the plan in the editor that VISUAL or EDITOR names. You can also edit
.pawl/missions/<id>/TODO.md yourself. An invalid edit is an error that names the line and
the reason. The criteria and checks are fixed. 'pawl mission approve' starts the plan as
you left it.`,
		Example: `  pawl mission plan
  pawl mission plan --edit 8Q4Z7K
  pawl mission plan --json | jq -r '.tasks[] | "\(.id): \(.files)"'`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, args, func(ctx context.Context, a *app.App, s pawl.Session) error {
				return f.run(ctx, cmd.OutOrStdout(), a, s)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.edit, "edit", false, "edit the plan first")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

func (f *missionPlanFlags) run(ctx context.Context, w io.Writer, a *app.App, s pawl.Session) error {
	b, err := a.Mission(ctx, s.ID)
	if err != nil {
		return err
	}
	if f.edit && len(b.Mission.Tasks) > 0 {
		if b.State == pawl.MissionSealed {
			return fault.New(pawl.ErrInvalid, "mission %s is sealed: its plan cannot change", s.ID)
		}
		if err := cli.OpenEditor(mission.PlanFile(b.Session.Dir, s.ID)); err != nil {
			return err
		}
	}
	expected, err := forecast(ctx, a, b)
	if err != nil {
		return err
	}
	p, err := planOf(b, expected)
	if err != nil {
		return err
	}
	if f.json {
		return cli.WriteJSON(w, p)
	}
	_, err = io.WriteString(w, p.text())
	return err
}

// missionPlan is a plan as --json prints it.
type missionPlan struct {
	api.MissionPlan
	Forecast *mission.Forecast `json:"forecast,omitempty"` // nil without earlier missions
}

// planOf returns the plan of a mission, with the edits of the user.
func planOf(b pawl.Board, expected *mission.Forecast) (*missionPlan, error) {
	p, err := mission.PlanOf(b)
	if err != nil {
		return nil, err
	}
	return &missionPlan{p, expected}, nil
}

// waitingPlan returns the plan of a mission that waits for approval, or nil.
func waitingPlan(b pawl.Board, expected *mission.Forecast) (*missionPlan, error) {
	if b.State != pawl.MissionPlanned || b.Mission.Blocked == nil {
		return nil, nil
	}
	return planOf(b, expected)
}

// text returns the plan for people.
func (p *missionPlan) text() string {
	var out strings.Builder
	out.WriteString(sanitize.Text(mission.Write(p.Goal, pawl.Plan{Tasks: p.Tasks}, nil)))
	if len(p.Criteria) > 0 {
		out.WriteString("\nCriteria:\n")
	}
	for _, c := range p.Criteria {
		fmt.Fprintf(&out, "  %s: %s\n", sanitize.Line(c.ID), humanize.FirstLine(c.Text, 200))
	}
	if len(p.Checks) > 0 {
		out.WriteString("\nChecks:\n")
	}
	for _, c := range p.Checks {
		fmt.Fprintf(&out, "  %s: %s%s\n", sanitize.Line(c.ID), humanize.FirstLine(strings.Join(c.Command, " "), 200), onBase(c.Passes))
	}
	fmt.Fprintf(&out, "\nPlan %s: %s, %s.\n%s\nFile: %s\n", shortHash(p.Hash), humanize.Plural(len(p.Tasks), "task"), p.approval(), p.Forecast, p.File)
	if p.State == pawl.MissionPlanned {
		fmt.Fprintf(&out, "Edit the plan with `pawl mission plan --edit %[1]s`. Start the work with `pawl mission approve %[1]s`.\n", p.Mission)
	}
	return out.String()
}

func (p *missionPlan) approval() string {
	text := "no approval needed"
	switch {
	case !p.Approved:
		text = "not approved"
	case p.ApprovedBy != nil:
		text = "approved"
		if who := p.ApprovedBy.String(); who != "" {
			text += " by " + sanitize.Line(who)
		}
	}
	if p.Edited {
		text += ", edited"
	}
	return text
}

func onBase(passes *bool) string {
	switch {
	case passes == nil:
		return ""
	case *passes:
		return " (passes before the work)"
	default:
		return " (fails before the work)"
	}
}

// shortHash abbreviates a hash such as sha256:0123….
func shortHash(hash string) string {
	_, hash, _ = strings.Cut(hash, ":")
	return humanize.Commit(hash)
}
