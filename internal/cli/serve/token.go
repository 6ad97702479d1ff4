package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/store"
)

// TokenCommand returns 'pawl token' with its subcommands.
func TokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Manage tokens for the HTTP server",
		Long: `Manage the tokens that users need for 'pawl serve'. Tokens are kept in the store and are
valid for all servers on it. Only a hash of the secret is stored.

Browsers sign in with a link (see 'pawl token link'). Each is a token of the kind device:
'pawl token list' shows it, and 'pawl token revoke' signs it out.`,
		Example: `  pawl token create laptop --user ada
  pawl token link --url http://127.0.0.1:4747
  pawl token list
  pawl token revoke laptop`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(tokenCreateCommand(), tokenLinkCommand(), tokenListCommand(), tokenRevokeCommand())
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
	flags.IntVar(&f.rate, "rate", 0, "at most `n` requests per minute and server (0 = no limit)")
	flags.Float64Var(&f.budget, "budget", 0, "at most this many `dollars` per UTC day for all sessions of the "+whose+" (0 = no limit)")
	flags.IntVar(&f.parallel, "parallel", 0, "at most `n` concurrently running sessions of the "+whose+" (0 = no limit)")
	flags.IntVar(&f.streams, "streams", 0, "at most `n` open event streams per server (0 = no limit)")
}

// limits checks the flags and returns the limits.
func (f *limitFlags) limits() (store.Limits, error) {
	if min(f.rate, f.parallel, f.streams) < 0 || !(f.budget >= 0) || f.budget > maxBudget {
		return store.Limits{}, fmt.Errorf("invalid --rate, --parallel, --streams or --budget: use 0 or more, and at most $%d", maxBudget)
	}
	return store.Limits{Rate: f.rate, Budget: pawl.MoneyOf(f.budget), Parallel: f.parallel, Streams: f.streams}, nil
}

func tokenCreateCommand() *cobra.Command {
	var f tokenFlags
	cmd := &cobra.Command{
		Use:   "create name --user user [flags]",
		Short: "Create a token and print its secret",
		Long: `Create a token and print its secret. The secret is shown only once.

Users own the sessions that they create, and can read those that are shared with them.
The scope limits what the token can have done, in every session: read (read sessions),
run (also send prompts, which cannot leave the sandbox), approve (also allow what leaves
the sandbox, and use mode auto) or admin (also trust projects, always allow, and use mode
yolo and scripted models). A token with the scope admin and without --user has access to
all sessions.

With --tenant, the token is for a tenant of a fleet (see 'pawl tenant create'). It gives
access only to the sessions and users of that tenant.`,
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
	flags.StringVar(&f.user, "user", "", "`name` of the user")
	flags.StringVar(&f.scope, "scope", "run", "`scope` of the token: read, run, approve or admin")
	flags.StringVar(&f.expires, "expires", "90d", "lifetime of the token: a `duration` such as 90d or 12h, or never")
	f.add(cmd, "user")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// tenantFlag adds --tenant to a command about tokens.
func tenantFlag(cmd *cobra.Command, tenant *string) {
	cmd.Flags().StringVar(tenant, "tenant", "", "`tenant` of a fleet (default: none)")
}

// forTenant returns a context for the tenant of --tenant.
func forTenant(ctx context.Context, tenant string) (context.Context, error) {
	t := store.Tenant(tenant)
	if t != "" && !t.Valid() {
		return ctx, fault.New(pawl.ErrInvalid, "invalid --tenant %q: use up to 50 lowercase letters, digits and -", tenant)
	}
	return store.WithTenant(ctx, t), nil
}

// scopes are the scopes that a token can have.
var scopes = []api.Scope{api.ScopeRead, api.ScopeRun, api.ScopeApprove, api.ScopeAdmin}

// token checks the flags and returns the token to create, without its secret.
func (f *tokenFlags) token(name string, now time.Time) (t store.Token, err error) {
	scope := api.Scope(f.scope)
	switch {
	case !pawl.User(name).Valid():
		return t, fmt.Errorf("invalid token name %q: use letters, digits and . _ - + @", name)
	case !slices.Contains(scopes, scope):
		return t, fmt.Errorf("invalid --scope %q: use read, run, approve or admin", f.scope)
	case f.user == "" && scope != api.ScopeAdmin:
		return t, errors.New("--user is required, except for the scope admin")
	case f.tenant != "" && !store.Tenant(f.tenant).Valid():
		return t, fmt.Errorf("invalid --tenant %q: use up to 50 lowercase letters, digits and -", f.tenant)
	case f.user != "" && !pawl.User(f.user).Valid():
		return t, fmt.Errorf("invalid --user %q: use letters, digits and . _ - + @", f.user)
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
	wrong := fmt.Errorf("invalid --expires %q: use a duration such as 90d or 12h, or never", text)
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
			return fault.New(pawl.ErrConflict, "token %s already exists", t.Name).Hint("Use another name, or run `pawl token revoke %s`.", t.Name)
		}
	}
	secret := access.NewSecret()
	t.Hash = access.Hash(secret)
	switch err := tokens.AddToken(ctx, t); {
	case errors.Is(err, pawl.ErrNotFound):
		return fault.New(pawl.ErrNotFound, "tenant %s not found", t.Tenant).Hint("Run `pawl tenant create %s` to create it.", t.Tenant)
	case err != nil:
		return err
	}
	if f.asJSON {
		return cli.WriteJSON(w, struct {
			store.Token
			Secret string `json:"secret"`
		}{t, secret})
	}
	_, err = fmt.Fprintf(w, "%s\n\nThis is the secret of the token %s. It is not shown again.\nSet PAWL_TOKEN to it, or send it in the header Authorization: Bearer …\n", secret, t.Name)
	return err
}

func tokenListCommand() *cobra.Command {
	var asJSON bool
	var tenant string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List tokens and signed-in browsers, newest first",
		Example: `  pawl token list
  pawl token list --tenant acme --json`,
		Args: cli.Args(cobra.NoArgs),
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
				all = slices.DeleteFunc(all, func(t store.Token) bool { return t.Kind == store.TokenLink })
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
		_, err := fmt.Fprintln(w, "No tokens. Run `pawl token create` to create one.")
		return err
	}
	day := func(at time.Time) string {
		if at.IsZero() {
			return "never"
		}
		return at.Local().Format(time.DateOnly)
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tNAME\tKIND\tUSER\tSCOPE\tSTATE\tEXPIRES\tLAST USED\tLIMITS")
	for _, k := range tokens {
		state := "active"
		switch {
		case !k.Revoked.IsZero():
			state = "revoked"
		case !k.Live(now):
			state = "expired"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, sanitize.Line(k.Name), cmp.Or(string(k.Kind), "token"), sanitize.Line(string(k.User)), sanitize.Line(k.Scope),
			state, day(k.Expires), day(k.Used), limitsText(k.Limits))
	}
	return t.Flush()
}

func limitsText(l store.Limits) string {
	var parts []string
	if l.Rate > 0 {
		parts = append(parts, humanize.Plural(l.Rate, "request")+"/min")
	}
	if l.Budget > 0 {
		parts = append(parts, humanize.Dollars(l.Budget)+"/day")
	}
	if l.Parallel > 0 {
		parts = append(parts, fmt.Sprintf("%d concurrent", l.Parallel))
	}
	if l.Streams > 0 {
		parts = append(parts, humanize.Plural(l.Streams, "stream"))
	}
	return strings.Join(parts, ", ")
}

func tokenRevokeCommand() *cobra.Command {
	var tenant string
	cmd := &cobra.Command{
		Use:   "revoke name|id",
		Short: "Revoke a token, or sign a browser out",
		Long: `Revoke a token and the browsers that were signed in with it, or sign one browser out.
This cannot be undone. Servers apply the change within seconds: open event streams end.`,
		Example: `  pawl token revoke laptop
  pawl token revoke laptop --tenant acme`,
		Args: cli.Args(cobra.ExactArgs(1)),
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
			return access.RevokeToken(ctx, tokens, t.ID, now)
		}
	}
	return fault.New(pawl.ErrNotFound, "no active token %q", name).Hint("Run `pawl token list` to see all tokens.")
}
