package main

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/tool"
)

// places says where agents, commands, rules and skills are looked for.
func places(guard *policy.Safety) (extension.Places, error) {
	p := extension.Places{Trusted: guard.Instructs, Reserved: agent.Reserved()}
	var err error
	if p.Home, err = os.UserHomeDir(); err != nil {
		return p, err
	}
	p.Config, err = config.UserFolder()
	return p, err
}

// useExtensions gives sessions what their directories and the user bring.
func useExtensions(guard *policy.Safety, loop *agent.Config) error {
	p, err := places(guard)
	if err != nil {
		return err
	}
	loop.Tools, err = loop.Tools.With(tool.Skill(func(ctx context.Context, c pawl.Call) (*skill.Set, error) {
		guard.LookAgain() // this very turn may have brought a skill; what the user has said of the directory is known by now
		return p.Look(ctx, c.Dir).Skills, nil
	}))
	if err != nil {
		return err
	}
	loop.Extensions = func(ctx context.Context, dir string, s pawl.Settings) (*extension.Found, error) {
		return look(ctx, guard, p, dir, s.Trusted), nil
	}
	return nil
}

// look reads what there is for a directory. told is that the user has named it
// trusted. A directory that cannot be looked at is not trusted.
func look(ctx context.Context, guard *policy.Safety, p extension.Places, dir string, told bool) *extension.Found {
	_, _, _ = guard.Project(ctx, dir, told)
	return p.Look(ctx, dir)
}

// lookHere is look for the directory that pawl was started in.
func lookHere(ctx context.Context, told bool) (*extension.Found, error) {
	guard, err := policy.Open()
	if err != nil {
		return nil, err
	}
	p, err := places(guard)
	if err != nil {
		return nil, err
	}
	dir, err := workingDir()
	if err != nil {
		return nil, err
	}
	return look(ctx, guard, p, dir, told), nil
}

func promptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "prompt",
		Short: "Look at what a model is told",
		Args:  usage(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(promptShowCommand())
	return cmd
}

func promptShowCommand() *cobra.Command {
	var name, ref string
	var told bool
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
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := lookHere(cmd.Context(), told)
			if err != nil {
				return err
			}
			def, err := agent.Find(name, found)
			if err != nil {
				return err
			}
			model, err := toldModel(ref, def)
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
	cmd.Flags().BoolVar(&told, "trust", false, "as if you trusted this folder")
	return cmd
}

// toldModel is the model that a session with an agent would have. "" means that
// none is chosen yet.
func toldModel(ref string, def agent.Definition) (string, error) {
	user, err := loadUser()
	if err != nil {
		return "", err
	}
	ref = cmp.Or(ref, def.Model, user.Model)
	return ref, knownModel(ref)
}

// knownModel says what is wrong with a model's name, if it is no script's.
func knownModel(ref string) error {
	if ref == "" || strings.HasPrefix(ref, "script:") {
		return nil
	}
	c, err := openCatalog()
	if err != nil {
		return err
	}
	_, err = c.Lookup(ref)
	return err
}
