package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"rsc.io/qr"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/store"
)

var _ httpapi.Devices = (*access.Access)(nil)

// linkFlags are the flags of 'pawl token link'.
type linkFlags struct {
	url, name, tenant, user, scope string
	asJSON                         bool
}

func tokenLinkCommand() *cobra.Command {
	var f linkFlags
	cmd := &cobra.Command{
		Use:   "link --url url [flags]",
		Short: "Create a link that signs a browser in",
		Long: `Create a link that signs a browser in to 'pawl serve', and print it: on a terminal also as
a QR code, for a phone. The link is valid for 5 minutes and works once. Opening it shows
a page with a button, so programs that preview links do not use it up.

The browser stays signed in for 90 days. 'pawl token list' shows it as a device, and
'pawl token revoke' signs it out. Without --user it has access to all sessions.`,
		Example: `  pawl token link --url http://127.0.0.1:4747
  pawl token link --url https://pawl.example.com --name phone --scope approve
  pawl token link --url https://pawl.example.com --user ada --scope run --json`,
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			base, err := f.check()
			if err != nil {
				return cli.UsageError(cmd, err)
			}
			return cli.WithApp(cmd, func(ctx context.Context, a *app.App) error {
				return f.create(ctx, cmd.OutOrStdout(), a.RawStore, base)
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "`URL` of the server as the browser knows it, e.g. https://pawl.example.com")
	flags.StringVar(&f.name, "name", "", "`name` of the device (default: generated)")
	tenantFlag(cmd, &f.tenant)
	flags.StringVar(&f.user, "user", "", "`name` of the user (default: none, for all sessions)")
	flags.StringVar(&f.scope, "scope", "", "`scope` of the device: read, run, approve or admin (default: run with --user, else admin)")
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// check checks the flags, and returns the URL of the server.
func (f *linkFlags) check() (base string, err error) {
	switch {
	case f.url == "":
		return "", errors.New("--url is required: the address of the server, e.g. http://127.0.0.1:4747")
	case f.scope != "" && !slices.Contains(scopes, api.Scope(f.scope)):
		return "", fmt.Errorf("invalid --scope %q: use read, run, approve or admin", f.scope)
	case f.user != "" && !pawl.User(f.user).Valid():
		return "", fmt.Errorf("invalid --user %q: use letters, digits and . _ - + @", f.user)
	case f.name != "" && !pawl.User(f.name).Valid():
		return "", fmt.Errorf("invalid --name %q: use letters, digits and . _ - + @", f.name)
	}
	u, err := parseOrigin("url", f.url)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

// create makes a link and prints it.
func (f *linkFlags) create(ctx context.Context, w io.Writer, tokens store.Tokens, base string) error {
	ctx, err := forTenant(ctx, f.tenant)
	if err != nil {
		return err
	}
	scope := api.Scope(cmp.Or(f.scope, string(api.ScopeAdmin)))
	if f.user != "" && f.scope == "" {
		scope = api.ScopeRun
	}
	p := api.Principal{Tenant: store.Tenant(f.tenant), User: pawl.User(f.user), Scope: api.ScopeAdmin}
	secret, d, err := (&access.Access{Tokens: tokens}).NewLink(ctx, p, api.NewLink{Name: f.name, Scope: scope})
	switch {
	case errors.Is(err, pawl.ErrNotFound):
		return fault.New(pawl.ErrNotFound, "tenant %s not found", f.tenant).Hint("Run `pawl tenant create %s` to create it.", f.tenant)
	case err != nil:
		return err
	}
	link := httpapi.LinkURL(base, secret)
	if f.asJSON {
		return cli.WriteJSON(w, api.Link{ID: d.ID, URL: link, Expires: d.Expires})
	}
	if cli.IsTerminal(w) {
		code, err := qrCode(link)
		if err != nil {
			return err
		}
		fmt.Fprintln(w, code)
	}
	_, err = fmt.Fprintf(w, "%s\n\nOpen the link in the browser to sign in as %s. It works once, until %s.\n", link, d.Name, d.Expires.Local().Format("15:04"))
	return err
}

// printLink makes a link for the user who runs the server, and prints it.
func printLink(ctx context.Context, w io.Writer, a *access.Access, base string) error {
	secret, d, err := a.NewLink(ctx, api.Principal{Scope: api.ScopeAdmin}, api.NewLink{})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "pawl: to sign in, open %s (works once, until %s)\n", httpapi.LinkURL(base, secret), d.Expires.Local().Format("15:04"))
	return err
}

// quietZone is the width of the margin that a QR code needs, in modules.
const quietZone = 2

// qrCode returns a QR code as text, two modules per character. Light modules are drawn, as terminals are usually dark.
func qrCode(text string) (string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", fmt.Errorf("make a QR code: %w", err)
	}
	var b strings.Builder
	for y := -quietZone; y < code.Size+quietZone; y += 2 {
		for x := -quietZone; x < code.Size+quietZone; x++ {
			switch top, bottom := !code.Black(x, y), !code.Black(x, y+1) && y+1 < code.Size+quietZone; {
			case top && bottom:
				b.WriteRune('█')
			case top:
				b.WriteRune('▀')
			case bottom:
				b.WriteRune('▄')
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}
