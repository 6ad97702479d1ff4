package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// names normalizes a name as a browser does: lower case, full-width forms folded,
// other scripts as punycode, so that look-alikes are visible.
var names = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false), idna.CheckHyphens(false), idna.StrictDomainName(false))

// maxName is the length of the longest DNS name.
const maxName = 253

// Host returns the canonical spelling of a host: an IP address, or a name in lower
// case ASCII without a final dot. It rejects zones, escapes, and numbers that some
// resolvers take for an address, such as 0x7f.1 or 2130706433.
func Host(host string) (string, error) {
	switch {
	case len(host) > utf8.UTFMax*maxName: // what follows takes time that grows with its square
		return "", errors.New("it is empty or too long")
	case strings.Contains(host, "%"):
		return "", errors.New("it contains an escape or a zone")
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String(), nil
	}
	name, err := names.ToASCII(host)
	if err != nil || !utf8.ValidString(host) {
		return "", errors.New("it is not a host name")
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if a, err := netip.ParseAddr(name); err == nil { // it was written in wide digits
		return a.Unmap().String(), nil
	}
	if name == "" || len(name) > maxName {
		return "", errors.New("it is empty or too long")
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, func(r rune) bool { return !nameRune(r) }) {
			return "", errors.New("it is not a host name")
		}
	}
	if number(labels[len(labels)-1]) {
		return "", errors.New("it is an unusual spelling of an IP address")
	}
	return name, nil
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

// number reports whether a resolver might take the last label for part of an address.
// No top-level domain is a number.
func number(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// maxURL bounds a URL, in bytes.
const maxURL = 8 << 10

// ParseURL parses a URL and normalizes it: http or https, the host as Host returns
// it, no default port, no fragment. It rejects credentials.
func ParseURL(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, fmt.Errorf("it is longer than %d bytes", maxURL)
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return nil, errors.New("it is not a valid URL")
	}
	return canonical(u)
}

func canonical(u *url.URL) (*url.URL, error) {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("only http and https are supported")
	case u.User != nil:
		return nil, errors.New("it contains a user name or password")
	case u.Opaque != "":
		return nil, errors.New("it has no host")
	}
	host, err := Host(u.Hostname())
	if err != nil {
		return nil, fmt.Errorf("host %q: %w", cut(u.Hostname()), err)
	}
	port, err := portOf(u)
	if err != nil {
		return nil, err
	}
	c := *u
	c.Host = host
	if strings.Contains(host, ":") {
		c.Host = "[" + host + "]"
	}
	if port != defaultPort(u.Scheme) {
		c.Host += ":" + strconv.Itoa(int(port))
	}
	c.RawQuery = Escape(u.RawQuery)
	c.Fragment, c.RawFragment = "", ""
	return &c, nil
}

// Escape escapes the characters that are not allowed in a URL.
func Escape(address string) string {
	var b strings.Builder
	for _, c := range []byte(address) {
		if c <= ' ' || c > '~' || strings.IndexByte("\"<>`{|}\\^", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// cut shortens a bad host for an error.
func cut(s string) string { return s[:min(len(s), 100)] }

func portOf(u *url.URL) (uint16, error) {
	if u.Port() == "" {
		return defaultPort(u.Scheme), nil
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("invalid port %.10q", u.Port())
	}
	return uint16(port), nil
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}
