package git

import (
	"errors"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
)

// TestCheckURL holds rows D5 and D7.
func TestCheckURL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		raw, spelled string
		want         URL
	}{
		{"https://example.org/a/b.git", "", URL{Scheme: "https", Host: "example.org", Path: "/a/b.git"}},
		{"HTTPS://Example.ORG/a", "https://example.org/a", URL{Scheme: "https", Host: "example.org", Path: "/a"}},
		{"https://example.org:8443/a/", "", URL{Scheme: "https", Host: "example.org", Port: 8443, Path: "/a/"}},
		{"https://[2001:DB8::1]:1/a", "https://[2001:db8::1]:1/a", URL{Scheme: "https", Host: "2001:db8::1", Port: 1, Path: "/a"}},
		{"https://192.0.2.1/a", "", URL{Scheme: "https", Host: "192.0.2.1", Path: "/a"}},
		{"ssh://git@example.org:22/a.git", "", URL{Scheme: "ssh", User: "git", Host: "example.org", Port: 22, Path: "/a.git"}},
		{"ssh://example.org/~u/a", "", URL{Scheme: "ssh", Host: "example.org", Path: "/~u/a"}},
		{"git@example.org:a/b.git", "", URL{Scheme: "ssh", User: "git", Host: "example.org", Path: "a/b.git", Home: true}},
		{"Example.org:a", "example.org:a", URL{Scheme: "ssh", Host: "example.org", Path: "a", Home: true}},
		{"git@example.org:/srv/a", "ssh://git@example.org/srv/a", URL{Scheme: "ssh", User: "git", Host: "example.org", Path: "/srv/a"}},
	} {
		got, err := CheckURL(tt.raw)
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v", tt.raw, got, err)
		}
		spelled := tt.spelled
		if spelled == "" {
			spelled = tt.raw
		}
		if got.String() != spelled {
			t.Errorf("%s: %s", tt.raw, got)
		}
		if again, err := CheckURL(got.String()); again != got || err != nil {
			t.Errorf("%s is not its own spelling: %+v, %v", got, again, err)
		}
	}
	for _, raw := range []string{
		"", "-", "--upload-pack=touch x", "--upload-p=x", "-oProxyCommand=x:a",
		"ext::sh -c touch%20x", "ext::x", "EXT::x", "file::x", "fd::3", "a::b", "file:///etc", "/etc", "./a", "../a", "a", "a/b:c", "C:\\x",
		"http://example.org/a", "git://example.org/a", "ftp://example.org/a", "git+ssh://example.org/a", "ext://x/y", "javascript://x/y",
		"https://user@example.org/a", "https://user:pass@example.org/a", "https://good.org@evil.org/a", "https://good.org:443@evil.org/a", "ssh://a@b@evil.org/a", "a@b@evil.org:a",
		"ssh://git:pw@example.org/a", "ssh://-oProxyCommand=x/a", "ssh://-x@example.org/a", "ssh://git@-x/a", "-x:a", "git@-x:a", "ssh://@example.org/a", "@example.org:a",
		"https://example.org", "https://example.org/", "https:///a", "https://example.org//a", "https://example.org/a/../b", "https://example.org/./a", "https://example.org/-a",
		"https://example.org:0/a", "https://example.org:/a", "https://example.org:65536/a", "https://example.org:+1/a", "https://example.org:01/a", "https://example.org:22:22/a",
		"https://2130706433/a", "https://0x7f.1/a", "https://127.1/a", "https://0177.0.0.1/a", "https://[::1/a", "https://[::1%25eth0]/a", "https://[::ffff:127.0.0.1]/a", "https://::1/a",
		"https://exa mple.org/a", "https://example.org/a\n", "https://example.org/a\x00", "https://example.org\\@evil.org/a", "https://example.org/a?b", "https://example.org/a#b",
		"https://example.org%2eevil.org/a", "https://example.org/%2e%2e/a", "https://exämple.org/a", "https://example。org/a", "https://a..b/c", "https://a./c", "https://.a/c", "https://a-/c",
		"git@[example.org]:a", "[git@example.org:22]:a", "git@example.org:", "git@example.org:a:b", "git@example.org:-a", "git@example.org:../a", "example.org::a",
		"git@evil.org:a@good.org/b", "git@example.org:$(touch x)", "git@example.org:a;touch x", "git@example.org:a'b",
		"https://" + strings.Repeat("a.", 200) + "org/a", "https://example.org/" + strings.Repeat("a", 3000),
	} {
		if got, err := CheckURL(raw); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%q: %+v, %v", raw, got, err)
		}
	}
}
