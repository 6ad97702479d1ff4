package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/plain"
	"github.com/pawl-dev/pawl/internal/safety"
)

func hooksCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hooks",
		Short: "Look at the commands that join in at points of a session",
		Args:  usage(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(hooksListCommand())
	return cmd
}

// listedHook is a command as 'pawl hooks list --json' prints it.
type listedHook struct {
	Point    hook.Point `json:"point"`
	Event    string     `json:"event"`
	Matcher  string     `json:"matcher,omitempty"`
	Command  string     `json:"command,omitempty"`
	Args     []string   `json:"args,omitempty"`
	MayAllow bool       `json:"may_allow,omitempty"`
	Layer    hook.Layer `json:"layer"`
	File     string     `json:"file"`
}

// hookListing is all that it prints.
type hookListing struct {
	Hooks  []listedHook `json:"hooks"`
	Faults []string     `json:"faults"`
}

func hooksListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the hooks that run in this folder",
		Long: `List the hooks that run in this folder: those of your configuration and, if you trust
the folder, its own. What is wrong with a configuration is told too.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := loadHooks(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), list)
			}
			for _, fault := range list.Faults {
				fmt.Fprintf(cmd.ErrOrStderr(), "pawl: %s\n", plain.Line(fault))
			}
			return list.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func loadHooks(cmd *cobra.Command) (hookListing, error) {
	list := hookListing{Hooks: []listedHook{}, Faults: []string{}}
	s, err := safety.Open()
	if err != nil {
		return list, err
	}
	dir, err := workingDir()
	if err != nil {
		return list, err
	}
	commands, faults, err := s.HookCommands(cmd.Context(), dir, pawl.Settings{})
	if err != nil {
		return list, err
	}
	for _, x := range commands {
		list.Hooks = append(list.Hooks, listedHook{x.Point, x.Event, x.Matcher, x.Command, x.Args, x.MayAllow, x.Origin.Layer, x.Origin.File})
	}
	for _, f := range faults {
		list.Faults = append(list.Faults, f.String())
	}
	return list, nil
}

func (l hookListing) print(w io.Writer) error {
	if len(l.Hooks) == 0 {
		_, err := fmt.Fprintln(w, "no hooks")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, h := range l.Hooks {
		command := h.Command
		if len(h.Args) > 0 {
			command = strings.Join(h.Args, " ")
		}
		matcher := h.Matcher
		if matcher == "" {
			matcher = "*"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", h.Layer, plain.Line(h.Event), plain.Line(matcher), firstLine(command, 100))
	}
	return t.Flush()
}
