package mission

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/session"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// missionListFlags are the flags of 'pawl mission list'.
type missionListFlags struct {
	all, json bool
	limit     int
	server    string
}

func missionListCommand() *cobra.Command {
	var f missionListFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the missions of this directory, newest first",
		Example: `  pawl mission list
  pawl mission list --all --json | jq -r '.[] | select(.state == "blocked") | .id'`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.all, "all", false, "list the missions of all directories")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.IntVar(&f.limit, "limit", 20, "list at most `n` missions")
	flags.StringVar(&f.server, "attach", "", "list the missions of the server at this `url`, or unix for the local socket")
	return cmd
}

// listedMission is a mission as 'pawl mission list --json' prints it.
type listedMission struct {
	pawl.Session

	State pawl.MissionState `json:"state"`
}

func (f *missionListFlags) run(cmd *cobra.Command) error {
	filter := pawl.Filter{Missions: true, Limit: f.limit}
	if !f.all {
		var err error
		if filter.Dir, err = os.Getwd(); err != nil {
			return err
		}
	}
	a, err := app.OpenAt(cmd.Context(), f.server)
	if err != nil {
		return err
	}
	page, err := a.List(cmd.Context(), filter)
	if err = errors.Join(err, a.Close()); err != nil {
		return err
	}
	if f.json {
		rows := []listedMission{}
		for _, s := range page.Sessions {
			rows = append(rows, listedMission{s, s.MissionState()})
		}
		return cli.WriteJSON(cmd.OutOrStdout(), rows)
	}
	return f.print(cmd.OutOrStdout(), page.Sessions)
}

func (f *missionListFlags) print(w io.Writer, list []pawl.Session) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No missions found.")
		return err
	}
	folder := func(text string) string {
		if !f.all {
			return ""
		}
		return sanitize.Line(text) + "\t"
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "ID\tUPDATED\tSTATE\t%sGOAL\n", folder("DIRECTORY"))
	short := cli.ShortIDs(list)
	for _, s := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s%s\n", short(s.ID), s.Updated.Local().Format("2006-01-02 15:04"), stateText(s.MissionState()), folder(s.Dir), humanize.FirstLine(s.Name(), 60))
	}
	if err := t.Flush(); err != nil || !slices.ContainsFunc(list, waitsForApproval) {
		return err
	}
	_, err := fmt.Fprintln(w, "\nRun `pawl mission plan ID` to read a plan that waits for approval, and `pawl mission approve ID` to start the work.")
	return err
}

func waitsForApproval(s pawl.Session) bool { return s.MissionState() == pawl.MissionPlanned }

// stateText returns the state of a mission for people.
func stateText(s pawl.MissionState) string {
	if s == pawl.MissionPlanned {
		return "waits for approval"
	}
	return string(s)
}

func missionShowCommand() *cobra.Command {
	var t missionTarget
	cmd := &cobra.Command{
		Use:   "show [id]",
		Short: "Show the transcript of a mission",
		Long: `Show the transcript of a mission: the messages and tool calls of the Commander, the plan,
started, merged and returned tasks, checks, reviews and gate results. Each worker has its
own session: 'pawl mission status' lists them, 'pawl session show' shows one.`,
		Example: `  pawl mission show
  pawl mission show 8Q4Z7K`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return t.with(cmd, args, func(ctx context.Context, a *app.App, s pawl.Session) error {
				out := bufio.NewWriter(cmd.OutOrStdout())
				if err := session.Show(ctx, out, a, s); err != nil {
					return err
				}
				return out.Flush()
			})
		},
	}
	t.add(cmd)
	return cmd
}
