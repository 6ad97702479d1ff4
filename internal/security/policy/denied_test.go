package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// deny has the user deny reading by these patterns.
func deny(t *testing.T, patterns ...string) {
	t.Helper()
	rules := ""
	for i, pattern := range patterns {
		if i > 0 {
			rules += ","
		}
		rules += fmt.Sprintf(`{"kind":"read","pattern":%q,"decision":"deny"}`, pattern)
	}
	put(t, os.Getenv("XDG_CONFIG_HOME"), "pawl/pawl.json", `{"permissions":{"rules":[`+rules+`]}}`)
}

// TestDenied: what the user lets nobody read is hidden from commands, in every
// form that a rule may have.
func TestDenied(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, outside := open(t)
	home := os.Getenv("HOME")
	put(t, dir, "keys/one", "x")
	put(t, dir, "sub/keys/two", "x")
	put(t, home, ".vault/key", "x")
	put(t, home, ".vault2/key", "x")
	if err := os.Symlink("keys", filepath.Join(dir, "alias")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		pattern string
		want    []string // in dir, unless they begin with ~ or /
	}{
		{"keys", []string{"keys"}},
		{"keys/", []string{"keys"}},
		{"keys/*", []string{"keys/one"}},
		{"**/keys/**", []string{"keys", "sub/keys"}},
		{"alias/**", []string{"keys", "alias", "keys"}}, // what it leads to
		{"nothing", nil},
		{"~/.vault", []string{"~/.vault"}},
		{"~//.vault/", []string{"~/.vault"}},
		{"~/.vault/**", []string{"~/.vault"}},
		{"~/.vault/k*", []string{"~/.vault/key"}},
		{"~/.vault*/key", []string{"~/.vault/key", "~/.vault2/key"}},
		{outside, []string{outside}},
	} {
		deny(t, tt.pattern)
		got, err := s.denied(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, path := range tt.want {
			want = append(want, s.whole(dir, path))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", tt.pattern, diff)
		}
	}
}

// TestRulesThroughLinks: a rule that names a link is about what is behind it.
func TestRulesThroughLinks(t *testing.T) { //nolint:paralleltest // it sets environment variables
	s, dir, _ := open(t)
	put(t, dir, "real/key", "x")
	if err := os.Symlink("real", filepath.Join(dir, "alias")); err != nil {
		t.Fatal(err)
	}
	deny(t, "alias/**", "other")
	p, err := s.Policy(t.Context(), "01JD0000000000000000000000", dir, pawl.Settings{Mode: "guard"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range p.Rules[:3] {
		got = append(got, r.Pattern)
	}
	if diff := cmp.Diff([]string{"alias/**", "other", filepath.Join(dir, "real/**")}, got); diff != "" {
		t.Error(diff)
	}
}
