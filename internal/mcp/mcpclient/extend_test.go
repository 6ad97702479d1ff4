package mcpclient

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBeside: a set beside another has the servers of both, in the order of their
// names. One of the other's takes the place of its own, whenever it comes; the
// other has none of its own.
func TestBeside(t *testing.T) {
	t.Parallel()
	const dir = "/w"
	base := New(Config{})
	defer base.Close()
	one, two := base.Extend(), base.Extend()
	defer two.Close()
	start := func(s *Servers, transport string, names ...string) {
		t.Helper()
		var list []Server
		for _, name := range names {
			server := Server{Name: name, Transport: transport, Disabled: true}
			if transport == Stdio {
				server.Command = "none"
			} else {
				server.URL = "https://example.com/mcp"
			}
			list = append(list, server)
		}
		if err := s.Start(dir, list); err != nil {
			t.Fatal(err)
		}
	}
	check := func(s *Servers, want ...string) {
		t.Helper()
		var got []string
		for _, status := range s.Status(dir) {
			got = append(got, status.Name+" "+status.Transport)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("servers (-want):\n%s", diff)
		}
	}
	start(one, HTTP, "a", "c", "d")
	start(two, SSE, "c")
	check(base)
	check(one, "a http", "c http", "d http")
	start(base, Stdio, "c", "b")
	check(base, "b stdio", "c stdio")
	check(one, "a http", "b stdio", "c stdio", "d http")
	check(two, "b stdio", "c stdio")
	if l, err := one.find(dir, "c"); err != nil || l.server.Transport != Stdio {
		t.Errorf("found %+v, %v", l, err)
	}
	start(one, HTTP, "d")
	check(one, "b stdio", "c stdio", "d http")
	one.Close()
	check(one, "b stdio", "c stdio")
	check(base, "b stdio", "c stdio")
	if err := one.Start(dir, nil); err == nil {
		t.Error("one that is closed starts servers")
	}
}
