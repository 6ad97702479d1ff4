package node

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/security/egress"
)

// localSources is the environment variable that permits file:// repositories as
// sources of workspaces: for mirrors that are mounted on every host.
const localSources = "PAWL_FLEET_LOCAL_SOURCES"

// parseSource parses the source of a workspace: the https URL of a repository and,
// after a #, a branch, a tag or a commit. Other URLs are refused: they would let a
// client read with the credentials and the files of the hosts.
func parseSource(source string) (git.Remote, error) {
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
		err = fault.New(pawl.ErrInvalid, "the source of a workspace must be a repository at an https address, not %.100q", address)
	}
	return from, err
}

// sources resolves the sources of workspaces. Hosts can reach addresses that clients
// cannot, so a private address is refused unless the configuration names its host.
type sources struct{ egress.Guard }

func newSources(named []string) *sources {
	return &sources{egress.Guard{Allow: func(host string, _ netip.Addr) bool { return slices.Contains(named, host) }}}
}

// find parses a source and resolves its host. Behind a proxy it does not resolve:
// the proxy decides what can be reached.
func (s *sources) find(ctx context.Context, source string) (git.Remote, error) {
	from, err := parseSource(source)
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
		return from, fault.New(pawl.ErrInvalid, "%w: to allow it, add the host to fleet.sources in the configuration", err)
	case err != nil:
		return from, fault.New(pawl.ErrUnavailable, "%w", err)
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
