package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/access"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/postgres"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// sessionBodies are what the routes of a session take, if not {}.
var sessionBodies = map[string]string{
	"renameSession": `{"title":"taken"}`,
	"shareSession":  `{"with":["eve"]}`,
	"sendPrompt":    `{"parts":[{"type":"text","text":"x"}]}`,
	"rewordPrompt":  `{"parts":[{"type":"text","text":"x"}]}`,
	"answer":        `{"outcome":"denied"}`,
	"runCommand":    `{"command":"true"}`,

	"setMissionPlan": `{"hash":"x","tasks":[]}`,
	"approveMission": `{"hash":"x"}`,
}

// sessionsNamed are how other routes can name a session: as a query or a body.
var sessionsNamed = map[string]string{
	"createSession": `{"dir":"DIR","parent":"ID"}`,
	"listSessions":  "?parent=ID",
	"getUsage":      "?session=ID",
	"listAsks":      "?session=ID",
}

// notOfSessions are the routes that cannot name one that exists.
var notOfSessions = []string{"startMission", "importSession", "getProject", "trustProject", "findFiles", "expandPrompt", "listModels", "getOpenAPI", "createLink", "createPasskeyOptions", "createPasskey", "listDevices", "revokeDevice", "getInfo", "streamFeed",
	"getConfig", "setConfigValue", "listProviders", "setKey", "deleteKey", "testKey", "getPermissions", "addRule", "removeRule", "revokeAnswer", "listExtensions", "setServer", "removeServer"}

// tenants is a server of many, on PostgreSQL. A token is called as its tenant. All
// of them have a user of the same name.
func tenants(t *testing.T) *testServer {
	db, err := postgres.Open(t.Context(), harness.Stores["postgres"](t))
	if err != nil {
		t.Fatal(err)
	}
	h := servicetest.On(t, db)
	acc := new(access.Access)
	b := newTestServer(t, h.Service, func(c *httpapi.Config) {
		c.Service = func(p api.Principal) pawl.Service { return acc.For(h.Service, p) }
		c.Auth = func(r *http.Request) (api.Principal, error) {
			tenant, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			return api.Principal{Tenant: store.Tenant(tenant), User: "ada", Scope: api.ScopeAdmin}, nil
		}
	})
	b.store = db
	return b
}

// TestRoutesAreTheTenantsOwn: to another tenant a session is as one that does not exist
// , whatever is asked of it.
func TestRoutesAreTheTenantsOwn(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := tenants(t)
	got := b.send(request{method: "POST", path: "/v1/sessions", token: "acme", body: fmt.Sprintf(`{"id":"01JD0000000000000000000007","dir":%q,"title":"secret"}`, b.dir)})
	if got.status != 201 {
		t.Fatal(got)
	}
	const id, missing = "01JD0000000000000000000007", "01JD0000000000000000000000"
	acme := store.WithTenant(t.Context(), "acme")
	blob, err := b.store.PutBlob(acme, id, strings.NewReader("secret"))
	if err != nil {
		t.Fatal(err)
	}
	before := b.send(request{method: "GET", path: "/v1/sessions/" + id + "/log", token: "acme"})
	if before.status != 200 || !strings.Contains(before.text, "secret") {
		t.Fatalf("its own tenant got %+v", before)
	}
	for _, route := range api.Routes {
		q, ok := reportedOf(route, b.dir, blob.ID)
		if !ok {
			continue
		}
		t.Run(route.Name, func(t *testing.T) {
			theirs, none := b.send(naming(q, id)), b.send(naming(q, missing))
			if diff := cmp.Diff(said(none, missing), said(theirs, id)); diff != "" {
				t.Errorf("what is another's (+) is not as what is not there (-):\n%s", diff)
			}
		})
	}
	for _, route := range api.Routes {
		if _, ok := reportedOf(route, "", ""); !ok && !strings.Contains(strings.Join(notOfSessions, " "), route.Name) {
			t.Errorf("nobody has tried %s on another tenant's session", route.Name)
		}
	}
	after := b.send(request{method: "GET", path: "/v1/sessions/" + id + "/log", token: "acme"})
	if diff := cmp.Diff(before.text, after.text); diff != "" {
		t.Errorf("the log was changed:\n%s", diff)
	}
}

// toldOf is what another tenant asks of ID.
func reportedOf(route api.Route, dir, blob string) (q request, ok bool) {
	q = request{method: route.Method, path: route.Path, token: "rival"}
	named, known := sessionsNamed[route.Name]
	switch {
	case strings.Contains(route.Path, "{id}"):
		q.path = strings.NewReplacer("{id}", "ID", "{seq}", "1", "{blob}", blob, "{item}", "prompt_2").Replace(route.Path)
		if route.InForm == api.FormJSON {
			q.body = "{}"
			if body, ok := sessionBodies[route.Name]; ok {
				q.body = body
			}
		}
		return q, true
	case strings.HasPrefix(named, "?"):
		q.path += named
	default:
		q.body = strings.ReplaceAll(named, "DIR", dir)
	}
	if route.InForm == api.FormLines {
		q.header = map[string]string{"Content-Type": string(api.FormLines)}
	}
	return q, known
}

func naming(q request, id string) request {
	q.path, q.body = strings.ReplaceAll(q.path, "ID", id), strings.ReplaceAll(q.body, `"ID"`, `"`+id+`"`)
	return q
}

// said is all of an answer, but for the names of the session and of the request.
func said(r reply, id string) string {
	text := r.text
	if r.fault.Request != "" {
		text = strings.ReplaceAll(text, r.fault.Request, "REQUEST")
	}
	return fmt.Sprint(r.status, " ", strings.ReplaceAll(text, id, "ID"))
}

// TestTenantsStreams: a tenant has so many streams at a server, whichever of its
// tokens opens them. A token is called as its tenant and its user.
func TestTenantsStreams(t *testing.T) { //nolint:paralleltest // it sets environment variables
	svc := servicetest.Local(t).Service
	b := newTestServer(t, svc, func(c *httpapi.Config) {
		c.Service = func(api.Principal) pawl.Service { return svc } // its store has no tenants
		c.Auth = func(r *http.Request) (api.Principal, error) {
			token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			tenant, _, _ := strings.Cut(token, ".")
			return api.Principal{Tenant: store.Tenant(tenant), Token: token, Scope: api.ScopeAdmin, Shared: store.Limits{Streams: 2}}, nil
		}
	})
	session, err := b.svc.Create(t.Context(), pawl.NewSession{Dir: b.dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		token string
		want  int
	}{{"acme.ada", 200}, {"acme.bob", 200}, {"acme.eve", 429}, {"acme.ada", 429}, {"rival.ada", 200}} {
		resp, err := b.http.Do(b.request(request{method: "GET", path: "/v1/sessions/" + string(session.ID) + "/events", token: c.token}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() }) // it stays open
		if resp.StatusCode != c.want {
			t.Errorf("%s got %d, want %d", c.token, resp.StatusCode, c.want)
		}
	}
}

// TestThoseWhoMayNotAskAreTold: a token that is known and refused learns why.
func TestThoseWhoAllowedNotAskAreReported(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, func(c *httpapi.Config) {
		c.Auth = func(*http.Request) (api.Principal, error) {
			return api.Principal{}, fmt.Errorf("tenant acme is suspended: %w", pawl.ErrDenied)
		}
	})
	if got := b.send(request{method: "GET", path: "/v1/sessions"}); got.status != 403 || !strings.Contains(got.text, "tenant acme is suspended") {
		t.Errorf("got %+v", got)
	}
}
