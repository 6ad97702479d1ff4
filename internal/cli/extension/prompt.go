package extension

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
)

func agentPromptCommand() *cobra.Command {
	var ref string
	var trusted bool
	cmd := &cobra.Command{
		Use:   "prompt [name]",
		Short: "Print the system prompt of an agent",
		Long: `Print the system prompt that a new session in this directory would have: the agent's
prompt, instructions for the model's family, the environment, rules, agents and skills.
Project configuration is included only if you trust the project.

The default agent is build.`,
		Example: `  pawl agents prompt
  pawl agents prompt plan --model gpt
  pawl agents prompt --trust | less`,
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := app.ExtensionsHere(cmd.Context(), trusted)
			if err != nil {
				return err
			}
			def, err := agent.Find(strings.Join(args, ""), found)
			if err != nil {
				return err
			}
			model, err := promptModel(ref, def)
			if err != nil {
				return err
			}
			has := func(tool string) bool { return def.Tools == nil || slices.Contains(def.Tools, tool) }
			_, err = cmd.OutOrStdout().Write([]byte(agent.SystemPrompt(def, agent.PromptContext{Model: model, Found: found, Day: time.Now(), Has: has})))
			return err
		},
	}
	cmd.Flags().StringVarP(&ref, "model", "m", os.Getenv("PAWL_MODEL"), "`model` to write the prompt for (default: PAWL_MODEL, the agent's or the configured one)")
	cmd.Flags().BoolVar(&trusted, "trust", false, "include project configuration that is not trusted")
	return cmd
}

// promptModel returns the model of a session with the agent def: ref, the agent's or the configured
// one. It returns "" if none is set.
func promptModel(ref string, def agent.Definition) (string, error) {
	user, err := app.LoadUser()
	if err != nil {
		return "", err
	}
	ref = cmp.Or(ref, def.Model, user.Model)
	return ref, app.KnownModel(ref)
}
