// Package egress decides which addresses of the network pawl may reach on its
// own behalf, and reaches them. Whatever fetches what a model asked for goes
// through a Guard: a model may have been talked into asking for the machine
// itself, its network or the metadata service of its cloud.
package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"
)

// Resolver turns a name into addresses; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

var _ Resolver = (*net.Resolver)(nil)

// Guard lets connections through to public addresses only. A name is resolved
// once; all of its addresses must be public, or none is reached; and the
// connection goes to an address that was looked at, so that a second answer of
// the name's owner counts for nothing. The zero value is ready to use.
type Guard struct {
	// Resolver is nil for the system's.
	Resolver Resolver

	// Dial is nil for a net.Dialer. It is only ever given an IP address that
	// has been looked at. A proxy, where one is needed, goes here: it then is
	// asked for that address and not for a name that it would resolve anew.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Ports are those that are reached; nil means 80, 443, 8080 and 8443. Other
	// services take what looks like a request for a command of theirs.
	Ports []uint16

	// Allow is asked about private, loopback and benchmark addresses, and about
	// other ports: true means that a person has named this host. Link-local,
	// multicast, reserved and metadata addresses stay closed. Nil means no.
	Allow func(host string, addr netip.Addr) bool

	// TLS is nil for the system's trust.
	TLS *tls.Config
}

// webPorts are where web servers are.
var webPorts = []uint16{80, 443, 8080, 8443}

const (
	connectWait = 10 * time.Second // for one address
	maxTries    = 4                // addresses of a name that are tried
)

// Refused is why a connection was not made.
type Refused struct {
	Host string     // the name or address that was asked for
	Addr netip.Addr // what it resolved to; invalid if the host itself is refused
	Why  string
}

func (r *Refused) Error() string {
	switch {
	case !r.Addr.IsValid():
		return fmt.Sprintf("refused: %s: %s", r.Host, r.Why)
	case r.Addr.String() == r.Host:
		return fmt.Sprintf("refused: %s is %s", r.Host, r.Why)
	default:
		return fmt.Sprintf("refused: %s is at %s, %s", r.Host, r.Addr, r.Why)
	}
}

// DialContext connects to host:port, or returns a *Refused.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, fmt.Errorf("dial %s: only TCP is spoken", network)
	}
	name, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, &Refused{Host: cut(name), Why: "there is no such port"}
	}
	addrs, err := g.Addresses(ctx, name, uint16(port))
	if err != nil {
		return nil, err
	}
	return g.connect(ctx, network, addrs, service)
}

// Addresses returns where a host may be reached, or a *Refused: for whoever connects
// by other means, and to nothing else.
func (g *Guard) Addresses(ctx context.Context, name string, port uint16) ([]netip.Addr, error) {
	host, err := Host(name)
	if err != nil {
		return nil, &Refused{Host: cut(name), Why: err.Error()}
	}
	return g.vet(ctx, host, port)
}

// vet returns the addresses of a host, all of them fit to be reached.
func (g *Guard) vet(ctx context.Context, host string, port uint16) ([]netip.Addr, error) {
	ports := g.Ports
	if ports == nil {
		ports = webPorts
	}
	usual := slices.Contains(ports, port)
	if !usual && g.Allow == nil {
		return nil, &Refused{Host: host, Why: fmt.Sprintf("port %d is none of %v", port, ports)}
	}
	addrs, err := g.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap()
		c, special := classify(a)
		if !special && usual {
			continue
		}
		if special && c.never || g.Allow == nil || !g.Allow(host, addrs[i]) {
			if !special {
				c.why = fmt.Sprintf("and port %d is none of %v", port, ports)
			}
			return nil, &Refused{Host: host, Addr: addrs[i], Why: c.why}
		}
	}
	return addrs, nil
}

func (g *Guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	var r Resolver = net.DefaultResolver
	if g.Resolver != nil {
		r = g.Resolver
	}
	addrs, err := r.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", host, err)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("resolve %s: it has no address", host)
	}
	return slices.Clone(addrs), nil
}

// connect tries the addresses in the resolver's order.
func (g *Guard) connect(ctx context.Context, network string, addrs []netip.Addr, port string) (net.Conn, error) {
	dial := g.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	var failures []error
	for _, a := range addrs[:min(len(addrs), maxTries)] {
		try, cancel := context.WithTimeout(ctx, connectWait)
		conn, err := dial(try, network, net.JoinHostPort(a.String(), port))
		cancel()
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(failures...)
}
