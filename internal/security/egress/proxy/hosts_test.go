package proxy

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/security/permission"
)

// TestHosts: a pattern means here what it means in a rule of permissions, or
// less. The two are not one because they stand side by side.
func TestHosts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, host string
		port          uint16
		here, rule    bool
	}{
		{"docs.x.org", "docs.x.org", 443, true, true},
		{"DOCS.x.org.", "docs.x.org", 443, true, true},
		{"docs.x.org:443", "docs.x.org", 443, true, true},
		{"docs.x.org", "docs.x.org", 80, false, true}, // TLS is meant
		{"docs.x.org:80", "docs.x.org", 80, true, true},
		{"docs.x.org:80", "docs.x.org", 443, false, false},
		{"docs.x.org:8443", "docs.x.org", 8443, true, true},
		{"docs.x.org:8443", "docs.x.org", 443, false, false},
		{"docs.x.org", "docs.x.org", 8443, false, false},
		{"docs.x.org", "docs.x.org.evil.test", 443, false, false},
		{"docs.x.org", "evil-docs.x.org", 443, false, false},
		{"docs.x.org", "a.docs.x.org", 443, false, false},
		{"docs.x.org", "x.org", 443, false, false},
		{"*.x.org", "a.x.org", 443, true, true},
		{"*.x.org", "a.b.x.org", 443, true, true},
		{"*.x.org", "x.org", 443, false, false},
		{"*.x.org", "evilx.org", 443, false, false},
		{"*.x.org", "a.x.org.evil.test", 443, false, false},
		{"*.x.org:8443", "a.x.org", 8443, true, true},
		{"*.x.org:8443", "a.x.org", 443, false, false},
		{"*", "a.test", 443, true, true},
		{"*", "a.test", 8443, false, false},
		{"*", "93.184.216.34", 443, false, true}, // an address is named by itself
		{"*.0.0.1.test", "127.0.0.1", 443, false, false},
		{"93.184.216.34", "93.184.216.34", 443, true, true},
		{"::ffff:93.184.216.34", "93.184.216.34", 443, true, true},
		{"2606:2800::1", "2606:2800::1", 443, true, true},
		{"[2606:2800:0::1]:8443", "2606:2800::1", 8443, true, true},
		{"b\u00fccher.test", "xn--bcher-kva.test", 443, true, true},
		{"apple.com", "xn--pple-43d.com", 443, false, false},
		{"*.openai.com", "api.openai.com", 443, false, true}, // E15
		{"api.openai.com", "api.openai.com", 443, true, true},
	} {
		name := fmt.Sprintf("%s for %s:%d", test.pattern, test.host, test.port)
		list, err := parseHosts([]string{test.pattern})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := list.check(test.host, test.port, test.port == plainPort); (err == nil) != test.here {
			t.Errorf("%s: %v", name, err)
		}
		if got := ruleAllows(t, test.pattern, test.host, test.port); got != test.rule {
			t.Errorf("%s: the rule says %t", name, got)
		}
		if test.here && !test.rule {
			t.Errorf("%s: it must not be wider than the rule", name)
		}
	}
}

// ruleAllows asks the permissions.
func ruleAllows(t *testing.T, pattern, host string, port uint16) bool {
	t.Helper()
	rules, err := permission.ParseRules(fmt.Appendf(nil, `[{"kind":"net","pattern":%q,"decision":"allow"}]`, pattern), permission.OriginUser)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	verdict := permission.Decide(permission.Policy{Mode: permission.ModeAsk, Rules: rules, Dir: "/ws"}, permission.Call{
		Tool: "webfetch", Access: []pawl.Access{{Kind: pawl.AccessNet, Target: fmt.Sprintf("%s:%d", host, port)}},
	})
	return verdict.Decision == permission.Allow
}

func TestBadHosts(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", " ", "*.", "**", "*.*", "a.*", "*a.test", "*:443", "*.10.0.0.1", "*.::1", "a b", "https://a.test", "a.test/", "a.test/x", "u@a.test", "a.test:", "a.test:0",
		"a.test:080", "a.test:65536", "a.test:https", "a.test:1:2", "127.1", "0x7f.1", "2130706433", "::1%lo", "[::1", "a..b", "a.test#", "a.test?",
	} {
		if list, err := parseHosts([]string{"ok.test", s}); err == nil || list != nil {
			t.Errorf("%q: %v", s, list)
		}
	}
}

func TestShownHosts(t *testing.T) {
	t.Parallel()
	list, err := parseHosts([]string{"*", "*.A.test:8443", "[2606:2800::1]:8443", "::2", "a1", "a2", "a3", "a4", "a5", "a6", "a7"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := list.String(), "*, *.a.test:8443, [2606:2800::1]:8443, ::2, a1, a2, a3, a4, a5, a6, ..."; got != want {
		t.Errorf("got %s", got)
	}
	if got := list.ports(); !slices.Equal(got, []uint16{443, 8443}) {
		t.Error(got)
	}
}

// TestE15Vendors: all providers that pawl itself knows are among those that no
// wildcard opens.
func TestE15Vendors(t *testing.T) {
	t.Parallel()
	c, err := catalog.Open("")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, p := range c.Providers {
		u, err := url.Parse(p.BaseURL)
		if err != nil || u.Hostname() == "" || strings.HasPrefix(u.Hostname(), "127.") || u.Hostname() == "localhost" {
			continue // an account's own, or a server on this machine
		}
		seen++
		if host := strings.NewReplacer("{", "", "}", "", "$", "").Replace(u.Hostname()); !isVendor(host) {
			t.Errorf("%s is at %s", p.ID, host)
		}
	}
	if seen < 5 {
		t.Errorf("only %d providers", seen)
	}
	for host, want := range map[string]bool{
		"platform.openai.com": false, "docs.anthropic.com": false, "storage.googleapis.com": false, "s3.amazonaws.com": false, "notapi.openai.com": false,
		"bedrock.eu-west-1.amazonaws.com": true, "my.openai.azure.com": true, "us-aiplatform.googleapis.com": true,
	} {
		if isVendor(host) != want {
			t.Errorf("%s: %t", host, !want)
		}
	}
}

// TestE16Guide: what no code here can see to, the guide tells: a resolver that
// answers everybody, and what goes on inside of TLS.
func TestE16Guide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../docs/explanation/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Network\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, want := range append([]string{"no DNS", "see that its resolver answers for the hosts that you allow and no others", "does not look into TLS"}, vendors[:3]...) {
		if !strings.Contains(section, want) {
			t.Errorf("the guide does not say %q", want)
		}
	}
}
