package permission

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/idna"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// host is a network host in canonical spelling.
type host struct {
	name     string // lower case, without the last dot, in ASCII; or an address
	port     string // "" if it is missing
	userinfo bool   // a name and password stand before it
	address  bool
}

var lookup = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.CheckHyphens(false), idna.StrictDomainName(true), idna.VerifyDNSLength(true))

// parseHost parses a host, host:port or URL. Ambiguous texts, which programs parse
// in different ways, are errors.
func parseHost(target string) (host, error) {
	if strings.ContainsAny(target, "\\%") || strings.ContainsFunc(target, func(r rune) bool { return sanitize.Strange(r) || r == ' ' }) {
		return host{}, errors.New("the host has an unusual spelling")
	}
	if addr, err := netip.ParseAddr(target); err == nil {
		return addressHost(addr)
	}
	if !strings.Contains(target, "://") {
		target = "//" + target
	}
	u, err := url.Parse(target)
	if err != nil {
		return host{}, errors.New("it is not a host")
	}
	h := host{port: u.Port(), userinfo: u.User != nil}
	if strings.HasSuffix(u.Host, ":") {
		return host{}, errors.New("the port is missing")
	}
	if h.port == "" {
		h.port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	name := u.Hostname()
	if addr, err := netip.ParseAddr(name); err == nil {
		a, err := addressHost(addr)
		h.name, h.address = a.name, true
		return h, err
	}
	if h.name, err = lookup.ToASCII(name); err != nil || h.name == "" {
		return host{}, errors.New("it is not a host name")
	}
	h.name = strings.TrimSuffix(h.name, ".")
	if addr, err := netip.ParseAddr(h.name); err == nil { // in full-width digits, say
		h.name, h.address = addr.Unmap().String(), true
		return h, nil
	}
	if last := h.name[strings.LastIndexByte(h.name, '.')+1:]; last[0] >= '0' && last[0] <= '9' {
		return host{}, errors.New("it is an unusual spelling of an IP address")
	}
	return h, nil
}

func addressHost(addr netip.Addr) (host, error) {
	if addr.Zone() != "" {
		return host{}, errors.New("the address has a zone")
	}
	return host{name: addr.Unmap().String(), address: true}, nil
}

// hostPattern matches one host, all hosts below a domain (*.x.org), or all (*).
type hostPattern struct {
	name     string
	port     string
	below    bool
	everyone bool
}

func parseHostPattern(s string) (hostPattern, error) {
	if s == "*" {
		return hostPattern{everyone: true}, nil
	}
	rest, isBelow := strings.CutPrefix(s, "*.")
	if strings.ContainsAny(rest, "*/@?#") {
		return hostPattern{}, errors.New("use a host, *.domain or *, optionally with a port")
	}
	h, err := parseHost(rest)
	if err != nil {
		return hostPattern{}, err
	}
	if isBelow && h.address {
		return hostPattern{}, errors.New("an IP address has no subdomains")
	}
	return hostPattern{name: h.name, port: h.port, below: isBelow}, nil
}

// names reports whether the pattern matches the host's name, by whole labels.
func (p hostPattern) names(h host) bool {
	switch {
	case p.everyone:
		return true
	case p.below:
		return !h.address && strings.HasSuffix(h.name, "."+p.name)
	default:
		return h.name == p.name
	}
}

// allows reports whether the pattern, in an allow rule, matches a host. A pattern
// without a port matches ports 80 and 443 only.
func (p hostPattern) allows(h host) bool {
	if h.userinfo || !p.names(h) {
		return false
	}
	if p.port == "" {
		return h.port == "" || h.port == "80" || h.port == "443"
	}
	return p.port == h.port
}

// covers reports whether the pattern, in a rule that asks or denies, matches a
// host. A missing port, on either side, matches any.
func (p hostPattern) covers(h host) bool {
	return p.names(h) && (p.port == "" || h.port == "" || p.port == h.port)
}

// String returns the pattern that matches only this host.
func (h host) String() string {
	name := h.name
	if h.address && strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if h.port == "" || h.port == "80" || h.port == "443" {
		return name
	}
	return fmt.Sprintf("%s:%s", name, h.port)
}
