//go:build fleet

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/security/egress"
)

// localSources lets workspaces begin as repositories on the hosts themselves: for
// mirrors that are mounted on each of them.
const localSources = "PAWL_FLEET_LOCAL_SOURCES"

// sourceOf reads what a workspace begins as: an https address of a repository, and
// behind a # a branch, a tag or the id of a commit. Who asks is not the one whose
// keys and files the hosts have, so that there are no others.
func sourceOf(source string) (git.Remote, error) {
	address, ref, _ := strings.Cut(source, "#")
	from := git.Remote{Address: address, Ref: ref}
	if ref != "" {
		if err := git.CheckRef(ref); err != nil {
			return from, err
		}
	}
	if strings.HasPrefix(address, "file:///") && os.Getenv(localSources) != "" {
		from.Local = true
		return from, nil
	}
	u, err := git.CheckURL(address)
	if err == nil && u.Scheme != "https" {
		err = fmt.Errorf("a workspace begins as a repository at an https address, not at %.100q: %w", address, pawl.ErrInvalid)
	}
	return from, err
}

// sources finds what workspaces begin as. Hosts reach what those who ask do not: a
// repository at a private address counts only if its host was named.
type sources struct{ egress.Guard }

func newSources(named []string) *sources {
	return &sources{egress.Guard{Allow: func(host string, _ netip.Addr) bool { return slices.Contains(named, host) }}}
}

// find is sourceOf, with where the repository is. Where a proxy reaches it, that is
// the proxy's to know and to refuse.
func (s *sources) find(ctx context.Context, source string) (git.Remote, error) {
	from, err := sourceOf(source)
	if err != nil || from.Local || cmp.Or(os.Getenv("HTTPS_PROXY"), os.Getenv("https_proxy")) != "" {
		return from, err
	}
	u, err := git.CheckURL(from.Address)
	if err != nil {
		return from, err
	}
	addrs, err := s.Addresses(ctx, u.Host, uint16(cmp.Or(u.Port, 443))) //nolint:gosec // CheckURL knows what a port is
	var no *egress.Refused
	switch {
	case errors.As(err, &no):
		return from, fmt.Errorf("%w: name the host in fleet.sources of the configuration if workspaces may begin there: %w", err, pawl.ErrInvalid)
	case err != nil:
		return from, fmt.Errorf("%w: %w", err, pawl.ErrUnavailable)
	}
	var at []string
	for _, a := range addrs {
		if at = append(at, a.String()); a.Is6() {
			at[len(at)-1] = "[" + a.String() + "]"
		}
	}
	from.At = strings.Join(at, ",")
	return from, nil
}
