package egress

import "net/netip"

// class is a range of addresses that are not on the public internet.
type class struct {
	prefix netip.Prefix
	why    string
	never  bool // no permission opens it: there are no web pages
}

func within(prefix, why string) class {
	return class{prefix: netip.MustParsePrefix(prefix), why: why}
}

func never(prefix, why string) class {
	return class{prefix: netip.MustParsePrefix(prefix), why: why, never: true}
}

const metadata = "a cloud metadata service"

// classes are searched in order: ranges that are never reached come before the wider
// ranges that contain them. They are the ranges of IANA's special-purpose address
// registries, and metadata services.
var classes = []class{
	never("169.254.169.254/32", metadata),
	never("169.254.170.2/32", metadata),   // of containers on AWS
	never("100.100.100.200/32", metadata), // Alibaba
	never("192.0.0.192/32", metadata),     // Oracle
	never("168.63.129.16/32", metadata),   // Azure, though its range is public
	never("fd00:ec2::/32", metadata),      // AWS
	never("fd20:ce::/32", metadata),       // Google

	never("0.0.0.0/8", "an unspecified address"),
	within("10.0.0.0/8", "a private address"),
	within("100.64.0.0/10", "a carrier's private address"),
	within("127.0.0.0/8", "a loopback address"),
	never("169.254.0.0/16", "a link-local address"),
	within("172.16.0.0/12", "a private address"),
	never("192.0.0.0/24", "a reserved address"),
	never("192.0.2.0/24", "a documentation address"),
	never("192.88.99.0/24", "a reserved address"), // the relays of 6to4
	within("192.168.0.0/16", "a private address"),
	within("198.18.0.0/15", "a benchmark address"), // some VPNs put every name here
	never("198.51.100.0/24", "a documentation address"),
	never("203.0.113.0/24", "a documentation address"),
	never("224.0.0.0/4", "a multicast address"),
	never("255.255.255.255/32", "the broadcast address"),
	never("240.0.0.0/4", "a reserved address"),

	never("::/128", "an unspecified address"),
	within("::1/128", "a loopback address"),
	within("fc00::/7", "a private address"),
	never("fe80::/10", "a link-local address"),
	never("fec0::/10", "a site-local address"),
	never("ff00::/8", "a multicast address"),
	never("2001::/32", "a Teredo address"),
	never("2001::/23", "a reserved address"), // benchmark, ORCHID and others
	never("2001:db8::/32", "a documentation address"),
	never("2002::/16", "a 6to4 address"),
	never("3fff::/20", "a documentation address"),
}

var (
	// global contains all assigned global unicast IPv6 addresses.
	global = netip.MustParsePrefix("2000::/3")
	// nat64 maps public IPv4 addresses in networks without IPv4.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

// classify returns the class of an address that is not public.
func classify(a netip.Addr) (class, bool) {
	if !a.IsValid() || a.Zone() != "" {
		return class{why: "a link-local address with a zone", never: true}, true
	}
	a = a.Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	for _, c := range classes {
		if c.prefix.Contains(a) {
			return c, true
		}
	}
	if a.Is6() && !global.Contains(a) {
		return class{why: "a reserved address", never: true}, true
	}
	return class{}, false
}
