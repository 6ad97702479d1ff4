package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/store"
)

// TenantCommand returns 'pawl tenant' with its subcommands.
func TenantCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tenant",
		Short: "Manage the tenants of a fleet",
		Long: `Manage the tenants of a fleet: organizations that are isolated from each other. Tenants
are kept in the store, which must be PostgreSQL. Use 'pawl token create --tenant' to
create a token for a tenant.`,
		Example: `  pawl tenant create acme --budget 50 --parallel 20
  pawl token create laptop --tenant acme --user ada
  pawl tenant suspend acme`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(tenantCreateCommand(), tenantListCommand(), tenantShowCommand(), tenantSetCommand(),
		tenantSuspendCommand(), tenantResumeCommand(), tenantRemoveCommand())
	return cmd
}

// ofTenant completes a command about one tenant: it takes the tenant's name as its argument, and prints the account
// that do returns.
func ofTenant(cmd *cobra.Command, do func(ctx context.Context, tenants store.Tenants, t store.Tenant) (store.Account, error)) *cobra.Command {
	var asJSON bool
	cmd.Args = cli.Args(cobra.ExactArgs(1))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
			tenants, err := a.Tenants()
			if err != nil {
				return err
			}
			account, err := do(ctx, tenants, store.Tenant(args[0]))
			if err != nil {
				return noTenant(err, args[0])
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), account)
			}
			return printTenants(cmd.OutOrStdout(), []store.Account{account})
		})
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// noTenant adds a hint to the error for a tenant that does not exist.
func noTenant(err error, name string) error {
	if errors.Is(err, pawl.ErrNotFound) {
		return fault.New(pawl.ErrNotFound, "tenant %q not found", name).Hint("Run `pawl tenant list` to see all tenants.")
	}
	return err
}

func tenantCreateCommand() *cobra.Command {
	var f limitFlags
	cmd := ofTenant(&cobra.Command{
		Use:   "create name [flags]",
		Short: "Create a tenant",
		Long: `Create a tenant. The name consists of up to 50 lowercase letters, digits and -. It cannot
be reused, not even after the tenant was removed.

The limits apply to all users of the tenant together, in addition to those of tokens.`,
		Example: `  pawl tenant create acme
  pawl tenant create acme --rate 600 --budget 50 --parallel 20 --streams 100`,
	}, func(ctx context.Context, tenants store.Tenants, t store.Tenant) (store.Account, error) {
		limits, err := f.limits()
		if err != nil {
			return store.Account{}, err
		}
		if err := tenants.AddTenant(ctx, store.Account{Tenant: t, Created: time.Now(), Limits: limits}); err != nil {
			return store.Account{}, err
		}
		return tenants.Tenant(ctx, t)
	})
	f.add(cmd, "tenant")
	return cmd
}

func tenantListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List tenants",
		Example: `  pawl tenant list
  pawl tenant list --json`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
				tenants, err := a.Tenants()
				if err != nil {
					return err
				}
				all, err := tenants.Tenants(ctx)
				switch {
				case err != nil:
					return err
				case asJSON:
					return cli.WriteJSON(cmd.OutOrStdout(), append([]store.Account{}, all...))
				case len(all) == 0:
					_, err := fmt.Fprintln(cmd.OutOrStdout(), "No tenants. Run `pawl tenant create` to create one.")
					return err
				}
				return printTenants(cmd.OutOrStdout(), all)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printTenants(w io.Writer, all []store.Account) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "TENANT\tSTATE\tCREATED\tLIMITS")
	for _, a := range all {
		state := "active"
		if !a.Suspended.IsZero() {
			state = "suspended"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", a.Tenant, state, a.Created.Local().Format(time.DateOnly), limitsText(a.Limits))
	}
	return t.Flush()
}

func tenantShowCommand() *cobra.Command {
	return ofTenant(&cobra.Command{
		Use:   "show name",
		Short: "Show a tenant",
		Example: `  pawl tenant show acme
  pawl tenant show acme --json`,
	}, func(ctx context.Context, tenants store.Tenants, t store.Tenant) (store.Account, error) {
		return tenants.Tenant(ctx, t)
	})
}

func tenantSetCommand() *cobra.Command {
	var f limitFlags
	var cmd *cobra.Command
	cmd = ofTenant(&cobra.Command{
		Use:   "set name [flags]",
		Short: "Change the limits of a tenant",
		Long: `Change the given limits of a tenant; 0 removes a limit. Servers apply the change within
seconds. Running turns are not affected.`,
		Example: `  pawl tenant set acme --budget 100
  pawl tenant set acme --parallel 0`,
	}, func(ctx context.Context, tenants store.Tenants, t store.Tenant) (store.Account, error) {
		limits, err := f.limits()
		if err != nil {
			return store.Account{}, err
		}
		changed := cmd.Flags().Changed
		return tenants.SetTenant(ctx, t, func(a *store.Account) {
			if changed("rate") {
				a.Limits.Rate = limits.Rate
			}
			if changed("budget") {
				a.Limits.Budget = limits.Budget
			}
			if changed("parallel") {
				a.Limits.Parallel = limits.Parallel
			}
			if changed("streams") {
				a.Limits.Streams = limits.Streams
			}
		})
	})
	f.add(cmd, "tenant")
	cmd.MarkFlagsOneRequired("rate", "budget", "parallel", "streams")
	return cmd
}

func tenantSuspendCommand() *cobra.Command {
	return ofTenant(&cobra.Command{
		Use:   "suspend name",
		Short: "Suspend a tenant: reject its tokens",
		Long: `Reject the tokens of a tenant until 'pawl tenant resume'. Servers apply the change within
seconds and close event streams. Running sessions finish, including queued prompts.`,
		Example: `  pawl tenant suspend acme
  pawl tenant suspend acme --json`,
	}, suspend)
}

// suspend makes servers reject a tenant's tokens. A tenant that is already suspended keeps the time of its suspension.
func suspend(ctx context.Context, tenants store.Tenants, t store.Tenant) (store.Account, error) {
	return tenants.SetTenant(ctx, t, func(a *store.Account) {
		if a.Suspended.IsZero() {
			a.Suspended = time.Now()
		}
	})
}

func tenantResumeCommand() *cobra.Command {
	return ofTenant(&cobra.Command{
		Use:   "resume name",
		Short: "Resume a suspended tenant",
		Example: `  pawl tenant resume acme
  pawl tenant resume acme --json`,
	}, func(ctx context.Context, tenants store.Tenants, t store.Tenant) (store.Account, error) {
		return tenants.SetTenant(ctx, t, func(a *store.Account) { a.Suspended = time.Time{} })
	})
}

// removed is the output of 'pawl tenant remove --json'.
type removed struct {
	Tenant   store.Tenant `json:"tenant"`
	Sessions int          `json:"sessions"`
}

func tenantRemoveCommand() *cobra.Command {
	var sessions, asJSON bool
	cmd := &cobra.Command{
		Use:   "remove name [flags]",
		Short: "Remove a tenant and its tokens",
		Long: `Remove a tenant and its tokens. This cannot be undone, and the name cannot be reused.

A tenant that has sessions is removed only with --with-sessions, which suspends the
tenant and deletes them. If a session is still running, the command fails; try again when
it has finished. Checkpoints of workspaces remain in the checkpoint store, below the name
of the tenant, until you delete them.`,
		Example: `  pawl tenant remove acme
  pawl tenant remove acme --with-sessions`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
				done, err := removeTenant(ctx, a, store.Tenant(args[0]), sessions)
				if err != nil {
					return noTenant(err, args[0])
				}
				if asJSON {
					return cli.WriteJSON(cmd.OutOrStdout(), done)
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "Removed %s and %s.\n", done.Tenant, humanize.Plural(done.Sessions, "session"))
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&sessions, "with-sessions", false, "also delete its sessions")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// deleteAtOnce is how many sessions deleteSessions lists at a time.
const deleteAtOnce = 1000

func removeTenant(ctx context.Context, a *app.App, t store.Tenant, withSessions bool) (done removed, err error) {
	done.Tenant = t
	tenants, err := a.Tenants()
	if err != nil {
		return done, err
	}
	if withSessions {
		if _, err := suspend(ctx, tenants, t); err != nil {
			return done, err
		}
		if done.Sessions, err = deleteSessions(ctx, a, tenants, t); err != nil {
			return done, err
		}
	}
	err = tenants.RemoveTenant(ctx, t)
	if errors.Is(err, pawl.ErrConflict) {
		err = fault.New(pawl.ErrConflict, "remove the tenant: %w", err).Hint("Use --with-sessions to delete them.")
	}
	return done, err
}

// deleteSessions deletes all sessions of a tenant.
func deleteSessions(ctx context.Context, a *app.App, tenants store.Tenants, t store.Tenant) (n int, err error) {
	for {
		ids, err := tenants.SessionsOf(ctx, t, deleteAtOnce)
		if err != nil || len(ids) == 0 {
			return n, err
		}
		for _, id := range ids {
			if err := a.Delete(store.WithTenant(ctx, t), id); err != nil {
				return n, fmt.Errorf("delete session %s: %w (%s deleted, %s is suspended)", id, err, humanize.Plural(n, "session"), t)
			}
			n++
		}
	}
}
