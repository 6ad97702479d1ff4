package mission

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/turn"
	"github.com/pawl-dev/pawl/internal/mission"
)

// missionResumeFlags are the flags of 'pawl mission resume'.
type missionResumeFlags struct {
	missionTarget
	turn.SettingsFlags
	turn.OutputFlags
}

func missionResumeCommand() *cobra.Command {
	var f missionResumeFlags
	cmd := &cobra.Command{
		Use:   "resume [id [prompt…]]",
		Short: "Resume a paused, stopped, blocked or interrupted mission",
		Long: `Resume a mission. An interrupted mission continues after its last event, with its own
limits. A mission that was paused, stopped, blocked or out of budget gets a new turn with the
limits of the flags and your prompt (default: "Continue."). Nothing is merged twice, and the
criteria do not change. Without an id, resume the newest mission of this directory.`,
		Example: `  pawl mission resume
  pawl mission resume --max-cost 20
  pawl mission resume 8Q4Z7K "the key is in place now"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			settings, err := f.settings(cmd)
			if err != nil {
				return err
			}
			return f.with(cmd, args[:min(1, len(args))], func(ctx context.Context, a *app.App, s pawl.Session) error {
				return f.run(ctx, cmd, a, s, settings, args)
			})
		},
	}
	f.addAll(cmd)
	return cmd
}

// addAll adds the flags of a command that continues a mission.
func (f *missionResumeFlags) addAll(cmd *cobra.Command) {
	f.add(cmd)
	f.AddModel(cmd)
	cmd.Flags().StringVar(&f.Mode, "mode", "", "permission `mode`: plan, ask, guard, auto or yolo (default: the mission's)")
	cmd.Flags().BoolVar(&f.Trust, "trust", false, "trust the project configuration")
	f.OutputFlags.Add(cmd)
}

// settings checks the flags and returns the settings of the prompt.
func (f *missionResumeFlags) settings(cmd *cobra.Command) (pawl.Settings, error) {
	settings, err := f.Settings()
	if err = errors.Join(err, f.Check()); err != nil {
		return settings, cli.UsageError(cmd, err)
	}
	settings.Absent = !f.Attended(cmd)
	if !cmd.Flags().Changed("model") {
		settings.Model = "" // keep the mission's model and ignore PAWL_MODEL
	}
	return settings, nil
}

func (f *missionResumeFlags) run(ctx context.Context, cmd *cobra.Command, a *app.App, s pawl.Session, settings pawl.Settings, args []string) error {
	if s.State() == pawl.StateIdle && s.MissionState() == pawl.MissionSealed {
		fmt.Fprintf(cmd.ErrOrStderr(), "pawl: mission %s is already sealed. Run `pawl mission report %s` to see the evidence.\n", s.ID, s.ID)
		return nil
	}
	if err := (mission.Operations{}).Resume(ctx, a, s.ID, api.MissionResume{Text: strings.Join(args[min(1, len(args)):], " "), Settings: settings}); err != nil {
		return err
	}
	return followMission(cmd, a, f.OutputFlags, s, s.Head)
}
