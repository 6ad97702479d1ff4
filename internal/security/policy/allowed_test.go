package policy

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/security/trust"
)

// TestAdopt: what is allowed in a directory on one host holds on another, for the directory,
// in place of what was allowed there; and nothing holds that could not be kept.
func TestAdopt(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, outside := open(t)
	vet, list := pawl.Access{Kind: pawl.AccessExec, Target: "go vet"}, pawl.Access{Kind: pawl.AccessExec, Target: "git gc"}
	grant := func(dir, command string) error {
		rule, err := json.Marshal(map[string]string{"tool": "bash", "pattern": command, "decision": "allow"})
		if err != nil {
			t.Fatal(err)
		}
		return s.SaveRules(t.Context(), dir, "", []json.RawMessage{rule})
	}
	decided := func(dir string, a pawl.Access) permission.Decision {
		t.Helper()
		return decide(policy(t, s, dir, pawl.Settings{Mode: "ask"}), "bash", a)
	}
	state := func(dir string) trust.State {
		t.Helper()
		f, err := s.LookAt(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return f.State
	}
	put(t, dir, "AGENTS.md", "x")
	seen, err := s.LookAt(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}

	lost := errors.New("the roster is not to be reached")
	s.Allow = func(context.Context, string, string) error { return lost }
	if err := grant(dir, "go vet"); !errors.Is(err, lost) || decided(dir, vet) != permission.Ask {
		t.Errorf("a grant that could not be kept: %v, %s", err, decided(dir, vet))
	}
	if err := s.TrustAs(t.Context(), dir, seen, time.Now()); !errors.Is(err, lost) || state(dir) != trust.Unknown {
		t.Errorf("trust that could not be kept: %v, %s", err, state(dir))
	}

	kept := map[string]string{}
	link := filepath.Join(filepath.Dir(dir), "link") // the host registry knows directories by the names that they are asked for by
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	s.Allow = func(_ context.Context, dir, text string) error { kept[dir] = text; return nil }
	for _, err := range []error{grant(outside, "git gc"), grant(link, "go vet"), grant(link, "go vet"), s.TrustAs(t.Context(), link, seen, time.Now())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	here := func() [4]any {
		t.Helper()
		return [4]any{decided(dir, vet), state(dir), decided(outside, list), decided(dir, list)}
	}
	granted := [4]any{permission.Allow, trust.Trusted, permission.Allow, permission.Ask}
	if here() != granted || kept[dir] != "" {
		t.Errorf("all is %v; kept: %v", here(), kept)
	}

	if err := s.Adopt(dir, ""); err != nil {
		t.Fatal(err)
	}
	if forgotten := [4]any{permission.Ask, trust.Unknown, permission.Allow, permission.Ask}; here() != forgotten {
		t.Errorf("of a folder that is another now: %v", here())
	}
	if err := grant(dir, "git gc"); err != nil {
		t.Fatal(err)
	}
	if err := s.Adopt(link, kept[link]); err != nil || here() != granted {
		t.Errorf("what was kept: %v, %v", here(), err)
	}

	for _, text := range []string{`{`, `{"all":true}`, `{"grants":[{"rule":{"tool":"bash","pattern":"bash *","decision":"allow"},"scope":"project","dir":"/x","at":"2026-01-01T00:00:00Z"}]}`, `{"projects":[{"path":"/x","hash":"y","at":"2026-01-01T00:00:00Z"}]}`} {
		if err := s.Adopt(outside, text); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := s.Adopt(filepath.Join(dir, "gone"), ""); err != nil {
		t.Errorf("a folder that is not there: %v", err)
	}
}
