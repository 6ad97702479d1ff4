package config

import (
	"slices"
	"testing"
)

// TestTrustedOwners: an owner is written in one way only, and a project cannot name one.
func TestTrustedOwners(t *testing.T) {
	t.Parallel()
	got, err := Skills{TrustedOwners: []string{"alice", "git.example.org/bob", "git.example.org:8443/bob_2"}}.Owners()
	if want := []string{"github.com/alice", "git.example.org/bob", "git.example.org:8443/bob_2"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for _, entry := range []string{
		"", "*", "alice*", "*/alice", "*.example.org/alice", "github.com/", "/alice", "github.com/alice/tools", "alice/../bob", "https://github.com/alice", "me@github.com/alice",
		"GitHub.com/alice", "аlice", "al ice", "-alice", ".", "..", "github.com/..",
	} {
		if got, err := (Skills{TrustedOwners: []string{entry}}).Owners(); err == nil {
			t.Errorf("%q is accepted as %q", entry, got)
		}
		if _, _, err := decodeUser([]byte(`{"skills":{"trusted_owners":["` + entry + `"]}}`)); err == nil {
			t.Errorf("the user's configuration may have %q", entry)
		}
		if _, err := decodeManaged([]byte(`{"skills":{"trusted_owners":["` + entry + `"]}}`)); err == nil {
			t.Errorf("the administrator's policy may have %q", entry)
		}
	}
	p, ignored, err := decodeProject([]byte(`{"skills":{"trusted_owners":["mallory"]}}`))
	if err != nil || !slices.Equal(ignored, []Ignored{{"skills", onlyYours}}) || p.Rules != nil || p.Hooks != nil || p.MCP != nil {
		t.Errorf("%+v, %v, %v", p, ignored, err)
	}
}
