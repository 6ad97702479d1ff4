// Package egresstest is a small internet in one process, for tests of what
// goes through an egress.Guard: names, public addresses, servers with
// certificates. Nothing leaves the machine.
package egresstest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/internal/security/egress"
)

// Net resolves names and leads connections to its own servers. Safe for
// concurrent use once it is set up.
type Net struct {
	tb    testing.TB
	certs *authority

	mu      sync.Mutex
	answers map[string][][]netip.Addr // by name; the last answer stays
	servers map[string]string         // real address by pretended address
	dialed  []string
	looked  []string
}

// New returns an internet without names and servers.
func New(tb testing.TB) *Net {
	tb.Helper()
	return &Net{tb: tb, certs: newAuthority(tb), answers: map[string][][]netip.Addr{}, servers: map[string]string{}}
}

// Name adds an answer for a name. The first question gets the first answer, and
// so on; further ones get the last.
func (n *Net) Name(name string, addrs ...string) {
	var answer []netip.Addr
	for _, a := range addrs {
		answer = append(answer, netip.MustParseAddr(a))
	}
	n.answers[name] = append(n.answers[name], answer)
}

// Serve answers connections to a pretended address, such as 93.184.216.34:80.
// On ports that end in 443 it speaks TLS, with a certificate for whatever name is asked for.
func (n *Net) Serve(address string, handler http.Handler) {
	n.tb.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // broken connections are what the tests are about
	if strings.HasSuffix(address, "443") {
		server.TLS = &tls.Config{GetCertificate: n.certs.issue}
		server.StartTLS()
	} else {
		server.Start()
	}
	n.tb.Cleanup(server.Close)
	n.Listen(address, server.Listener.Addr().String())
}

// Site names a host, puts it at an address of its own and serves it on ports 80 and 443.
func (n *Net) Site(name string, handler http.Handler) {
	n.tb.Helper()
	addr := fmt.Sprintf("93.184.216.%d", len(n.answers)+1)
	n.Name(name, addr)
	n.Serve(addr+":80", handler)
	n.Serve(addr+":443", handler)
}

// Listen leads connections to a pretended address to a real one.
func (n *Net) Listen(address, real string) { n.servers[address] = real }

// Guard returns a guard that knows this internet only, and trusts its certificates.
func (n *Net) Guard() *egress.Guard {
	roots := x509.NewCertPool()
	roots.AddCert(n.certs.cert)
	return &egress.Guard{Resolver: n, Dial: n.dial, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
}

// Dialed returns the addresses that were connected to, in order.
func (n *Net) Dialed() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.dialed)
}

// Looked returns the names that were asked for, in order.
func (n *Net) Looked() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.looked)
}

// LookupNetIP implements egress.Resolver.
func (n *Net) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.looked = append(n.looked, host)
	answers := n.answers[host]
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		n.answers[host] = answers[1:]
	}
	return answers[0], ctx.Err()
}

func (n *Net) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dialed = append(n.dialed, address)
	real, ok := n.servers[address]
	n.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("dial %s: connection refused", address)
	}
	return new(net.Dialer).DialContext(ctx, network, real)
}
