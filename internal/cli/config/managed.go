package config

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/cli/inventory"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

func managedCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "managed",
		Short: "Show the policy of this machine, which its administrator has set",
		Args:  cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := config.LoadManaged()
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), m)
			}
			w := cmd.OutOrStdout()
			if m.MaxMode == "" && m.Rules == nil && !m.SandboxRequired && m.Hooks == nil && !m.OnlyManaged {
				_, err := fmt.Fprintln(w, "there is no policy:", config.ManagedFile, "is not there, or says nothing")
				return err
			}
			rules, err := permission.ParseRules(m.Rules, permission.OriginUser)
			if err != nil {
				return fmt.Errorf("read the policy of this machine: %w", err)
			}
			hooks, err := policy.ManagedHooks(m)
			if err != nil {
				return err
			}
			if m.MaxMode != "" {
				mode, err := permission.ParseMode(m.MaxMode)
				if err != nil {
					return fmt.Errorf("read the policy of this machine: %w", err)
				}
				fmt.Fprintf(w, "no mode looser than %s\n", mode)
			}
			if m.SandboxRequired {
				fmt.Fprintln(w, "commands are run in a sandbox or not at all")
			}
			for _, r := range rules {
				fmt.Fprintf(w, "rule %s\n", r)
			}
			if m.OnlyManaged {
				fmt.Fprintln(w, "no hooks of users and projects are run")
			}
			for _, x := range hooks {
				fmt.Fprintf(w, "hook %s: %s\n", sanitize.Line(x.Event), sanitize.Line(inventory.HookLine(x.Command, x.Args)))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
