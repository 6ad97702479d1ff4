//go:build sectest

package security

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app/management"
	configcmd "github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	missions "github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/store"
)

// Chapter N: the machine and missions over HTTP. A token that may do little wants the keys and the configuration of the
// user who runs the server, or approves what it has planned.
var rowsN = []row{
	{id: "N1", title: "a token without the scope admin manages the machine", attack: managesWithoutScope, defense: "server.scope"},
	{id: "N2", title: "the administrator of a tenant manages the machine", attack: tenantManages, defense: "manage.operator"},
	{id: "N3", title: "a page of another site manages the machine", attack: pageManages, defense: "server.origin"},
	{id: "N4", title: "a request without an origin manages the machine", attack: nobodyManages, defense: "web.csrf"},
	{id: "N5", title: "an error quotes the key that was sent", attack: errorQuotesKey, defense: "manage.error"},
	{id: "N6", title: "a change of a configuration that has changed", attack: losesAnUpdate, defense: "manage.hash"},
	{id: "N7", title: "a project's MCP server enters the user's configuration", attack: projectEntersConfig, defense: "manage.user"},
	{id: "N8", title: "a body that fills the memory", attack: sendsLargeBody, defense: "server.size"},
	{id: "N9", title: "who runs a mission approves its plan", attack: approvesItsPlan, defense: "server.scope,mission.approve"},
	{id: "N10", title: "a reader of a mission edits its plan", attack: readerEditsPlan, defense: "mission.owner"},
	{id: "N11", title: "the report of a mission runs a script", attack: reportRunsScript, defense: "mission.policy"},
}

const (
	keyOfProvider = "sk-" + "ant-0123456789abcdef0123456789abcdef"
	keyPath       = "/v1/manage/providers/anthropic/key"
)

// manager is a server on which a machine and missions can be managed, and the configuration file of its user.
type manager struct {
	*webServer
	store store.Store
	file  string
}

// managing starts one.
func (a *attackEnv) managing() *manager {
	a.Helper()
	m := &manager{}
	m.webServer = a.web(func(c *httpapi.Config) {
		c.Missions, c.Manage = missions.Operations{}, &management.Manager{Usable: configcmd.Usable}
	})
	m.store, _ = m.access.Tokens.(store.Store)
	for name, value := range map[string]string{"DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "", "ANTHROPIC_API_KEY": ""} {
		a.Setenv(name, value)
	}
	m.file = os.Getenv("PAWL_CONFIG")
	if err := os.WriteFile(m.file, []byte(`{"model":"anthropic/claude-sonnet-4-5","mcp":{"files":{"command":"files"}}}`), 0o600); err != nil {
		a.Fatal(err)
	}
	return m
}

// hash returns the hash of the user's configuration file.
func (m *manager) hash() string {
	m.a.Helper()
	hash, err := config.UserHash()
	if err != nil {
		m.a.Fatal(err)
	}
	return hash
}

// changes sends each request that changes the machine, and reports those that were not refused.
func (m *manager) changes(how string, header as) {
	m.a.Helper()
	before, err := os.ReadFile(m.file)
	if err != nil {
		m.a.Fatal(err)
	}
	hash, rule := m.hash(), `{"tool":"bash","pattern":"*","decision":"allow"}`
	for _, q := range [][3]string{
		{"PATCH", "/v1/manage/config", fmt.Sprintf(`{"key":"permissions.mode","value":"yolo","hash":%q}`, hash)},
		{"PUT", keyPath, fmt.Sprintf(`{"key":%q}`, keyOfProvider)},
		{"POST", keyPath + "/test", ""},
		{"DELETE", keyPath, ""},
		{"POST", "/v1/manage/permissions/rules", fmt.Sprintf(`{"rule":%s,"hash":%q}`, rule, hash)},
		{"POST", "/v1/manage/permissions/rules/remove", fmt.Sprintf(`{"rule":%s,"hash":%q}`, rule, hash)},
		{"DELETE", "/v1/manage/permissions/answers/x", ""},
		{"PATCH", "/v1/manage/mcp/files", fmt.Sprintf(`{"enabled":false,"hash":%q}`, hash)},
		{"DELETE", "/v1/manage/mcp/files?hash=" + hash, ""},
	} {
		if status, text, _ := m.ask(q[0], q[1], q[2], header); status != http.StatusForbidden && status != http.StatusUnauthorized {
			m.a.breach("%s: %s %s got %d %s", how, q[0], q[1], status, text)
		}
	}
	if after, err := os.ReadFile(m.file); err != nil || string(after) != string(before) {
		m.a.breach("%s: the configuration is %s: %v", how, after, err)
	}
}

// canChange checks that the operator can do what the attacker cannot.
func (m *manager) canChange(header as) {
	m.a.Helper()
	if status, text, _ := m.ask("PATCH", "/v1/manage/config", fmt.Sprintf(`{"key":"permissions.mode","value":"ask","hash":%q}`, m.hash()), header); status != http.StatusOK {
		m.a.Errorf("the operator cannot do it either: %d %s", status, text)
	}
}

func managesWithoutScope(a *attackEnv) {
	m := a.managing()
	for _, scope := range []api.Scope{api.ScopeRead, api.ScopeRun, api.ScopeApprove} {
		header := m.token(store.Token{Scope: string(scope), Kind: store.TokenAPI})
		m.changes(string(scope), header)
		if status, _, _ := m.ask("GET", "/v1/manage/config", "", header); status != http.StatusForbidden {
			a.breach("%s reads the configuration: %d", scope, status)
		}
	}
	m.canChange(operator)
}

func tenantManages(a *attackEnv) {
	m := a.managing()
	m.changes("another user", m.token(store.Token{User: "ada", Scope: string(api.ScopeAdmin), Kind: store.TokenAPI}))
	tenant := a.web(func(c *httpapi.Config) {
		c.Manage = &management.Manager{Usable: configcmd.Usable}
		c.Auth = func(*http.Request) (api.Principal, error) {
			return api.Principal{Tenant: "acme", Token: "t", Scope: api.ScopeAdmin}, nil
		}
	})
	file := os.Getenv("PAWL_CONFIG")
	if err := os.WriteFile(file, []byte(`{"mcp":{"files":{"command":"files"}}}`), 0o600); err != nil {
		a.Fatal(err)
	}
	(&manager{webServer: tenant, file: file}).changes("the administrator of a tenant", operator)
}

func pageManages(a *attackEnv) {
	m := a.managing()
	cookie := m.signIn(operator)
	m.changes("a page of another site", as{"Cookie": cookie, "Origin": "https://evil.test"})
	m.canChange(m.own(cookie))
}

func nobodyManages(a *attackEnv) {
	m := a.managing()
	cookie := m.signIn(operator)
	m.changes("a request without an origin", as{"Cookie": cookie})
	m.canChange(m.own(cookie))
}

func errorQuotesKey(a *attackEnv) {
	m := a.managing()
	for _, body := range []string{fmt.Sprintf(`{%q:1}`, keyOfProvider), fmt.Sprintf(`{"key":%q,%q:1}`, keyOfProvider, keyOfProvider), fmt.Sprintf(`{"key":%q`, keyOfProvider)} {
		if status, text, _ := m.ask("PUT", keyPath, body, operator); status < 300 || strings.Contains(text, keyOfProvider) {
			a.breach("%d %s", status, text)
		}
	}
}

func losesAnUpdate(a *attackEnv) {
	m := a.managing()
	old := m.hash()
	m.canChange(operator)
	for _, q := range [][3]string{
		{"PATCH", "/v1/manage/config", fmt.Sprintf(`{"key":"model","value":"x/y","hash":%q}`, old)},
		{"PATCH", "/v1/manage/mcp/files", fmt.Sprintf(`{"enabled":false,"hash":%q}`, old)},
	} {
		if status, text, _ := m.ask(q[0], q[1], q[2], operator); status != http.StatusConflict {
			a.breach("%s %s: %d %s", q[0], q[1], status, text)
		}
	}
}

func projectEntersConfig(a *attackEnv) {
	m := a.managing()
	if err := os.WriteFile(filepath.Join(a.dir, ".mcp.json"), []byte(`{"mcpServers":{"theirs":{"command":"evil"}}}`), 0o600); err != nil {
		a.Fatal(err)
	}
	for _, name := range []string{"theirs", "files%2Fenv"} {
		if status, text, _ := m.ask("PATCH", "/v1/manage/mcp/"+name, fmt.Sprintf(`{"enabled":false,"hash":%q}`, m.hash()), operator); status < 300 {
			a.breach("%s was changed: %s", name, text)
		}
	}
	if text, err := os.ReadFile(m.file); err != nil || strings.Contains(string(text), "theirs") {
		a.breach("the configuration is %s: %v", text, err)
	}
}

func sendsLargeBody(a *attackEnv) {
	m := a.managing()
	large := strings.Repeat("x", 2<<20)
	for _, q := range [][3]string{
		{"PUT", keyPath, fmt.Sprintf(`{"key":%q}`, large)},
		{"PATCH", "/v1/manage/config", fmt.Sprintf(`{"key":"model","value":%q,"hash":%q}`, large, m.hash())},
		{"PUT", m.path + "/mission/plan", fmt.Sprintf(`{"hash":%q,"tasks":[]}`, large)},
	} {
		if status := m.offer(q[0], q[1], q[2]); status != http.StatusRequestEntityTooLarge {
			a.breach("%s %s took it: %d", q[0], q[1], status)
		}
	}
}

// offer sends a request whose body follows once the server asks for it, and returns the status. A server that has refused a
// body may end the connection while it is sent.
func (m *manager) offer(method, path, body string) int {
	m.a.Helper()
	r, err := http.NewRequestWithContext(m.a.Context(), method, "http://"+m.addr+path, strings.NewReader(body))
	if err != nil {
		m.a.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", operator["Authorization"])
	r.Header.Set("Expect", "100-continue")
	resp, err := (&http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: time.Minute}).RoundTrip(r)
	if err != nil {
		m.a.Fatal(err)
	}
	_ = resp.Body.Close() // only the status counts
	return resp.StatusCode
}

// planned makes a mission whose plan waits for approval, and returns the path of its routes and the hash of its plan.
func (m *manager) planned(hostile string) (id pawl.SessionID, path string, plan api.MissionPlan) {
	m.a.Helper()
	model := servicetest.TestModel + strings.TrimPrefix(m.a.script(replies()...), "script:")
	id = servicetest.PlannedMission(m.a.T, m.store, m.a.dir, model, hostile)
	path = "/v1/sessions/" + string(id) + "/mission/"
	_, text, _ := m.ask("GET", path+"plan", "", operator)
	if err := json.Unmarshal([]byte(text), &plan); err != nil {
		m.a.Fatalf("%s: %v", text, err)
	}
	return id, path, plan
}

func approvesItsPlan(a *attackEnv) {
	m := a.managing()
	_, path, plan := m.planned("")
	body := fmt.Sprintf(`{"hash":%q}`, plan.Hash)
	for _, scope := range []api.Scope{api.ScopeRead, api.ScopeRun} {
		if status, text, _ := m.ask("POST", path+"approve", body, m.token(store.Token{Scope: string(scope), Kind: store.TokenAPI})); status != http.StatusForbidden {
			a.breach("%s approves: %d %s", scope, status, text)
		}
	}
}

func readerEditsPlan(a *attackEnv) {
	m := a.managing()
	id, path, plan := m.planned("")
	if err := m.svc.Share(a.Context(), id, []pawl.User{"eve"}); err != nil {
		a.Fatal(err)
	}
	eve := m.token(store.Token{User: "eve", Scope: string(api.ScopeRun), Kind: store.TokenAPI})
	body := fmt.Sprintf(`{"hash":%q,"tasks":[{"id":"T1","title":"Mine"}]}`, plan.Hash)
	if status, text, _ := m.ask("PUT", path+"plan", body, eve); status < 300 {
		a.breach("the plan is %s", text)
		return
	}
	if status, text, _ := m.ask("PUT", path+"plan", body, operator); status != http.StatusOK {
		a.Errorf("the operator cannot do it either: %d %s", status, text)
	}
}

func reportRunsScript(a *attackEnv) {
	m := a.managing()
	_, path, _ := m.planned(`<script>alert(1)</script>`)
	status, text, header := m.ask("GET", path+"report?format=html", "", operator)
	if policy := header.Get("Content-Security-Policy"); status != http.StatusOK || !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "sandbox") || strings.Contains(text, "<script") {
		a.breach("%d, the policy is %q: %s", status, policy, text)
	}
}
