package extension

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/app/inventory"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// AgentsCommand returns 'pawl agents' with its subcommands.
func AgentsCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List, show and create agents",
		Long: `List the agents of this directory, as 'pawl extensions list agents' does. The built-in
agents are build, plan, explore and general. Agents of a project are active only if you
trust the project.`,
		Example: `  pawl agents
  pawl agents show reviewer
  pawl agents new reviewer --project`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.list(cmd, inventory.Agents) },
	}
	f.addJSON(cmd)
	cmd.AddCommand(agentShowCommand(), agentNewCommand(), agentPromptCommand())
	return cmd
}

func agentShowCommand() *cobra.Command {
	var trusted, asJSON bool
	cmd := &cobra.Command{
		Use:     "show name",
		Short:   "Show an agent's prompt and tools",
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
			a := definition.Agent{Name: def.Name, Mode: inventory.BuiltIn, Tools: def.Tools, Steps: def.Steps}
			if i >= 0 {
				a = found.Agents.Agents[i]
				if err := app.KnownModel(a.Model); err != nil { // its turns fail with the same error
					a.Faults = append(a.Faults, "model: "+err.Error())
				}
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), a)
			}
			if i < 0 {
				a.Mode = ""
			}
			return printAgent(cmd.OutOrStdout(), a, def.Prompt)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&trusted, "trust", false, "include project configuration that is not trusted")
	return cmd
}

var agentName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

const agentTemplate = `---
description: Describe in one line when to use this agent.
mode: all
tools: read, grep, glob, list
---
You are …
`

func agentNewCommand() *cobra.Command {
	var project bool
	cmd := &cobra.Command{
		Use:   "new name",
		Short: "Create an agent from a template",
		Long: `Create the file of an agent from a template, and print its path. Existing files are not
overwritten.`,
		Example: `  pawl agents new reviewer             # in your configuration directory
  pawl agents new reviewer --project   # in .pawl/agents of this directory`,
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
	cmd.Flags().BoolVar(&project, "project", false, "create it in this directory's .pawl/agents")
	return cmd
}

// newAgentFile creates a file with a template for an agent and returns its path. It does not
// overwrite an existing file.
func newAgentFile(name string, project bool) (string, error) {
	if !agentName.MatchString(name) || slices.Contains(agent.Reserved(), name) {
		return "", fault.New(pawl.ErrInvalid, "invalid agent name %.80q: use lower-case letters, digits and hyphens, and not the name of a built-in agent", name)
	}
	dir, err := ownDir(project, filepath.Join(".pawl", "agents"), "agents")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, name+".md")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fault.New(pawl.ErrConflict, "%s already exists", path).Hint("Edit the file, or choose another name.")
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(agentTemplate)
	return path, errors.Join(err, f.Close())
}

// ownDir returns the directory here in the working directory if project is set, otherwise the
// directory own in the user's configuration directory.
func ownDir(project bool, here, own string) (string, error) {
	if project {
		dir, err := app.WorkingDir()
		return filepath.Join(dir, here), err
	}
	dir, err := config.UserFolder()
	return filepath.Join(dir, own), err
}
