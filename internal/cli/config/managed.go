package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl/internal/app/inventory"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

func managedCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "managed",
		Short: "Show the managed policy of this machine",
		Long:  "Show the policy that an administrator has set for this machine in " + config.ManagedFile + ".",
		Example: `  pawl config managed
  pawl config managed --json | jq -r .max_mode`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := config.LoadManaged()
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), m)
			}
			w := cmd.OutOrStdout()
			if m.MaxMode == "" && m.Rules == nil && !m.SandboxRequired && m.Hooks == nil && !m.OnlyManaged && m.Skills == nil {
				_, err := fmt.Fprintf(w, "No managed policy: %s does not exist or is empty.\n", config.ManagedFile)
				return err
			}
			rules, err := permission.ParseRules(m.Rules, permission.OriginUser)
			if err != nil {
				return fmt.Errorf("read the managed policy: %w", err)
			}
			hooks, err := policy.ManagedHooks(m)
			if err != nil {
				return err
			}
			if m.MaxMode != "" {
				mode, err := permission.ParseMode(m.MaxMode)
				if err != nil {
					return fmt.Errorf("read the managed policy: %w", err)
				}
				fmt.Fprintf(w, "maximum mode: %s\n", mode)
			}
			if m.SandboxRequired {
				fmt.Fprintln(w, "sandbox: required")
			}
			for _, r := range rules {
				fmt.Fprintf(w, "rule: %s\n", r)
			}
			if m.Skills != nil {
				fmt.Fprintf(w, "trusted owners of skills: %s\n", cmp.Or(strings.Join(m.Skills.TrustedOwners, ", "), "none"))
			}
			if m.OnlyManaged {
				fmt.Fprintln(w, "hooks of users and projects: disabled")
			}
			for _, x := range hooks {
				fmt.Fprintf(w, "hook: %s: %s\n", sanitize.Line(x.Event), sanitize.Line(inventory.HookLine(x.Command, x.Args)))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
