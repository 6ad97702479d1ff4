package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/config/auth"
)

// TestLoginsAreSecret checks that the tokens of a registered login are masked.
func TestLoginsAreSecret(t *testing.T) {
	t.Parallel()
	registerLogin(auth.Secret(`{"resource":"https://hub.example.com","access_token":"acc-5f0c2d7e91","refresh_token":"ref-5f0c2d7e92","client_secret":"sec-5f0c2d7e93"}`))
	text := Secrets.Redact("https://hub.example.com acc-5f0c2d7e91 ref-5f0c2d7e92 sec-5f0c2d7e93")
	if strings.Contains(text, "5f0c") || !strings.Contains(text, "hub.example.com") {
		t.Errorf("got %q", text)
	}
}

// TestServerNames checks the patterns for references to the prompts and documents of servers.
func TestServerNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"mcp__a_b__c__d": {"a_b", "", "c__d"},
		"hub:greet":      {"", "hub", "greet"},
		"hub:a:b":        {"", "hub", "a:b"},
		"greet":          nil,
		"mcp__greet":     nil,
	} {
		var got []string
		if m := serverPrompt.FindStringSubmatch(name); m != nil {
			got = m[1:]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	var got []string
	for _, m := range serverDocument.FindAllStringSubmatch(`@a:x://1 and (@b:y://2) me@c:z "@d:file:///e f"`, -1) {
		got = append(got, m[1]+" "+m[2])
	}
	if diff := cmp.Diff([]string{"a x://1", "b y://2)", "d file:///e"}, got); diff != "" {
		t.Error(diff)
	}
}
