package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/frontend/tui/permissions"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// TestExportTo: the terminal's export, here and over a server: the name says the
// format, nothing is replaced, and without a name one is found.
func TestExportTo(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s := serveTeam(t)
	home := os.Getenv("HOME")
	far := &app{Service: s.client(s.token("ada", tokenFlags{user: "ada", scope: "run"}))}
	session, err := far.Create(t.Context(), pawl.NewSession{Dir: t.TempDir(), Title: "A title"})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*app{s.app, far} {
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
	if _, err := exportTo(t.Context(), far, t.TempDir(), "01M7G7HSFDG6SMC9RGHVPG0MWC", ""); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("a session that is not there: %v", err)
	}
}

// TestPermitsOf: the terminal lists the rules with where they are from and the
// grants of its directory, and revokes one.
func TestPermitsOf(t *testing.T) {
	root := t.TempDir()
	t.Setenv("PAWL_DATA", filepath.Join(root, "data"))
	t.Setenv("HOME", root)
	t.Setenv("PAWL_CONFIG", filepath.Join(root, "config.json"))
	if err := os.WriteFile(filepath.Join(root, "config.json"), []byte(`{"permissions":{"rules":[{"tool":"bash","pattern":"rm *","decision":"deny"}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := openApp(t.Context())
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
	if err := a.safety.Grants().Add(grant(dir, "go test *"), grant(dir, "go vet *"), grant("/elsewhere", "ls")); err != nil {
		t.Fatal(err)
	}
	source := permitsOf(a.safety)
	list := func() permissions.List {
		l, err := source.List(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	var grants []string
	for _, g := range list().Grants {
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
	if err := source.Revoke(list().Grants[0].ID); err != nil {
		t.Fatal(err)
	}
	if left := list().Grants; len(left) != 1 || left[0].Text != `allow bash exec "go vet *"` {
		t.Errorf("left: %v", left)
	}
	if err := source.Revoke("nothing"); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("a grant that is not there: %v", err)
	}
}
