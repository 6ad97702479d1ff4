package node

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

// TestSources checks that a source is an https URL, or a file URL if these are permitted.
func TestSources(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, c := range []struct {
		source, local string
		want          git.Remote
	}{
		{source: "https://example.com/shop.git", want: git.Remote{Address: "https://example.com/shop.git"}},
		{source: "https://example.com/shop.git#main", want: git.Remote{Address: "https://example.com/shop.git", Ref: "main"}},
		{source: "file:///srv/shop.git#v1", local: "1", want: git.Remote{Address: "file:///srv/shop.git", Ref: "v1", Local: true}},
		{source: "file:///srv/shop.git"},
		{source: "file://srv/shop.git", local: "1"},
		{source: "ssh://git@example.com/shop.git"},
		{source: "git@example.com:shop.git"},
		{source: "http://example.com/shop.git"},
		{source: "ext::sh -c true"},
		{source: "/srv/shop.git", local: "1"},
		{source: "--upload-pack=true"},
		{source: "https://example.com/shop.git#--upload-pack=true"},
		{source: ""},
	} {
		t.Setenv(localSources, c.local)
		got, err := parseSource(c.source)
		if c.want != (git.Remote{}) && (err != nil || got != c.want) || c.want == (git.Remote{}) && !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%q: %+v, %v", c.source, got, err)
		}
	}
}

// TestSourcesAreOutside checks that hosts do not fetch from private addresses unless the configuration names them, and
// never from the metadata service of a cloud.
func TestSourcesAreOutside(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		t.Setenv(name, "")
	}
	s := newSources([]string{"git.corp.example", "169.254.169.254"})
	s.Resolver = names{
		"github.example": "93.184.216.34", "git.corp.example": "10.0.0.7", "rebound.example": "127.0.0.1", "six.example": "2606:2800:220:1:248:1893:25c8:1946",
	}
	for _, c := range []struct {
		host, at string
		refused  bool
	}{
		{host: "github.example", at: "93.184.216.34"},
		{host: "six.example", at: "[2606:2800:220:1:248:1893:25c8:1946]"},
		{host: "git.corp.example", at: "10.0.0.7"},
		{host: "git.corp.example:3000", at: "10.0.0.7"},
		{host: "github.example:22", refused: true},
		{host: "rebound.example", refused: true},
		{host: "10.0.0.7", refused: true},
		{host: "127.0.0.1", refused: true},
		{host: "localhost", refused: true},
		{host: "[::1]", refused: true},
		{host: "169.254.169.254", refused: true},
	} {
		got, err := s.find(t.Context(), "https://"+c.host+"/shop.git")
		if c.refused != errors.Is(err, pawl.ErrInvalid) || got.At != c.at || !c.refused && err != nil {
			t.Errorf("%s: %+v, %v", c.host, got, err)
		}
	}
}

// names is a resolver that maps host names to addresses.
type names map[string]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "localhost" {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	a, err := netip.ParseAddr(n[host])
	return []netip.Addr{a}, err
}
