package root

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/cli"
)

// usageTemplate prints the usage of a command: its forms, examples, subcommands by group, and flags by
// group.
const usageTemplate = `Usage:
{{- range useLines .}}
  {{.}}
{{- end}}
{{- if .HasExample}}

Examples:
{{.Example}}
{{- end}}
{{- range commandGroups .}}

{{.Title}}:
{{- range .Commands}}
  {{rpad .Name .NamePadding}}  {{.Short}}
{{- end}}
{{- end}}
{{- range flagGroups .}}

{{.Title}}:
{{.Usages | trimTrailingWhitespaces}}
{{- end}}
{{- if .HasAvailableInheritedFlags}}

Global flags:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}
{{- end}}
{{- with helpTopics .}}

Help topics:
{{- range .}}
  {{rpad .Name .NamePadding}}  {{.Short}}
{{- end}}
{{- end}}
{{- if and .HasAvailableSubCommands (ne .Name "help")}}

Run ` + "`{{.CommandPath}} COMMAND --help`" + ` for more about a command{{if helpTopics .}}, or ` + "`{{.CommandPath}} help TOPIC`" + ` for a topic{{end}}.
{{- end}}
`

// helpTemplate prints the description of a command and its usage.
const helpTemplate = `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}

{{end}}{{.UsageString}}`

func init() { //nolint:gochecknoinits // cobra's settings are global
	cobra.EnableCommandSorting = false
	cobra.AddTemplateFunc("helpTopics", helpTopics)
	cobra.AddTemplateFunc("useLines", useLines)
	cobra.AddTemplateFunc("commandGroups", commandGroups)
	cobra.AddTemplateFunc("flagGroups", cli.FlagGroups)
}

// useLines returns the forms in which a command can be used.
func useLines(cmd *cobra.Command) []string {
	var lines []string
	if cmd.Runnable() {
		lines = append(lines, cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() && cmd.Name() != "help" {
		lines = append(lines, cmd.CommandPath()+" COMMAND")
	}
	return lines
}

// helpTopics returns the help topics if cmd is the root command.
func helpTopics(cmd *cobra.Command) []*cobra.Command {
	if cmd.HasParent() {
		return nil
	}
	for _, c := range cmd.Commands() {
		if c.Name() == "help" {
			return c.Commands()
		}
	}
	return nil
}

// commandGroup is a group of subcommands.
type commandGroup struct {
	Title    string
	Commands []*cobra.Command
}

// commandGroups returns the visible subcommands of cmd by group, in the order of the groups. Commands
// of no group come last.
func commandGroups(cmd *cobra.Command) []commandGroup {
	if !cmd.HasAvailableSubCommands() {
		return nil
	}
	var groups []commandGroup
	for _, g := range cmd.Groups() {
		groups = append(groups, commandGroup{Title: g.Title})
	}
	rest := commandGroup{Title: "Commands"}
	switch {
	case len(groups) > 0:
		rest.Title = "Other"
	case cmd.Name() == "help":
		rest.Title = "Topics"
	}
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() && c.Name() != "help" {
			continue
		}
		i := slices.IndexFunc(cmd.Groups(), func(g *cobra.Group) bool { return g.ID == c.GroupID })
		if i < 0 {
			rest.Commands = append(rest.Commands, c)
			continue
		}
		groups[i].Commands = append(groups[i].Commands, c)
	}
	return slices.DeleteFunc(append(groups, rest), func(g commandGroup) bool { return len(g.Commands) == 0 })
}

// addGroup adds commands to cmd under a title.
func addGroup(cmd *cobra.Command, title string, commands ...*cobra.Command) {
	cmd.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	cmd.AddCommand(commands...)
}

// helpCommand returns 'pawl help', whose subcommands are the help topics.
func helpCommand(topics []topic) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "help [command | topic]",
		Short: "Show help about a command or a topic",
		Example: `  pawl help session undo
  pawl help exit-codes`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || found == nil || len(rest) > 0 {
				return cli.UsageError(cmd, cli.Unknown("command or topic", strings.Join(args, " "), helpNames(cmd)))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range found.Commands() {
				isTopic := len(args) == 0 && slices.ContainsFunc(topics, func(t topic) bool { return t.name == c.Name() })
				if c.IsAvailableCommand() && !isTopic && strings.HasPrefix(c.Name(), typed) { // cobra completes topics, which are subcommands
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	for _, t := range topics {
		cmd.AddCommand(&cobra.Command{
			Use:                   t.name,
			Short:                 t.short,
			Long:                  t.text,
			DisableFlagsInUseLine: true,
			Args:                  cli.Args(cobra.NoArgs),
			RunE: func(cmd *cobra.Command, _ []string) error {
				_, err := fmt.Fprint(cmd.OutOrStdout(), t.text)
				return err
			},
		})
	}
	return cmd
}

// helpNames returns the names of the commands and topics.
func helpNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range slices.Concat(cmd.Root().Commands(), cmd.Commands()) {
		if !c.Hidden && !slices.Contains(names, c.Name()) {
			names = append(names, c.Name())
		}
	}
	return names
}
