package serve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
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
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/store"
)

// minToken is the minimum length of a server token, in characters.
const minToken = 16

// serverToken returns the token that requests to an address need: PAWL_SERVER_TOKEN or, on a loopback address, one that
// Pawl creates once and stores in file. On other addresses the token may be empty if users have tokens.
func serverToken(p listenAddress, users bool) (token, file string, err error) {
	token = strings.TrimSpace(os.Getenv("PAWL_SERVER_TOKEN"))
	switch {
	case token != "" && len(token) < minToken:
		return "", "", fault.New(pawl.ErrInvalid, "PAWL_SERVER_TOKEN has fewer than %d characters", minToken).Hint("Generate one with `openssl rand -hex 32`.")
	case token != "":
		return token, "", nil
	case !p.loopback() && users:
		return "", "", nil
	case !p.loopback():
		return "", "", fault.New(pawl.ErrDenied, "%s is reachable by others, and no token is configured", p.address).
			Hint("Run `pawl token create`, set PAWL_SERVER_TOKEN to a secret such as the output of `openssl rand -hex 32`, or listen on 127.0.0.1.")
	}
	data, err := config.Data()
	if err != nil {
		return "", "", err
	}
	file = filepath.Join(data, "server-token")
	unlock, err := userfile.Lock(file) // another server may start at the same time
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
		err = fault.New(pawl.ErrInvalid, "%s does not contain a token", file).Hint("Delete the file: Pawl creates a new token.")
	}
	return token, file, err
}

// equalSecrets compares two secrets in constant time. An empty secret equals nothing.
func equalSecrets(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && want != ""
}

// authenticator authenticates requests, and limits the directories that sessions may work in.
type authenticator struct {
	socket bool   // listens on a Unix socket: only the user can connect
	token  string // otherwise a request needs this token, or that of a user
	file   string // the file that holds the token; "" if it comes from the environment
	access *access.Access

	workspaces string // the directory of all workspaces of a fleet; "" outside of a fleet
}

// authenticator returns the authenticator for an address. It reads or creates the token.
func (f *serverFlags) authenticator(ctx context.Context, p listenAddress, tokens store.Tokens, roots access.Roots) (authenticator, error) {
	g := authenticator{socket: p.socket != "", access: &access.Access{Tokens: tokens, Roots: roots}}
	if !g.socket {
		users, err := liveTokens(ctx, tokens)
		if err != nil {
			return g, err
		}
		if g.token, g.file, err = serverToken(p, users > 0); err != nil {
			return g, err
		}
		app.Secrets.Add("the server's token", g.token)
	}
	return g, nil
}

// roots returns the real paths of the directories of --dir. On an address, the default is the working directory.
func (f *serverFlags) roots(p listenAddress) (roots access.Roots, err error) {
	dirs := f.dirs
	if len(dirs) == 0 && p.socket == "" {
		dirs = []string{"."}
	}
	for _, dir := range dirs {
		real, err := filepath.Abs(dir)
		if err == nil {
			real, err = filepath.EvalSymlinks(real)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fault.New(pawl.ErrInvalid, "--dir %s does not exist", dir).Hint("Create it, or pass another directory.")
		}
		if err != nil {
			return nil, fmt.Errorf("--dir: %w", err)
		}
		roots = append(roots, real)
	}
	return roots, nil
}

// liveTokens counts the API tokens that are neither revoked nor expired.
func liveTokens(ctx context.Context, tokens store.Tokens) (n int, err error) {
	all, err := tokens.Tokens(ctx)
	for _, t := range all {
		if t.Kind == store.TokenAPI && t.Live(time.Now()) {
			n++
		}
	}
	return n, err
}

// authenticate returns the principal of a request.
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
		p := api.Principal{Token: access.ServerToken, Scope: api.ScopeAdmin}
		return p, g.access.CheckRate(p)
	default:
		return g.access.Auth(r.Context(), given)
	}
}

// workspaceDir returns a function that returns the directory of a workspace by name, or nil outside of a fleet.
func (g authenticator) workspaceDir() func(p api.Principal, name string) (string, error) {
	if g.workspaces == "" {
		return nil
	}
	return func(p api.Principal, name string) (string, error) {
		return access.Workspace(g.workspaces, p.Tenant, name)
	}
}

// allow returns an error unless dir is in one of the roots, by its real path. In a fleet, dir must belong to the tenant
// instead.
func (g authenticator) allow(p api.Principal, dir string) error {
	if g.workspaces != "" {
		return access.CheckDir(g.workspaces, p.Tenant, dir)
	}
	return allowDir(g.access.Roots, dir)
}

// allowDir returns an error unless a directory exists and is in one of the roots.
func allowDir(roots access.Roots, dir string) error {
	if roots == nil {
		return nil
	}
	if _, err := filepath.EvalSymlinks(dir); err != nil || !filepath.IsAbs(dir) {
		return fault.New(pawl.ErrInvalid, "directory %q not found on the server", dir)
	}
	if !roots.Contains(dir) {
		return fault.New(pawl.ErrDenied, "sessions are limited to %s (--dir of the server)", strings.Join(roots, ", "))
	}
	return nil
}
