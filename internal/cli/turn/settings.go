package turn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/trust"
	"github.com/pawl-dev/pawl/internal/workspace"
)

// DefaultModel returns the configured model. Without one it returns a usage error.
func DefaultModel(ctx context.Context) (string, error) {
	user, err := app.LoadUser()
	if err != nil || user.Model != "" {
		return user.Model, err
	}
	missing := fault.New(pawl.ErrInvalid, "no model configured")
	if ref := app.UsableModel(ctx); ref != "" {
		missing = missing.Hint("Run `pawl config set model %s`, or pass `--model %s`.", ref, ref)
	} else {
		missing = missing.Hint("Run `pawl auth login anthropic` and `pawl config set model sonnet`, or pass `--model demo` to try Pawl without a key.")
	}
	return "", &cli.ExitError{Code: cli.ExitUsage, Err: missing}
}

// SettingsFlags are the flags for the settings of a prompt.
type SettingsFlags struct {
	model    string
	effort   string
	agent    string
	Mode     string
	maxSteps int
	maxCost  float64
	budget   struct {
		tokens  int64
		time    time.Duration
		session float64
	}
	tools      []string
	addDirs    []string
	Trust      bool
	askTimeout time.Duration
}

// Modes are the permission modes, the strictest first.
var Modes = []string{"plan", "ask", "guard", "auto", "yolo"}

// Add adds all flags to cmd.
func (f *SettingsFlags) Add(cmd *cobra.Command) {
	f.AddAllButAgent(cmd)
	cmd.Flags().StringVar(&f.agent, "agent", "", "the `agent` to use (default: build)")
	cmd.Flags().StringArrayVar(&f.addDirs, "add-dir", nil, "work in this further project `directory` too (repeatable)")
	cli.GroupFlags(cmd, cli.FlagsModel, "agent")
	cli.GroupFlags(cmd, cli.FlagsPermissions, "add-dir")
}

// AddAllButAgent adds the flags to a command that always uses the same agent.
func (f *SettingsFlags) AddAllButAgent(cmd *cobra.Command) {
	f.AddModel(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.Mode, "mode", "", "permission `mode`: plan, ask, guard, auto or yolo")
	flags.Float64Var(&f.budget.session, "max-session-cost", 0, "stop the turn when the session reaches this `cost`, in USD (0 = no limit)")
	flags.StringSliceVar(&f.tools, "tools", nil, "use only these `tools`, e.g. read,grep")
	flags.DurationVar(&f.askTimeout, "ask-timeout", 0, "deny permission prompts after this `time` (0 = wait)")
	flags.BoolVar(&f.Trust, "trust", false, "trust this project's configuration for this run")
	cli.GroupFlags(cmd, cli.FlagsModel, "tools")
	cli.GroupFlags(cmd, cli.FlagsPermissions, "mode", "ask-timeout", "trust")
	cli.GroupFlags(cmd, cli.FlagsLimits, "max-session-cost")
}

// AddModel adds the flags for the model and the limits only.
func (f *SettingsFlags) AddModel(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.model, "model", "m", os.Getenv("PAWL_MODEL"), "the `model` to use (default: PAWL_MODEL, the session's, or the configured one)")
	flags.StringVar(&f.effort, "effort", "", "reasoning `effort`, if the model supports it: low, medium, high or another of its levels (default: the model's own)")
	flags.IntVar(&f.maxSteps, "max-steps", 0, "stop the turn after `n` model calls (0 = no limit)")
	flags.Float64Var(&f.maxCost, "max-cost", 0, "stop the turn at this `cost`, in USD (0 = no limit)")
	flags.Int64Var(&f.budget.tokens, "max-tokens", 0, "stop the turn after this many `tokens` (0 = no limit)")
	flags.DurationVar(&f.budget.time, "max-time", 0, "stop the turn after this `time`, e.g. 30m (0 = no limit)")
	cli.GroupFlags(cmd, cli.FlagsModel, "model", "effort")
	cli.GroupFlags(cmd, cli.FlagsLimits, "max-steps", "max-cost", "max-tokens", "max-time")
}

// Settings checks the flags and returns the settings of a prompt.
func (f *SettingsFlags) Settings() (pawl.Settings, error) {
	if f.Mode != "" && !slices.Contains(Modes, f.Mode) {
		return pawl.Settings{}, cli.Unknown("mode", f.Mode, Modes)
	}
	if f.maxSteps < 0 {
		return pawl.Settings{}, fmt.Errorf("--max-steps must not be negative: %d", f.maxSteps)
	}
	model := f.model
	if path, ok := strings.CutPrefix(model, "script:"); ok {
		abs, err := filepath.Abs(path) // a resumed run may start in another directory
		if err != nil {
			return pawl.Settings{}, err
		}
		model = "script:" + abs
	}
	if f.askTimeout < 0 {
		return pawl.Settings{}, fmt.Errorf("--ask-timeout must not be negative: %s", f.askTimeout)
	}
	if f.maxCost < 0 || f.budget.tokens < 0 || f.budget.time < 0 || f.budget.session < 0 {
		return pawl.Settings{}, errors.New("--max-cost, --max-tokens, --max-time and --max-session-cost must not be negative")
	}
	dirs, err := realDirs(f.addDirs)
	if err != nil {
		return pawl.Settings{}, err
	}
	return pawl.Settings{
		AddDirs: dirs,
		Agent:   f.agent, Model: model, Effort: f.effort, Mode: f.Mode, MaxSteps: f.maxSteps, MaxCost: pawl.MoneyOf(f.maxCost), Tools: f.tools, Trusted: f.Trust,
		AskTimeout: f.askTimeout, MaxTokens: f.budget.tokens, MaxTime: f.budget.time, MaxSessionCost: pawl.MoneyOf(f.budget.session),
	}, nil
}

// realDirs returns the real paths of directories.
func realDirs(dirs []string) (list []string, err error) {
	base, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		real, err := workspace.NamedDir(base, dir)
		if err != nil {
			return nil, fmt.Errorf("--add-dir: %w", err)
		}
		list = append(list, real)
	}
	return list, nil
}

// PrintTrustNotice prints which parts of the project configuration are inactive.
func (f *SettingsFlags) PrintTrustNotice(ctx context.Context, a *app.App, dir string, w io.Writer) {
	if a.Policy == nil {
		return // the project is on the server
	}
	folder, ignored, err := a.Policy.Project(ctx, dir, f.Trust)
	for _, i := range ignored {
		fmt.Fprintf(w, "pawl: note: ignored %s in the project configuration: %s\n", i.Key, i.Why)
	}
	switch {
	case err != nil:
		fmt.Fprintf(w, "pawl: note: ignored the project configuration: %v\n", err)
	case len(folder.Parts) == 0 || folder.State == trust.Trusted:
	case folder.State == trust.Changed:
		fmt.Fprintln(w, "pawl: note: the project configuration has changed since you trusted it and is inactive. Run `pawl trust` to review it.")
	default:
		verb := "are"
		if len(folder.Parts) == 1 {
			verb = "is"
		}
		fmt.Fprintf(w, "pawl: note: the project is not trusted: %s of its configuration %s inactive. Run `pawl trust` to review it.\n", humanize.Plural(len(folder.Parts), "part"), verb)
	}
}
