package httpapi_test

import (
	"encoding/json"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/service/access"
)

// inWorkspaces is a server whose directories are on other machines.
func inWorkspaces(c *httpapi.Config) {
	c.RemoteDirs = true
	c.Allow = func(p api.Principal, dir string) error { return access.CheckDir("/far/work", p.Tenant, dir) }
	c.WorkspaceDir = func(p api.Principal, name string) (string, error) {
		return access.Workspace("/far/work", p.Tenant, name)
	}
}

// TestWorkspaces: in a fleet a session that names no directory has one of its own, and
// one that names another's has none.
func TestWorkspaces(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, inWorkspaces)
	const id = "01JD0000000000000000000007"
	for body, want := range map[string]string{
		`{"id":"` + id + `"}`:        "/far/work/_/" + id,
		`{"workspace":"shop"}`:       "/far/work/_/shop",
		`{"dir":"/far/work/_/shop"}`: "/far/work/_/shop", // it need not be on this machine
	} {
		got := b.send(request{method: "POST", path: "/v1/sessions", body: body})
		var s pawl.Session
		if err := json.Unmarshal([]byte(got.text), &s); err != nil || got.status != 201 || s.Dir != want {
			t.Errorf("%s: %d, %s, %v", body, got.status, got.text, err)
		}
	}
	var fresh pawl.Session
	got := b.send(request{method: "POST", path: "/v1/sessions", body: `{}`})
	if err := json.Unmarshal([]byte(got.text), &fresh); err != nil || fresh.Dir != "/far/work/_/"+string(fresh.ID) || !fresh.ID.Valid() {
		t.Errorf("one that says nothing: %s, %v", got.text, err)
	}
	for body, code := range map[string]pawl.Code{
		`{"dir":"/home/ada"}`:                           pawl.CodeDenied,
		`{"dir":"/far/work/acme/shop"}`:                 pawl.CodeDenied,
		`{"dir":"/far/work/_/../acme/shop"}`:            pawl.CodeInvalid,
		`{"workspace":"../acme/shop"}`:                  pawl.CodeInvalid,
		`{"id":"../acme/shop"}`:                         pawl.CodeInvalid,
		`{"workspace":"shop","dir":"/far/work/_/shop"}`: pawl.CodeInvalid,
	} {
		status := 400
		if code == pawl.CodeDenied {
			status = 403
		}
		b.refuses(status, code, request{method: "POST", path: "/v1/sessions", body: body})
	}
}

// TestWorkspacesNeedAFleet: a server without one wants a directory.
func TestWorkspacesNeedAFleet(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	for _, body := range []string{`{"workspace":"shop"}`, `{}`} {
		b.refuses(400, pawl.CodeInvalid, request{method: "POST", path: "/v1/sessions", body: body})
	}
}
