//go:build fleet

package main

import (
	"errors"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

// A workspace begins as what anybody can get at an https address, and as a
// repository on the hosts only where that was permitted.
func TestSources(t *testing.T) {
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
		got, err := sourceOf(c.source)
		if c.want != (git.Remote{}) && (err != nil || got != c.want) || c.want == (git.Remote{}) && !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%q: %+v, %v", c.source, got, err)
		}
	}
}
