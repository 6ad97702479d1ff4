//go:build e2e

package cli

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// guarded is an MCP server on the network that wants a login, and who gives it out.
type guarded struct {
	*httptest.Server
	mu    sync.Mutex
	asked url.Values // what the person's browser brought
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{}
	server := sdk.NewServer(&sdk.Implementation{Name: "hub", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "find", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	protocol := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	g.mu.Lock() // the server is asked by another process, which orders nothing here
	defer g.mu.Unlock()
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mcp" {
			g.issue(w, r)
			return
		}
		if r.Header.Get("Authorization") != "Bearer the-token" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		protocol.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		g.CloseClientConnections()
		g.Close()
	})
	return g
}

// issue is the side of it that gives logins out.
func (g *guarded) issue(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	answer := func(code int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(v)
	}
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		answer(http.StatusOK, map[string]any{"resource": g.URL + "/mcp", "authorization_servers": []string{g.URL}})
	case "/.well-known/oauth-authorization-server":
		answer(http.StatusOK, map[string]any{
			"issuer": g.URL, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token", "registration_endpoint": g.URL + "/register",
			"code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{"code"},
		})
	case "/register":
		answer(http.StatusCreated, map[string]any{"client_id": "pawl-1", "redirect_uris": []string{"http://127.0.0.1/callback"}})
	case "/authorize":
		g.asked = r.URL.Query()
		back := url.Values{"code": {"the-code"}, "state": {g.asked.Get("state")}, "iss": {g.URL}}
		http.Redirect(w, r, g.asked.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	case "/token":
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if r.FormValue("code") != "the-code" || base64.RawURLEncoding.EncodeToString(sum[:]) != g.asked.Get("code_challenge") {
			answer(http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		answer(http.StatusOK, map[string]any{"access_token": "the-token", "token_type": "Bearer", "expires_in": 3600})
	default:
		http.NotFound(w, r)
	}
}

// TestLogin: a person logs in to a server at the address that pawl prints, and the
// server takes what that brought; after a logout, or without the server, it no longer exists.
func TestLogin(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	data := t.TempDir()
	b.Env = append(b.Env, "PAWL_CONFIG="+filepath.Join(t.TempDir(), "pawl.json"), "PAWL_DATA="+data, "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent")
	b.Must(t, "mcp", "add", "hub", "--url", g.URL+"/mcp", "--local")
	state := func() string {
		t.Helper()
		out := b.Run(t, "mcp", "test", "hub")
		line, _, _ := strings.Cut(out.Stdout, "\n")
		return line
	}
	if got := state(); got != "hub: needs login: run `pawl mcp login hub`" {
		t.Errorf("before: %q", got)
	}
	if out := b.Run(t, "mcp", "logout", "hub"); out.Code != cli.ExitFailed || !strings.Contains(out.Stderr, "no saved login to hub") {
		t.Errorf("logout without a login: %+v", out)
	}
	for _, forget := range [][]string{{"mcp", "logout", "hub"}, {"mcp", "remove", "hub"}} {
		login(t, b)
		if got := state(); got != "hub: ready" {
			t.Errorf("after: %q", got)
		}
		if list := b.Must(t, "mcp", "list").Stdout; !strings.Contains(list, "enabled, logged in") {
			t.Errorf("list: %s", list)
		}
		if out := b.Must(t, forget...); strings.Contains(out.Stdout+out.Stderr, "the-token") {
			t.Errorf("the token is shown: %+v", out)
		}
		if text, err := os.ReadFile(filepath.Join(data, "keys.json")); err == nil && bytes.Contains(text, []byte("the-token")) {
			t.Errorf("%q leaves the token: %s", forget, text)
		}
	}
}

// login logs in as a person without a browser on this machine would.
func login(t *testing.T, b *harness.Workdir) {
	t.Helper()
	cmd := b.Command("mcp", "login", "hub", "--no-browser")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, address := bufio.NewScanner(stderr), ""
	for address == "" && lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); strings.HasPrefix(text, "http") {
			address = text
		}
	}
	resp, err := http.Get(address) //nolint:gosec,noctx // the address of the test server
	if err != nil {
		t.Fatal(err)
	}
	page, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if !strings.Contains(string(page), "You are logged in") {
		t.Errorf("the browser shows %q", page)
	}
	rest, _ := io.ReadAll(stderr)
	if err := cmd.Wait(); err != nil || stdout.String() != "Logged in to hub.\n" {
		t.Fatalf("login: %v: %s%s", err, &stdout, rest)
	}
	if strings.Contains(fmt.Sprint(address, string(rest)), "the-token") {
		t.Error("the token is shown")
	}
}
