package extension

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// HooksCommand returns 'pawl hooks' with its subcommands.
func HooksCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hooks",
		Short: "Look at the commands that join in at points of a session",
		Args:  cli.Args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(hooksListCommand())
	return cmd
}

// layerBuiltin is the layer of built-in hooks in a list.
const layerBuiltin hook.Layer = "built-in"

// listedHook is a hook as 'pawl hooks list --json' prints it.
type listedHook struct {
	Point    hook.Point `json:"point"`
	Name     string     `json:"name,omitempty"`
	Event    string     `json:"event,omitempty"`
	Matcher  string     `json:"matcher,omitempty"`
	Command  string     `json:"command,omitempty"`
	Args     []string   `json:"args,omitempty"`
	CanAllow bool       `json:"may_allow,omitempty"`
	Layer    hook.Layer `json:"layer"`
	File     string     `json:"file,omitempty"`
	Priority int        `json:"priority"` // lower runs first
}

// hookListing is the output of 'pawl hooks list --json'.
type hookListing struct {
	Hooks  []listedHook `json:"hooks"`
	Faults []string     `json:"faults"`
}

func hooksListCommand() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the hooks that run in this folder",
		Long: `List the commands that run in this folder as hooks: those of your configuration, of
your administrator and, if you trust the folder, its own. What is wrong with a
configuration is told too. With --all pawl's own hooks are listed as well, in the
order in which all of them run.`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := loadHooks(cmd, all)
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), list)
			}
			for _, fault := range list.Faults {
				fmt.Fprintf(cmd.ErrOrStderr(), "pawl: %s\n", sanitize.Line(fault))
			}
			return list.print(cmd.OutOrStdout(), all)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&all, "all", false, "list pawl's own hooks too, with points and priorities")
	return cmd
}

func loadHooks(cmd *cobra.Command, all bool) (hookListing, error) {
	list := hookListing{Hooks: []listedHook{}, Faults: []string{}}
	s, err := policy.Open()
	if err != nil {
		return list, err
	}
	dir, err := app.WorkingDir()
	if err != nil {
		return list, err
	}
	commands, faults, err := s.HookCommands(cmd.Context(), dir, pawl.Settings{})
	if err != nil {
		return list, err
	}
	for i, x := range commands {
		list.Hooks = append(list.Hooks, listedHook{
			Point: x.Point, Priority: hook.PriorityOutside + i, Event: x.Event, Matcher: x.Matcher, Command: x.Command, Args: x.Args,
			CanAllow: x.CanAllow, Layer: x.Origin.Layer, File: x.Origin.File,
		})
	}
	if all {
		s.Builtins = app.BuiltinHooks()
		list.addOwn(s.OwnHooks())
	}
	for _, f := range faults {
		list.Faults = append(list.Faults, f.String())
	}
	return list, nil
}

// addOwn adds the built-in hooks and sorts all hooks by point and priority.
func (l *hookListing) addOwn(hooks []hook.Hook) {
	for _, h := range hooks {
		for _, p := range h.Points {
			l.Hooks = append(l.Hooks, listedHook{Point: p, Priority: h.Priority, Name: h.Name, Layer: layerBuiltin})
		}
	}
	slices.SortStableFunc(l.Hooks, func(a, b listedHook) int {
		return cmp.Or(cmp.Compare(a.Point, b.Point), cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
	})
}

func (l hookListing) print(w io.Writer, all bool) error {
	if len(l.Hooks) == 0 {
		_, err := fmt.Fprintln(w, "no hooks")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, h := range l.Hooks {
		event, what := h.Event, humanize.FirstLine(cmp.Or(h.Name, HookLine(h.Command, h.Args)), 100)
		if all {
			event = fmt.Sprintf("%s\t%d", h.Point, h.Priority)
		} else {
			event = sanitize.Line(event)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", h.Layer, event, sanitize.Line(cmp.Or(h.Matcher, "*")), what)
	}
	return t.Flush()
}

// HookLine returns the command of a hook as one string.
func HookLine(command string, args []string) string {
	return cmp.Or(command, strings.Join(args, " "))
}
