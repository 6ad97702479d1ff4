// Package extension implements the commands for agents, commands, skills, hooks, rules and
// prompts.
package extension

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// AgentsCommand returns 'pawl agents' with its subcommands.
func AgentsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "Look at the agents that you and this folder bring",
		Args:  cli.Args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	list := listCommand("agents", func(f *extension.Found) (any, string) {
		checkAgents(f.Agents.Agents)
		return f.Agents, f.Agents.Show()
	})
	list.Long = `List the agents of yours and of this folder, where each comes from, and what of it is
ignored. Those of the folder are there only if you trust it. Pawl's own are build, plan,
explore and general.`
	cmd.AddCommand(list, agentShowCommand(), agentNewCommand())
	return cmd
}

// CommandsCommand returns 'pawl commands' with its subcommands.
func CommandsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "commands",
		Short: "Look at the commands that you and this folder bring",
		Args:  cli.Args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	list := listCommand("commands", func(f *extension.Found) (any, string) { return f.Commands, f.Commands.Show() })
	list.Long = `List the commands of yours and of this folder. Those of the folder are there only if
you trust it. To use one, begin a prompt with its name: pawl run "/name arguments".`
	cmd.AddCommand(list)
	return cmd
}

// listCommand returns the command that lists one kind of extension.
func listCommand(kind string, of func(*extension.Found) (set any, text string)) *cobra.Command {
	var asJSON, trusted bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List them, with where they come from",
		Example: fmt.Sprintf("  pawl %s list\n  pawl %s list --trust --json", kind, kind),
		Args:    cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := app.ExtensionsHere(cmd.Context(), trusted)
			if err != nil {
				return err
			}
			set, text := of(found)
			switch {
			case asJSON:
				return cli.WriteJSON(cmd.OutOrStdout(), set)
			case text == "":
				text = "there are none; those of a folder count only if you trust it: see 'pawl trust'\n"
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&trusted, "trust", false, "as if you trusted this folder")
	return cmd
}

func agentShowCommand() *cobra.Command {
	var trusted, asJSON bool
	cmd := &cobra.Command{
		Use:     "show name",
		Short:   "Show what an agent is told, and what it may use",
		Example: "  pawl agents show reviewer\n  pawl agents show reviewer --json",
		Args:    cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := app.ExtensionsHere(cmd.Context(), trusted)
			if err != nil {
				return err
			}
			def, err := agent.Find(args[0], found)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(found.Agents.Agents, func(a definition.Agent) bool { return a.Name == def.Name })
			one := definition.AgentSet{Agents: []definition.Agent{{Name: def.Name, Mode: "pawl's own", Tools: def.Tools, Steps: def.Steps}}}
			if i >= 0 {
				one.Agents[0] = found.Agents.Agents[i]
				checkAgents(one.Agents)
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), one.Agents[0])
			}
			tools := "all"
			if def.Tools != nil {
				tools = fmt.Sprint(def.Tools)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%stools: %s\n\n%s\n", one.Show(), tools, def.Prompt)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&trusted, "trust", false, "as if you trusted this folder")
	return cmd
}

// checkAgents adds a fault to agents with an unknown model. The turns of such an agent fail with the
// same error.
func checkAgents(agents []definition.Agent) {
	for i := range agents {
		if err := app.KnownModel(agents[i].Model); err != nil {
			agents[i].Faults = append(agents[i].Faults, "model: "+cli.ErrorText(err))
		}
	}
}

var agentName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

const agentTemplate = `---
description: Says in a line what it is for.
mode: all
tools: read, grep, glob, list
---
You are …
`

func agentNewCommand() *cobra.Command {
	var project bool
	cmd := &cobra.Command{
		Use:   "new name",
		Short: "Write the beginning of an agent, for you to go on with",
		Example: `  pawl agents new reviewer             # in your configuration folder
  pawl agents new reviewer --project   # in .pawl/agents here`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := newAgentFile(args[0], project)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), sanitize.Line(path))
			return err
		},
	}
	cmd.Flags().BoolVar(&project, "project", false, "for this folder")
	return cmd
}

// newAgentFile creates a file with a template for an agent and returns its path. It does not
// overwrite an existing file.
func newAgentFile(name string, project bool) (string, error) {
	if !agentName.MatchString(name) || slices.Contains(agent.Reserved(), name) {
		return "", fault.New(pawl.ErrInvalid, "%.80q cannot be an agent's name: use lower case letters, digits and hyphens, and no name of pawl's own", name)
	}
	dir, err := ownFolder(project, filepath.Join(".pawl", "agents"), "agents")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+".md")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s is there already: edit it", path)
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(agentTemplate)
	return path, errors.Join(err, f.Close())
}

// ownFolder returns the directory here in the working directory if project is set, otherwise the
// directory own in the user's configuration directory.
func ownFolder(project bool, here, own string) (string, error) {
	if project {
		dir, err := app.WorkingDir()
		return filepath.Join(dir, here), err
	}
	dir, err := config.UserFolder()
	return filepath.Join(dir, own), err
}
