package tui

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/frontend/tui/permissions"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// TestExportTo checks exports of local and remote sessions: the extension selects the format,
// existing files are not overwritten, and a missing name is generated.
func TestExportTo(t *testing.T) {
	home := t.TempDir()
	t.Setenv("PAWL_DATA", filepath.Join(t.TempDir(), "data"))
	t.Setenv("HOME", home)
	local, err := app.Open(t.Context(), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := httpapi.New(httpapi.Config{
		Service: func(api.Principal) pawl.Service { return local.Service },
		Auth:    func(*http.Request) (api.Principal, error) { return api.Principal{Scope: api.ScopeAdmin}, nil },
		Hosts:   []string{"127.0.0.1"},
	})
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := errors.Join(srv.Close(ctx), <-done, local.Close()); err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(client.Config{URL: "http://" + l.Addr().String(), Token: "any"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	remote := &app.App{Service: c}
	session, err := remote.Create(t.Context(), pawl.NewSession{Dir: t.TempDir(), Title: "A title"})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*app.App{local, remote} {
		dir := t.TempDir()
		outside := filepath.Join(t.TempDir(), "a name.htm")
		auto := "pawl-" + strings.ToLower(string(session.ID))
		for _, c := range []struct {
			file, path, begins string
			err                error
		}{
			{"x.md", filepath.Join(dir, "x.md"), "# `A title`", nil},
			{"x.html", filepath.Join(dir, "x.html"), "<!doctype html>", nil},
			{"x.jsonl", filepath.Join(dir, "x.jsonl"), `{"v":1,"session":"` + string(session.ID), nil},
			{outside, outside, "<!doctype html>", nil},
			{"~/" + filepath.Base(dir) + ".md", filepath.Join(home, filepath.Base(dir)+".md"), "# `A title`", nil},
			{"x.md", "", "", pawl.ErrConflict},
			{"x.json", "", "", pawl.ErrInvalid},
			{"x", "", "", pawl.ErrInvalid},
			{"no/such/folder.md", "", "", os.ErrNotExist},
			{"", filepath.Join(dir, auto+".md"), "# `A title`", nil},
			{"", filepath.Join(dir, auto+"-2.md"), "# `A title`", nil},
		} {
			path, err := exportTo(t.Context(), a, dir, session.ID, c.file)
			if !errors.Is(err, c.err) {
				t.Errorf("%q: got %v, want %v", c.file, err, c.err)
			}
			if c.err != nil {
				continue
			}
			text, err := os.ReadFile(path)
			if path != c.path || err != nil || !strings.HasPrefix(strings.ToLower(string(text)), strings.ToLower(c.begins)) {
				t.Errorf("%q is at %s, %v: %.60q", c.file, path, err, text)
			}
		}
	}
	if _, err := exportTo(t.Context(), remote, t.TempDir(), "01M7G7HSFDG6SMC9RGHVPG0MWC", ""); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("a session that is not there: %v", err)
	}
}

// TestPermissionSource checks that the source lists the rules with their origin and the grants of
// the directory, and revokes grants.
func TestPermissionSource(t *testing.T) {
	root := t.TempDir()
	t.Setenv("PAWL_DATA", filepath.Join(root, "data"))
	t.Setenv("HOME", root)
	t.Setenv("PAWL_CONFIG", filepath.Join(root, "config.json"))
	if err := os.WriteFile(filepath.Join(root, "config.json"), []byte(`{"permissions":{"rules":[{"tool":"bash","pattern":"rm *","decision":"deny"}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	grant := func(dir, pattern string) permission.Grant {
		return permission.Grant{Rule: permission.Rule{Tool: "bash", Kind: pawl.AccessExec, Pattern: pattern, Decision: permission.Allow}, Scope: permission.ScopeProject, Dir: dir}
	}
	if err := a.Policy.Grants().Add(grant(dir, "go test *"), grant(dir, "go vet *"), grant("/elsewhere", "ls")); err != nil {
		t.Fatal(err)
	}
	source := permissionSource(a.Policy)
	list := func() permissions.List {
		l, err := source.List(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	var grants []string
	for _, g := range list().SavedAnswers {
		grants = append(grants, g.Text+" in "+g.Where)
	}
	if diff := cmp.Diff([]string{`allow bash exec "go test *" in ` + dir, `allow bash exec "go vet *" in ` + dir}, grants); diff != "" {
		t.Error(diff)
	}
	for _, want := range []permissions.Rule{{Text: `deny bash "rm *"`, Origin: "your configuration"}, {Text: `ask read "**/.env"`, Origin: "built in"}} {
		if !slices.Contains(list().Rules, want) {
			t.Errorf("%v is not among %v", want, list().Rules)
		}
	}
	if err := source.Revoke(list().SavedAnswers[0].ID); err != nil {
		t.Fatal(err)
	}
	if left := list().SavedAnswers; len(left) != 1 || left[0].Text != `allow bash exec "go vet *"` {
		t.Errorf("left: %v", left)
	}
	if err := source.Revoke("nothing"); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("a grant that is not there: %v", err)
	}
}
