package extension

import (
	"cmp"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
)

// PromptCommand returns 'pawl prompt' with its subcommands.
func PromptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prompt",
		Short: "Look at what a model is told",
		Args:  cli.Args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(promptShowCommand())
	return cmd
}

func promptShowCommand() *cobra.Command {
	var name, ref string
	var trusted bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print what a model is told before the conversation",
		Long: `Print what a model would be told before the conversation of a session that begins
here now: the agent's own words, what helps the model's family, where it works, rules,
agents and skills. What this folder brings is in it only if you trust the folder.`,
		Example: `  pawl prompt show
  pawl prompt show --agent explore
  pawl prompt show --agent plan --model gpt
  pawl prompt show --trust | less`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := app.ExtensionsHere(cmd.Context(), trusted)
			if err != nil {
				return err
			}
			def, err := agent.Find(name, found)
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
	cmd.Flags().StringVar(&name, "agent", "", "of this `agent` (default: build)")
	cmd.Flags().StringVarP(&ref, "model", "m", os.Getenv("PAWL_MODEL"), "to this `model` (default: PAWL_MODEL, the agent's, or the configured one)")
	cmd.Flags().BoolVar(&trusted, "trust", false, "as if you trusted this folder")
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
