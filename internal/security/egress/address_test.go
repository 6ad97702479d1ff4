package egress_test

import (
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/security/egress/egresstest"
)

// refusedHosts are spellings of what must not be reached, and what the refusal says.
var refusedHosts = map[string]string{
	"127.0.0.1":       "127.0.0.1 is a loopback address",
	"127.255.255.254": "a loopback address",
	"localhost":       "localhost resolves to 127.0.0.1, a loopback address",
	"LOCALHOST":       "localhost resolves to 127.0.0.1",
	"localhost.":      "localhost resolves to 127.0.0.1",
	"loc\u00adalhost": "localhost resolves to 127.0.0.1", // a soft hyphen
	"ⓛocalhost":       "localhost resolves to 127.0.0.1",
	"localhost。":      "localhost resolves to 127.0.0.1",
	"127.0.0.1.":      "127.0.0.1 is a loopback address",
	"１２７.０.０.１":       "127.0.0.1 is a loopback address", // wide digits
	"127。0。0。1":       "127.0.0.1 is a loopback address", // the dots of East Asia
	"①②⑦.0.0.1":       "127.0.0.1 is a loopback address",
	"127.1":           "an unusual spelling of an IP address",
	"127.0.1":         "an unusual spelling of an IP address",
	"2130706433":      "an unusual spelling of an IP address",
	"0x7f000001":      "an unusual spelling of an IP address",
	"0x7f.1":          "an unusual spelling of an IP address",
	"0X7F.0.0.0x1":    "an unusual spelling of an IP address",
	"1.0xa1b2":        "an unusual spelling of an IP address",
	"0177.0.0.1":      "an unusual spelling of an IP address",
	"0177.0.0.01":     "an unusual spelling of an IP address",
	"017700000001":    "an unusual spelling of an IP address",
	"127.0.0.1.2":     "an unusual spelling of an IP address",
	"example.com.99":  "an unusual spelling of an IP address",
	"1.1.1.256":       "an unusual spelling of an IP address",
	"127%2e0.0.1":     "it is not a valid URL",
	"%31%32%37.0.0.1": "it is not a valid URL",
	"127.0.0.1%00":    "it is not a valid URL",
	"exa mple.com":    "it is not a valid URL",
	"a..b":            "it is not a host name",
	"example.com..":   "it is not a host name",
	".":               "it is empty",
	"":                "it is empty",
	"exam\u202eple":   "it is not a host name", // right to left
	"x!.com":          "it is not a host name",

	"[::1]":                      "::1 is a loopback address",
	"[0:0:0:0:0:0:0:1]":          "::1 is a loopback address",
	"[::]":                       "an unspecified address",
	"[::ffff:127.0.0.1]":         "127.0.0.1 is a loopback address",
	"[::ffff:7f00:1]":            "127.0.0.1 is a loopback address",
	"[::FFFF:10.1.2.3]":          "10.1.2.3 is a private address",
	"[::127.0.0.1]":              "a reserved address", // IPv4-compatible
	"[::ffff:0:127.0.0.1]":       "a reserved address", // IPv4-translated
	"[64:ff9b::127.0.0.1]":       "a loopback address", // NAT64
	"[64:ff9b::a9fe:a9fe]":       "metadata",
	"[64:ff9b:1::10.0.0.1]":      "a reserved address",
	"[2002:7f00:1::]":            "a 6to4 address",
	"[2002:808:808::1]":          "a 6to4 address",
	"[2001:0:4136:e378::1]":      "a Teredo address",
	"[fe80::1]":                  "a link-local address",
	"[fe80::1%25lo]":             "it contains an escape or a zone",
	"[2606:4700::1%25eth0]":      "it contains an escape or a zone",
	"[fc00::1]":                  "a private address",
	"[fd12:3456:789a::1]":        "a private address",
	"[fd00:ec2::254]":            "metadata",
	"[fd20:ce::254]":             "metadata",
	"[fec0::1]":                  "a site-local address",
	"[ff02::1]":                  "a multicast address",
	"[2001:db8::1]":              "a documentation address",
	"[3fff::1]":                  "a documentation address",
	"[2001:2::1]":                "a reserved address", // benchmark
	"[100::1]":                   "a reserved address", // discard
	"[5f00::1]":                  "a reserved address",
	"[4000::1]":                  "a reserved address",
	"0.0.0.0":                    "an unspecified address",
	"0":                          "an unusual spelling",
	"0.1.2.3":                    "an unspecified address",
	"10.0.0.1":                   "10.0.0.1 is a private address",
	"172.16.0.1":                 "a private address",
	"172.31.255.255":             "a private address",
	"192.168.1.1":                "a private address",
	"100.64.0.1":                 "a carrier's private address",
	"100.127.255.255":            "a carrier's private address",
	"169.254.1.1":                "a link-local address",
	"169.254.169.254":            "a cloud metadata service",
	"169.254.170.2":              "a cloud metadata service",
	"100.100.100.200":            "a cloud metadata service",
	"168.63.129.16":              "a cloud metadata service",
	"192.0.0.192":                "a cloud metadata service",
	"metadata.google.internal":   "resolves to 169.254.169.254, a cloud metadata service",
	"192.0.0.8":                  "a reserved address",
	"192.0.2.1":                  "a documentation address",
	"198.51.100.7":               "a documentation address",
	"203.0.113.7":                "a documentation address",
	"198.18.0.1":                 "a benchmark address",
	"198.19.255.255":             "a benchmark address",
	"192.88.99.1":                "a reserved address",
	"224.0.0.1":                  "a multicast address",
	"239.255.255.250":            "a multicast address",
	"240.0.0.1":                  "a reserved address",
	"255.255.255.255":            "the broadcast address",
	"127.0.0.1.nip.test":         "resolves to 127.0.0.1, a loopback address",
	"mapped.test":                "resolves to 127.0.0.1, a loopback address",
	"user@127.0.0.1":             "a user name or password",
	"public.test:pw@127.0.0.1":   "a user name or password",
	"public.test@10.0.0.1":       "a user name or password",
	"public.test:22":             "port 22 is not one of [80 443 8080 8443]",
	"public.test:6379":           "port 6379",
	"public.test:0":              "invalid port",
	"public.test:65616":          "invalid port", // 80 after an overflow
	"public.test\\@127.0.0.1":    "it is not a valid URL",
	"public.test\t.evil.test":    "it is not a valid URL",
	strings.Repeat("a.", 200):    "it is empty or too long",
	strings.Repeat("a", 64):      "it is not a host name",
	"xn--a.test":                 "it is not a host name", // no valid punycode
	"public.test:80:80":          "it is not a",
	"[::1]:80@public.test":       "it is not a valid URL",
	"[127.0.0.1]":                "it is not a valid URL",
	"public.test#@127.0.0.1":     "",
	"public.test?@127.0.0.1":     "",
	"public.test/..//@127.0.0.1": "",
	"PUBLIC.test.:80":            "",
	"public.test:":               "",
	"public.test:00080":          "",
	"93.184.216.34":              "",
	"[::ffff:93.184.216.34]":     "",
	"[64:ff9b::93.184.216.34]":   "",
	"[2606:2800:21f::1]":         "",
	"bücher.test":                "",
	"xn--bcher-kva.test":         "",
	"under_score.test":           "",
	"r3---sn.test":               "",
}

func testNet(t *testing.T) *egresstest.Net {
	n := egresstest.New(t)
	n.Name("public.test", "93.184.216.34")
	n.Name("localhost", "127.0.0.1", "::1")
	n.Name("metadata.google.internal", "169.254.169.254")
	n.Name("127.0.0.1.nip.test", "127.0.0.1")
	n.Name("mapped.test", "::ffff:127.0.0.1")
	n.Name("xn--bcher-kva.test", "93.184.216.34")
	n.Name("under_score.test", "93.184.216.34")
	n.Name("r3---sn.test", "93.184.216.34")
	for _, a := range []string{"93.184.216.34:80", "[64:ff9b::5db8:d822]:80", "[2606:2800:21f::1]:80"} {
		n.Serve(a, hello)
	}
	return n
}

func TestSpellings(t *testing.T) {
	t.Parallel()
	if len(refusedHosts) < 100 {
		t.Errorf("only %d spellings", len(refusedHosts))
	}
	for host, want := range refusedHosts {
		t.Run(host, func(t *testing.T) {
			n := testNet(t)
			text, err := get(n.Guard(), "http://"+host+"/")
			checkError(t, err, want)
			if want == "" && text != "hello" {
				t.Errorf("got %q", text)
			}
			if want != "" && len(n.Dialed()) > 0 {
				t.Errorf("it was connected to: %v", n.Dialed())
			}
			if strings.HasPrefix(want, "port ") && len(n.Looked()) > 0 {
				t.Errorf("it was looked up: %v", n.Looked())
			}
		})
	}
}

// The guard is also asked by others than its client: it looks at names by itself.
func TestDialSpellings(t *testing.T) {
	t.Parallel()
	for host, want := range refusedHosts {
		u, err := url.Parse("http://" + host)
		if want == "" || err != nil || u.User != nil || u.Port() != "" {
			continue
		}
		n := testNet(t)
		conn, err := n.Guard().DialContext(t.Context(), "tcp", net.JoinHostPort(u.Hostname(), "80"))
		if err == nil {
			t.Errorf("%s: connected to %s", host, conn.RemoteAddr())
		}
		if len(n.Dialed()) > 0 {
			t.Errorf("%s: it was connected to: %v", host, n.Dialed())
		}
	}
}
