// Package security implements the commands for permissions, trust and the sandbox.
package security

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/policy"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// PermissionsCommand returns 'pawl permissions' with its subcommands.
func PermissionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "Show, test and revoke permissions",
		Long: `Show, test and revoke permissions.

Rules are part of your configuration. Saved answers are what you chose to always allow
in permission prompts; they are stored in Pawl's data directory.`,
		Example: `  pawl permissions list
  pawl permissions test git push`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(permissionsListCommand(), permissionsRevokeCommand(), permissionsTestCommand())
	return cmd
}

// permissionList is the output of 'pawl permissions list --json'.
type permissionList struct {
	Mode   permission.Mode   `json:"mode"`
	Rules  []permission.Rule `json:"rules"`
	Grants []listedGrant     `json:"grants"`
}

type listedGrant struct {
	ID string `json:"id"`
	permission.Grant
}

func permissionsListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List permission rules and saved answers",
		Example: `  pawl permissions list
  pawl permissions list --json | jq -r '.grants[].id'`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := app.LoadPolicy(cmd.Context(), "")
			if err != nil {
				return err
			}
			list := permissionList{Mode: p.Mode, Rules: []permission.Rule{}, Grants: []listedGrant{}}
			for _, r := range p.Rules {
				if r.Origin != permission.OriginPawl {
					list.Rules = append(list.Rules, r)
				}
			}
			for _, g := range p.Grants {
				list.Grants = append(list.Grants, listedGrant{g.ID(), g})
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), list)
			}
			return list.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (l permissionList) print(w io.Writer) error {
	fmt.Fprintf(w, "mode: %s\n", l.Mode)
	if len(l.Rules)+len(l.Grants) == 0 {
		_, err := fmt.Fprintln(w, "No rules and no saved answers.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tSCOPE\tRULE")
	for _, r := range l.Rules {
		fmt.Fprintf(t, "rule\teverywhere\t%s\n", r)
	}
	for _, g := range l.Grants {
		fmt.Fprintf(t, "%s\t%s\t%s\n", g.ID, g.Where(), g.Rule)
	}
	return t.Flush()
}

func permissionsRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke id…",
		Short: "Revoke saved answers, so that Pawl asks again",
		Example: `  pawl permissions revoke 3f9a1c
  pawl permissions revoke 3f9a1c 77d02e`,
		Args: cli.Args(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, ids []string) error {
			s, err := policy.Open()
			if err != nil {
				return err
			}
			return s.Grants().Revoke(ids...)
		},
	}
}

func permissionsTestCommand() *cobra.Command {
	var mode string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test [flags] command…",
		Short: "Show whether a command would be allowed",
		Long: `Show whether a command would be allowed, asked about or denied in this directory, and
why, for each of its parts. Also show the rule that "always allow" would save. The
command does not run.

The arguments are joined with spaces. Quote a command that contains shell syntax.

In ask mode, a command whose changes can be reviewed is allowed, and the changes need
your approval before they are applied.

Exit codes: 0 allowed, 3 not allowed or only with approval.`,
		Example: `  pawl permissions test go test ./...
  pawl permissions test --mode guard 'cd docs && make > out'
  pawl permissions test --json git push | jq -r .decision`,
		Args: cli.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, words []string) error {
			if mode != "" {
				if _, err := permission.ParseMode(mode); err != nil {
					return cli.UsageError(cmd, err)
				}
			}
			p, err := app.LoadPolicy(cmd.Context(), mode)
			if err != nil {
				return err
			}
			c := permission.Call{
				Tool: "bash", Risk: toolapi.RiskDangerous, View: true,
				Access: []pawl.Access{{Kind: pawl.AccessExec, Target: strings.Join(words, " ")}},
			}
			v := permission.Decide(p, c)
			if asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), v)
			} else {
				_, err = io.WriteString(cmd.OutOrStdout(), permission.Show(c, v))
			}
			if err != nil || v.Decision == permission.Allow {
				return err
			}
			return &cli.ExitError{Code: cli.ExitDenied}
		},
	}
	cmd.Flags().SetInterspersed(false) // flags after the command belong to the command
	cmd.Flags().StringVar(&mode, "mode", "", "permission `mode`: plan, ask, guard, auto or yolo")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
