package httpapi_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app/inventory"
	"github.com/pawl-dev/pawl/internal/app/management"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/manage"
)

func init() {
	for name, show := range manageRoutes {
		routes[name] = func(b *testServer) {
			b.managed()
			show(b)
		}
	}
}

const apiKey = "sk-" + "ant-0123456789abcdef0123456789abcdef"

// managed gives the user a configuration of their own: no keyring, and no keys.
func (b *testServer) managed() {
	b.Helper()
	dir := b.TempDir()
	for name, value := range map[string]string{
		"PAWL_CONFIG": filepath.Join(dir, "pawl.json"), "PAWL_DATA": filepath.Join(dir, "data"), "XDG_CONFIG_HOME": filepath.Join(dir, "config"), "HOME": dir,
		"DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "", "ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "openai-0123456789", "PAWL_MODEL": "",
	} {
		b.Setenv(name, value)
	}
	b.write(filepath.Join(dir, "pawl.json"), `{
  // mine
  "model": "anthropic/claude-sonnet-4-5",
  "permissions": {"rules": [{"tool": "bash", "pattern": "git push", "decision": "deny"}]},
  "mcp": {"files": {"command": "files", "env": {"TOKEN": "hunter2-hunter2"}}}
}
`)
}

func (b *testServer) write(path, text string) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

// file returns the user's configuration file.
func (b *testServer) file() string {
	b.Helper()
	text, err := os.ReadFile(os.Getenv("PAWL_CONFIG"))
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

func (b *testServer) configHash() string {
	b.Helper()
	var c manage.Config
	b.ask(200, "GET", "/v1/manage/config", "", &c)
	return c.Hash
}

func (b *testServer) permissions() (p manage.Permissions) {
	b.Helper()
	b.ask(200, "GET", "/v1/manage/permissions?dir="+b.dir, "", &p)
	return p
}

func (b *testServer) provider(id string) manage.Provider {
	b.Helper()
	var list api.Providers
	b.ask(200, "GET", "/v1/manage/providers", "", &list)
	i := slices.IndexFunc(list.Providers, func(p manage.Provider) bool { return p.ID == id })
	if i < 0 {
		b.Fatalf("%s is not in %+v", id, list)
	}
	return list.Providers[i]
}

// manageRoutes show the routes that manage the machine.
var manageRoutes = map[string]func(b *testServer){
	"getConfig": func(b *testServer) {
		var c manage.Config
		b.ask(200, "GET", "/v1/manage/config?dir="+b.dir, "", &c)
		want, err := management.Settings(b.Context(), b.dir)
		if err != nil || len(c.Settings) != len(want) || len(c.Problems) != 0 {
			b.Fatalf("%+v, want %+v: %v", c, want, err)
		}
		for i, s := range want {
			if got := c.Settings[i]; got.Key != s.Key || got.Layer != string(s.Layer) || got.Source != s.Source || string(got.Value) != string(s.Value) {
				b.Errorf("%+v, want %+v", got, s)
			}
		}
		if got := b.send(request{method: "GET", path: "/v1/manage/config"}); strings.Contains(got.text, "hunter2") || !strings.Contains(got.text, "mcp.files.env.TOKEN") {
			b.Errorf("it shows %s", got.text)
		}
	},
	"setConfigValue": func(b *testServer) {
		hash, first := b.configHash(), ""
		set := func(key, value, hash string) string {
			return fmt.Sprintf(`{"key":%q,"value":%s,"hash":%q}`, key, value, hash)
		}
		for _, wrong := range []string{set("nothing", `"x"`, hash), set("permissions.mode", `"all"`, hash), set("model", `{"a":1`, hash), set("model", `"x"`, ""), set("permissions.rules", `[{"decision":"perhaps"}]`, hash)} {
			b.refused(400, pawl.CodeInvalid, "PATCH", "/v1/manage/config", wrong)
		}
		b.refused(409, pawl.CodeConflict, "PATCH", "/v1/manage/config", set("model", `"x"`, "other"))
		first = b.file()
		var now api.ConfigHash
		b.ask(200, "PATCH", "/v1/manage/config", set("permissions.mode", `"ask"`, hash), &now)
		if text := b.file(); !strings.Contains(text, `"mode": "ask"`) || !strings.Contains(text, "// mine") || text == first || now.Hash == hash {
			b.Errorf("the file is %s", text)
		}
		b.refused(409, pawl.CodeConflict, "PATCH", "/v1/manage/config", set("permissions.mode", `"plan"`, hash)) // a lost update
		b.ask(200, "PATCH", "/v1/manage/config", set("permissions.mode", `null`, now.Hash), &now)
		if text := b.file(); strings.Contains(text, `"mode"`) {
			b.Errorf("the file is %s", text)
		}
	},
	"listProviders": func(b *testServer) {
		if p := b.provider("openai"); p.Key != manage.KeyEnvironment || p.Source != "OPENAI_API_KEY" || p.Models == 0 {
			b.Errorf("openai is %+v", p)
		}
		if p := b.provider("anthropic"); p.Key != "" {
			b.Errorf("anthropic is %+v", p)
		}
	},
	"setKey": func(b *testServer) {
		var p manage.Provider
		b.ask(200, "PUT", "/v1/manage/providers/anthropic/key", fmt.Sprintf(`{"key":%q}`, apiKey), &p)
		if p.Key != manage.KeyFile || b.provider("anthropic").Key != manage.KeyFile {
			b.Errorf("it is %+v", p)
		}
		info, err := os.Stat(filepath.Join(os.Getenv("PAWL_DATA"), "keys.json"))
		if err != nil || info.Mode().Perm() != 0o600 {
			b.Errorf("the file is %v: %v", info, err)
		}
		b.refused(400, pawl.CodeInvalid, "PUT", "/v1/manage/providers/anthropic/key", `{"key":""}`)
		b.refused(400, pawl.CodeInvalid, "PUT", "/v1/manage/providers/nobody/key", `{"key":"x"}`)
	},
	"deleteKey": func(b *testServer) {
		b.refused(404, pawl.CodeNotFound, "DELETE", "/v1/manage/providers/anthropic/key", "")
		b.ask(200, "PUT", "/v1/manage/providers/anthropic/key", fmt.Sprintf(`{"key":%q}`, apiKey), new(manage.Provider))
		var p manage.Provider
		b.ask(200, "DELETE", "/v1/manage/providers/anthropic/key", "", &p)
		if p.Key != "" || b.provider("anthropic").Key != "" {
			b.Errorf("it is %+v", p)
		}
	},
	"testKey": func(b *testServer) {
		asked := 0
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			if r.Header.Get("X-Api-Key") != apiKey {
				w.WriteHeader(http.StatusUnauthorized)
			}
			_, _ = w.Write([]byte(`{"data":[]}`))
		}))
		b.Cleanup(srv.Close)
		b.refused(404, pawl.CodeNotFound, "POST", "/v1/manage/providers/anthropic/key/test", "")
		b.ask(200, "PATCH", "/v1/manage/config", fmt.Sprintf(`{"key":"providers.anthropic.base_url","value":%q,"hash":%q}`, srv.URL, b.configHash()), new(api.ConfigHash))
		for key, works := range map[string]bool{apiKey: true, "sk-ant-wrong-wrong-wrong": false} {
			b.ask(200, "PUT", "/v1/manage/providers/anthropic/key", fmt.Sprintf(`{"key":%q}`, key), new(manage.Provider))
			var got manage.KeyTest
			b.ask(200, "POST", "/v1/manage/providers/anthropic/key/test", "", &got)
			if got.Works != works || got.Key != manage.KeyFile {
				b.Errorf("%s: %+v", key, got)
			}
		}
		if asked == 0 {
			b.Error("no request was sent")
		}
	},
	"getPermissions": func(b *testServer) {
		p := b.permissions()
		if p.Mode == "" || len(p.Rules) != 1 || p.Rules[0].Pattern != "git push" || p.Rules[0].Origin != "user" || p.Rules[0].Decision != "deny" {
			b.Errorf("got %+v", p)
		}
	},
	"addRule": func(b *testServer) {
		add := func(rule, hash string) string { return fmt.Sprintf(`{"rule":%s,"hash":%q}`, rule, hash) }
		hash := b.configHash()
		b.refused(400, pawl.CodeInvalid, "POST", "/v1/manage/permissions/rules", add(`{"tool":"bash","pattern":"x","decision":"perhaps"}`, hash))
		b.refused(409, pawl.CodeConflict, "POST", "/v1/manage/permissions/rules", add(`{"tool":"bash","pattern":"git push","decision":"deny"}`, hash))
		b.refused(409, pawl.CodeConflict, "POST", "/v1/manage/permissions/rules", add(`{"tool":"bash","pattern":"go test *","decision":"allow"}`, "other"))
		b.ask(201, "POST", "/v1/manage/permissions/rules", add(`{"tool":"bash","pattern":"go test *","decision":"allow","origin":"project"}`, hash), new(api.ConfigHash))
		if p := b.permissions(); len(p.Rules) != 2 || p.Rules[1].Pattern != "go test *" || p.Rules[1].Origin != "user" {
			b.Errorf("got %+v", p)
		}
	},
	"removeRule": func(b *testServer) {
		rule, err := json.Marshal(b.permissions().Rules[0])
		if err != nil {
			b.Fatal(err)
		}
		hash := b.configHash()
		b.refused(404, pawl.CodeNotFound, "POST", "/v1/manage/permissions/rules/remove", fmt.Sprintf(`{"rule":{"tool":"bash","pattern":"x","decision":"deny"},"hash":%q}`, hash))
		b.ask(200, "POST", "/v1/manage/permissions/rules/remove", fmt.Sprintf(`{"rule":%s,"hash":%q}`, rule, hash), new(api.ConfigHash))
		if p := b.permissions(); len(p.Rules) != 0 {
			b.Errorf("got %+v", p)
		}
	},
	"revokeAnswer": func(b *testServer) {
		b.refused(404, pawl.CodeNotFound, "DELETE", "/v1/manage/permissions/answers/0123456789ab", "")
	},
	"listExtensions": func(b *testServer) {
		b.write(filepath.Join(b.dir, ".pawl", "agents", "evil.md"), "---\ndescription: Theirs.\n---\nYou are evil.\n")
		var got manage.Extensions
		b.ask(200, "GET", "/v1/manage/extensions?dir="+b.dir, "", &got)
		want, err := inventory.Take(b.Context(), b.dir)
		if err != nil {
			b.Fatal(err)
		}
		want = want.WithoutInternal()
		if len(want.Items) != len(got.Extensions) {
			b.Fatalf("%+v, want %+v", got, want)
		}
		for i, item := range want.Items {
			if e := got.Extensions[i]; e.Kind != item.Kind || e.Name != item.Name || e.Origin != item.Source || e.Active != item.Active || e.Reason != item.Reason {
				b.Errorf("%+v, want %+v", e, item)
			}
		}
		for _, w := range []manage.Extension{{Kind: "agents", Name: "build", Origin: "built-in", Active: true}, {Kind: "agents", Name: "evil", Origin: "project"}, {Kind: "mcp", Name: "files", Origin: "user", Active: true}} {
			if !slices.ContainsFunc(got.Extensions, func(e manage.Extension) bool {
				return e.Kind == w.Kind && e.Name == w.Name && e.Origin == w.Origin && e.Active == w.Active
			}) {
				b.Errorf("%+v is not in %+v", w, got)
			}
		}
	},
	"setServer": func(b *testServer) {
		set := func(enabled bool) {
			b.ask(200, "PATCH", "/v1/manage/mcp/files", fmt.Sprintf(`{"enabled":%t,"hash":%q}`, enabled, b.configHash()), new(api.ConfigHash))
		}
		set(false)
		if !strings.Contains(b.file(), `"disabled": true`) || !strings.Contains(b.file(), "hunter2") {
			b.Errorf("the file is %s", b.file())
		}
		set(true)
		if strings.Contains(b.file(), `disabled`) {
			b.Errorf("the file is %s", b.file())
		}
		b.refused(404, pawl.CodeNotFound, "PATCH", "/v1/manage/mcp/other", fmt.Sprintf(`{"enabled":false,"hash":%q}`, b.configHash()))
		b.refused(409, pawl.CodeConflict, "PATCH", "/v1/manage/mcp/files", `{"enabled":false,"hash":"other"}`)
	},
	"removeServer": func(b *testServer) {
		b.refused(400, pawl.CodeInvalid, "DELETE", "/v1/manage/mcp/files", "")
		b.refused(404, pawl.CodeNotFound, "DELETE", "/v1/manage/mcp/files%2Fenv?hash="+b.configHash(), "")
		b.ask(200, "DELETE", "/v1/manage/mcp/files?hash="+b.configHash(), "", new(api.ConfigHash))
		if strings.Contains(b.file(), `files`) {
			b.Errorf("the file is %s", b.file())
		}
	},
}

// TestOnlyTheOperatorManages checks that no user of a tenant, and no other user, can use a route that manages the machine,
// whatever their scope.
func TestOnlyTheOperatorManages(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, func(c *httpapi.Config) {
		c.Auth = func(r *http.Request) (api.Principal, error) {
			name, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			tenant, user, _ := strings.Cut(name, ".")
			return api.Principal{Tenant: store.Tenant(strings.TrimPrefix(tenant, "admin")), User: pawl.User(user), Token: "t", Scope: api.ScopeAdmin}, nil
		}
	})
	b.managed()
	before, known := b.file(), 0
	for _, r := range api.Routes {
		if !strings.HasPrefix(r.Path, "/v1/manage") {
			continue
		}
		known++
		for _, token := range []string{"acme.", "acme.ada", ".ada"} {
			q := request{method: r.Method, path: strings.NewReplacer("{provider}", "anthropic", "{server}", "files", "{answer}", "x").Replace(r.Path), token: token}
			if r.InForm == api.FormJSON {
				q.body = fmt.Sprintf(`{"key":%q}`, apiKey)
			}
			b.refuses(403, pawl.CodeDenied, q)
		}
	}
	if _, err := os.Stat(filepath.Join(os.Getenv("PAWL_DATA"), "keys.json")); known != len(manageRoutes) || before != b.file() || !os.IsNotExist(err) {
		t.Errorf("%d routes; something was changed: %v", known, err)
	}
}

// TestKeysAreNotShown checks that a key that was set is in no response, error or log line.
func TestKeysAreNotShown(t *testing.T) { //nolint:paralleltest // it sets environment variables
	var mu sync.Mutex
	var log strings.Builder
	b := newTestServer(t, nil, func(c *httpapi.Config) {
		c.Log = slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	b.managed()
	b.ask(200, "PUT", "/v1/manage/providers/anthropic/key", fmt.Sprintf(`{"key":%q}`, apiKey), new(manage.Provider))
	seen := func(what, text string) {
		if strings.Contains(text, apiKey) || strings.Contains(text, apiKey[10:30]) {
			t.Errorf("%s shows the key: %s", what, text)
		}
	}
	for _, body := range []string{
		fmt.Sprintf(`{"key":%q,"more":1}`, apiKey), fmt.Sprintf(`{%q:1}`, apiKey), fmt.Sprintf(`{"key":"%s\n%s"}`, apiKey, apiKey), fmt.Sprintf(`{"key":%q`, apiKey), fmt.Sprintf(`%q`, apiKey),
	} {
		got := b.send(request{method: "PUT", path: "/v1/manage/providers/anthropic/key", body: body})
		if got.status != 400 {
			t.Errorf("%s: %d", body, got.status)
		}
		seen("the error about "+body[:6], got.text)
	}
	for _, r := range api.Routes {
		if r.Method != http.MethodGet || r.OutForm == api.FormStream || strings.Contains(r.Path, "{") {
			continue
		}
		path := r.Path
		if slices.ContainsFunc(r.Query, func(p api.Param) bool { return p.Name == "dir" }) {
			path += "?dir=" + b.dir
		}
		seen(r.Name, b.send(request{method: "GET", path: path}).text)
	}
	mu.Lock()
	defer mu.Unlock()
	seen("the log", log.String())
	if !strings.Contains(log.String(), "/v1/manage/providers/{provider}/key") {
		t.Error("the log has no requests")
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  *strings.Builder
}

func (w lockedWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(text)
}

// TestProjectsDoNotManage checks that the configuration of a project, trusted or not, is not changed and does not change
// that of the user through these routes.
func TestProjectsDoNotManage(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	b.managed()
	b.write(filepath.Join(b.dir, ".mcp.json"), `{"mcpServers":{"theirs":{"command":"evil"}}}`)
	b.write(filepath.Join(b.dir, ".pawl", "config.json"), `{"permissions":{"rules":[{"tool":"bash","pattern":"*","decision":"allow"},{"tool":"bash","pattern":"make","decision":"deny"}]}}`)
	var p pawl.Project
	b.ask(200, "GET", "/v1/project?dir="+b.dir, "", &p)
	b.ask(204, "POST", "/v1/project/trust", fmt.Sprintf(`{"dir":%q,"hash":%q}`, b.dir, p.Trust.Hash), nil)
	before := b.file()
	hash := b.configHash()
	b.refused(404, pawl.CodeNotFound, "PATCH", "/v1/manage/mcp/theirs", fmt.Sprintf(`{"enabled":false,"hash":%q}`, hash))
	b.refused(404, pawl.CodeNotFound, "DELETE", "/v1/manage/mcp/theirs?hash="+hash, "")
	for _, r := range b.permissions().Rules {
		if r.Origin != "project" {
			continue
		}
		if r.Decision == "allow" {
			t.Errorf("the project allows %+v", r)
		}
		rule, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		b.refused(404, pawl.CodeNotFound, "POST", "/v1/manage/permissions/rules/remove", fmt.Sprintf(`{"rule":%s,"hash":%q}`, rule, hash))
	}
	if b.file() != before {
		t.Errorf("the file of the user is %s", b.file())
	}
}
