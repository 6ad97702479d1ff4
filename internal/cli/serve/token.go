package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/store"
)

// TokenCommand returns 'pawl token' with its subcommands.
func TokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make, list and revoke the tokens by which others use 'pawl serve'",
		Long: `Make, list and revoke the tokens by which others use 'pawl serve'. They are kept
in the store, so that all servers on it know them; of the secret it has a hash alone.`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(tokenCreateCommand(), tokenListCommand(), tokenRevokeCommand())
	return cmd
}

// tokenFlags are the flags of 'pawl token create'.
type tokenFlags struct {
	limitFlags
	tenant               string
	user, scope, expires string
	asJSON               bool
}

// limitFlags are the flags for limits.
type limitFlags struct {
	rate              int
	parallel, streams int
	budget            float64
}

// add adds the flags to cmd. Their help names whose limits they set.
func (f *limitFlags) add(cmd *cobra.Command, whose string) {
	flags := cmd.Flags()
	flags.IntVar(&f.rate, "rate", 0, "at most `n` requests a minute, to each server; 0 means no limit")
	flags.Float64Var(&f.budget, "budget", 0, "at most `dollars` a UTC day for all sessions of the "+whose+"; 0 means no limit")
	flags.IntVar(&f.parallel, "parallel", 0, "at most `n` sessions of the "+whose+" at work at once; 0 means no limit")
	flags.IntVar(&f.streams, "streams", 0, "at most `n` sessions watched at once, at each server; 0 means no limit")
}

// limits checks the flags and returns the limits.
func (f *limitFlags) limits() (store.Limits, error) {
	if min(f.rate, f.parallel, f.streams) < 0 || !(f.budget >= 0) || f.budget > maxBudget {
		return store.Limits{}, fmt.Errorf("--rate, --parallel, --streams and --budget: want 0 or more, and at most $%d", maxBudget)
	}
	return store.Limits{Rate: f.rate, Budget: pawl.MoneyOf(f.budget), Parallel: f.parallel, Streams: f.streams}, nil
}

func tokenCreateCommand() *cobra.Command {
	var f tokenFlags
	cmd := &cobra.Command{
		Use:   "create name --user user [flags]",
		Short: "Make a token, and print its secret once",
		Long: `Make a token, and print its secret once.

A user has the sessions that were made in their name, and reads those that are
shared with them. The scope says what the token is for: read (look at sessions),
run (give them work too) or admin (also trust folders and do without asking). A
token of the scope admin without --user has the sessions of all.

With --tenant it is for a tenant of a fleet, which 'pawl tenant create' made: it
reaches that one's sessions and nothing else, and its users are that one's own.`,
		Example: `  pawl token create laptop --user ada
  pawl token create ci --user ci --expires 30d --rate 60 --budget 5 --parallel 2
  pawl token create laptop --tenant acme --user ada`,
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := f.token(args[0], time.Now())
			if err != nil {
				return cli.UsageError(cmd, err)
			}
			return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
				return f.create(store.WithTenant(ctx, t.Tenant), cmd.OutOrStdout(), a.RawStore, t)
			})
		},
	}
	flags := cmd.Flags()
	tenantFlag(cmd, &f.tenant)
	flags.StringVar(&f.user, "user", "", "the `name` in which it is used")
	flags.StringVar(&f.scope, "scope", "run", "what it is for: read, run or admin")
	flags.StringVar(&f.expires, "expires", "90d", "how long it can be used: 90d, 12h or never")
	f.add(cmd, "user")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// tenantFlag adds --tenant to a command about tokens.
func tenantFlag(cmd *cobra.Command, tenant *string) {
	cmd.Flags().StringVar(tenant, "tenant", "", "of this `tenant` of a fleet; left out, of none")
}

// forTenant returns a context for the tenant of --tenant.
func forTenant(ctx context.Context, tenant string) (context.Context, error) {
	t := store.Tenant(tenant)
	if t != "" && !t.Valid() {
		return ctx, fault.New(pawl.ErrInvalid, "--tenant %q: use small letters, digits and -, at most 50", tenant)
	}
	return store.WithTenant(ctx, t), nil
}

// token checks the flags and returns the token to create, without its secret.
func (f *tokenFlags) token(name string, now time.Time) (t store.Token, err error) {
	scope := api.Scope(f.scope)
	switch {
	case !pawl.User(name).Valid():
		return t, fmt.Errorf("%q is no name for a token: use letters, digits and . _ - + @", name)
	case scope != api.ScopeRead && scope != api.ScopeRun && scope != api.ScopeAdmin:
		return t, fmt.Errorf("--scope %q: use read, run or admin", f.scope)
	case f.user == "" && scope != api.ScopeAdmin:
		return t, errors.New("--user is missing: only a token of the scope admin does without")
	case f.tenant != "" && !store.Tenant(f.tenant).Valid():
		return t, fmt.Errorf("--tenant %q: use small letters, digits and -, at most 50", f.tenant)
	case f.user != "" && !pawl.User(f.user).Valid():
		return t, fmt.Errorf("--user %q: use letters, digits and . _ - + @", f.user)
	}
	limits, err := f.limits()
	if err != nil {
		return t, err
	}
	t = store.Token{
		ID: ulid.Make().String(), Name: name, Tenant: store.Tenant(f.tenant), User: pawl.User(f.user), Scope: f.scope, Created: now, Limits: limits,
	}
	t.Expires, err = expiry(f.expires, now)
	return t, err
}

// maxBudget is the maximum daily budget in dollars, so that amounts stay within the range of pawl.Money.
const maxBudget = 1_000_000

// expiry parses the value of --expires: 90d, 12h or never. The zero time means never.
func expiry(text string, now time.Time) (time.Time, error) {
	if text == "never" {
		return time.Time{}, nil
	}
	wrong := fmt.Errorf("--expires %q: use 90d, 12h or never", text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 || n > 100_000 {
			return time.Time{}, wrong
		}
		return now.AddDate(0, 0, n), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return time.Time{}, wrong
	}
	return now.Add(d), nil
}

// create stores a token and prints its secret. The name must not belong to another live token, because tokens are
// revoked by name.
func (f *tokenFlags) create(ctx context.Context, w io.Writer, tokens store.Tokens, t store.Token) error {
	all, err := tokens.Tokens(ctx)
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.Name == t.Name && other.Live(t.Created) {
			return fault.New(pawl.ErrConflict, "there is a token %s already: 'pawl token revoke %[1]s' ends it, or choose another name", t.Name)
		}
	}
	secret := access.NewSecret()
	t.Hash = access.Hash(secret)
	switch err := tokens.AddToken(ctx, t); {
	case errors.Is(err, pawl.ErrNotFound):
		return fault.New(pawl.ErrNotFound, "there is no tenant %s: 'pawl tenant create %[1]s' makes it", t.Tenant)
	case err != nil:
		return err
	}
	if f.asJSON {
		return cli.WriteJSON(w, struct {
			store.Token
			Secret string `json:"secret"`
		}{t, secret})
	}
	_, err = fmt.Fprintf(w, "%s\n\nThis is the secret of the token %s; it is not shown again.\nUse it as PAWL_TOKEN, or in the header Authorization: Bearer …\n", secret, t.Name)
	return err
}

func tokenListCommand() *cobra.Command {
	var asJSON bool
	var tenant string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tokens, the newest first",
		Args:  cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
				ctx, err := forTenant(ctx, tenant)
				if err != nil {
					return err
				}
				all, err := a.RawStore.Tokens(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					return cli.WriteJSON(cmd.OutOrStdout(), append([]store.Token{}, all...))
				}
				return printTokens(cmd.OutOrStdout(), all, time.Now())
			})
		},
	}
	tenantFlag(cmd, &tenant)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printTokens(w io.Writer, tokens []store.Token, now time.Time) error {
	if len(tokens) == 0 {
		_, err := fmt.Fprintln(w, "no tokens: 'pawl token create' makes one")
		return err
	}
	day := func(at time.Time) string {
		if at.IsZero() {
			return "never"
		}
		return at.Local().Format(time.DateOnly)
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tNAME\tUSER\tSCOPE\tSTATE\tEXPIRES\tUSED\tLIMITS")
	for _, k := range tokens {
		state := "live"
		switch {
		case !k.Revoked.IsZero():
			state = "revoked"
		case !k.Live(now):
			state = "expired"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, sanitize.Line(k.Name), sanitize.Line(string(k.User)), sanitize.Line(k.Scope),
			state, day(k.Expires), day(k.Used), limitsText(k.Limits))
	}
	return t.Flush()
}

func limitsText(l store.Limits) string {
	var parts []string
	if l.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%d a minute", l.Rate))
	}
	if l.Budget > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f a day", l.Budget.Dollars()))
	}
	if l.Parallel > 0 {
		parts = append(parts, fmt.Sprintf("%d at once", l.Parallel))
	}
	if l.Streams > 0 {
		parts = append(parts, fmt.Sprintf("%d streams", l.Streams))
	}
	return strings.Join(parts, ", ")
}

func tokenRevokeCommand() *cobra.Command {
	var tenant string
	cmd := &cobra.Command{
		Use:   "revoke name|id",
		Short: "End a token for good; servers notice within seconds",
		Args:  cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
				ctx, err := forTenant(ctx, tenant)
				if err != nil {
					return err
				}
				return revoke(ctx, a.RawStore, args[0], time.Now())
			})
		},
	}
	tenantFlag(cmd, &tenant)
	return cmd
}

// revoke revokes the token with the given id, or the live token with the given name.
func revoke(ctx context.Context, tokens store.Tokens, name string, now time.Time) error {
	all, err := tokens.Tokens(ctx)
	if err != nil {
		return err
	}
	for _, t := range all {
		if t.ID == name || t.Name == name && t.Live(now) {
			return tokens.RevokeToken(ctx, t.ID, now)
		}
	}
	return fault.New(pawl.ErrNotFound, "there is no live token %q: 'pawl token list' shows them", name)
}
