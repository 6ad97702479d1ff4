package serve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/config/userfile"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/store"
)

// minToken is how many characters a token of the user's must have.
const minToken = 16

// serverToken is the token that requests on an address need: the user's or, where
// only this machine can ask, one that pawl makes once. Where users have tokens it
// can do without.
func serverToken(p listenAddress, users bool) (token, file string, err error) {
	token = strings.TrimSpace(os.Getenv("PAWL_SERVER_TOKEN"))
	switch {
	case token != "" && len(token) < minToken:
		return "", "", fmt.Errorf("PAWL_SERVER_TOKEN has less than %d characters: make one with 'openssl rand -hex 32'", minToken)
	case token != "":
		return token, "", nil
	case !p.loopback() && users:
		return "", "", nil
	case !p.loopback():
		return "", "", fmt.Errorf("others can reach %s: make a token with 'pawl token create', or set PAWL_SERVER_TOKEN to a secret, e.g. from 'openssl rand -hex 32', or listen on 127.0.0.1: %w", p.address, pawl.ErrDenied)
	}
	data, err := config.Data()
	if err != nil {
		return "", "", err
	}
	file = filepath.Join(data, "server-token")
	unlock, err := userfile.Lock(file) // another server may begin at the same time
	if err != nil {
		return "", "", err
	}
	defer unlock()
	text, err := userfile.Read(file, 1<<10)
	if err == nil && len(text) == 0 {
		text = []byte(rand.Text() + "\n")
		err = userfile.ReplaceText(file, text)
	}
	if token = strings.TrimSpace(string(text)); err == nil && len(token) < minToken {
		err = fmt.Errorf("%s holds no token: remove it, and a new one is made", file)
	}
	return token, file, err
}

// equalSecrets compares without telling by the time it takes how much is right.
func equalSecrets(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && want != ""
}

// authenticator says who may ask, and for work in which directories.
type authenticator struct {
	socket bool   // whoever may use the socket is the user
	token  string // else it needs this, or one of the users'
	file   string // where it is kept; "" if the user gave it
	roots  []string
	access *access.Access

	workspaces string // of a fleet, in which directories are those of a tenant; "" if it is none
}

// authenticator reads or makes the token, and finds the directories.
func (f *serverFlags) authenticator(ctx context.Context, p listenAddress, tokens store.Tokens) (authenticator, error) {
	g := authenticator{socket: p.socket != "", access: &access.Access{Tokens: tokens}}
	dirs := f.dirs
	if !g.socket {
		users, err := liveTokens(ctx, tokens)
		if err != nil {
			return g, err
		}
		if g.token, g.file, err = serverToken(p, users > 0); err != nil {
			return g, err
		}
		app.Secrets.Add("the server's token", g.token)
		if len(dirs) == 0 {
			dirs = []string{"."}
		}
	}
	for _, dir := range dirs {
		dir, err := filepath.Abs(dir)
		if err == nil {
			dir, err = filepath.EvalSymlinks(dir)
		}
		if err != nil {
			return g, err
		}
		g.roots = append(g.roots, dir)
	}
	return g, nil
}

// liveTokens counts the tokens that can be used.
func liveTokens(ctx context.Context, tokens store.Tokens) (n int, err error) {
	all, err := tokens.Tokens(ctx)
	for _, t := range all {
		if t.Live(time.Now()) {
			n++
		}
	}
	return n, err
}

// authenticate says who asks.
func (g authenticator) authenticate(r *http.Request) (api.Principal, error) {
	if g.socket {
		if err := checkPeer(httpapi.Conn(r)); err != nil {
			return api.Principal{}, err
		}
		return api.Principal{Scope: api.ScopeAdmin}, nil
	}
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case !ok:
		return api.Principal{}, api.ErrUnauthorized
	case equalSecrets(given, g.token):
		return api.Principal{Token: "server", Scope: api.ScopeAdmin}, nil
	default:
		return g.access.Auth(r.Context(), given)
	}
}

// workspaceDir finds the directories of workspaces, in a fleet.
func (g authenticator) workspaceDir() func(p api.Principal, name string) (string, error) {
	if g.workspaces == "" {
		return nil
	}
	return func(p api.Principal, name string) (string, error) {
		return access.Workspace(g.workspaces, p.Tenant, name)
	}
}

// allow refuses directories that are not below one of the roots, by their real paths. In
// a fleet it is those that are not the tenant's.
func (g authenticator) allow(p api.Principal, dir string) error {
	if g.workspaces != "" {
		return access.CheckDir(g.workspaces, p.Tenant, dir)
	}
	if g.roots == nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) {
		return fmt.Errorf("there is no folder %q on the server: %w", dir, pawl.ErrInvalid)
	}
	for _, root := range g.roots {
		if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
			return nil
		}
	}
	return fmt.Errorf("sessions may work below %s only: 'pawl serve --dir' adds a folder: %w", strings.Join(g.roots, ", "), pawl.ErrDenied)
}
