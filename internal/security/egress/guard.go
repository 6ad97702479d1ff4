// Package egress restricts which network addresses pawl itself connects to, against
// server-side request forgery (SSRF). Everything that fetches what a model asked for
// goes through a Guard: a prompt injection may make the model ask for this machine,
// its private network or the metadata service of its cloud.
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

// Guard connects to public addresses only. It resolves a name once, requires all of
// its addresses to be public, and connects to one of those it checked, so that DNS
// rebinding has no effect. The zero value is ready to use.
type Guard struct {
	// Resolver resolves names; nil means the system's resolver.
	Resolver Resolver

	// Dial connects; nil means a net.Dialer. It is only called with checked IP
	// addresses. To use a proxy, set it here: it is then asked for the address, not for
	// a name that it would resolve again.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Ports are the allowed ports; nil means 80, 443, 8080 and 8443. Services on other
	// ports may take an HTTP request for commands of their own.
	Ports []uint16

	// Allow reports whether a person has allowed a host with a private, loopback or
	// benchmark address, or at another port; nil means no. Link-local, multicast,
	// reserved and metadata addresses are never allowed.
	Allow func(host string, addr netip.Addr) bool

	// TLS configures TLS; nil means the certificate authorities of the system.
	TLS *tls.Config
}

// webPorts are the default ports.
var webPorts = []uint16{80, 443, 8080, 8443}

const (
	connectWait = 10 * time.Second // for one address
	maxTries    = 4                // addresses of a name that are tried
)

// Refused is the error of a connection that the guard does not allow.
type Refused struct {
	Host string     // the requested name or address
	Addr netip.Addr // what it resolved to; invalid if the host itself is refused
	Why  string
}

func (r *Refused) Error() string {
	switch {
	case !r.Addr.IsValid():
		return fmt.Sprintf("denied: %s: %s", r.Host, r.Why)
	case r.Addr.String() == r.Host:
		return fmt.Sprintf("denied: %s is %s", r.Host, r.Why)
	default:
		return fmt.Sprintf("denied: %s resolves to %s, %s", r.Host, r.Addr, r.Why)
	}
}

// DialContext connects to host:port, or returns a *Refused.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, fmt.Errorf("dial %s: only TCP is supported", network)
	}
	name, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, &Refused{Host: cut(name), Why: "invalid port"}
	}
	addrs, err := g.Addresses(ctx, name, uint16(port))
	if err != nil {
		return nil, err
	}
	return g.connect(ctx, network, addrs, service)
}

// Addresses returns the checked addresses of a host, or a *Refused. Callers that
// connect by other means must connect to these addresses only.
func (g *Guard) Addresses(ctx context.Context, name string, port uint16) ([]netip.Addr, error) {
	host, err := Host(name)
	if err != nil {
		return nil, &Refused{Host: cut(name), Why: err.Error()}
	}
	return g.vet(ctx, host, port)
}

// vet resolves a host and checks all of its addresses.
func (g *Guard) vet(ctx context.Context, host string, port uint16) ([]netip.Addr, error) {
	ports := g.Ports
	if ports == nil {
		ports = webPorts
	}
	usual := slices.Contains(ports, port)
	if !usual && g.Allow == nil {
		return nil, &Refused{Host: host, Why: fmt.Sprintf("port %d is not one of %v", port, ports)}
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
				return nil, &Refused{Host: host, Why: fmt.Sprintf("port %d is not one of %v", port, ports)}
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
		return nil, fmt.Errorf("resolve %s: no address found", host)
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
