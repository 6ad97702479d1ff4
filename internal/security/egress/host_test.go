package egress_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/security/egress"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		" http://A.Test:80/x?q=1#part\n":  "http://a.test/x?q=1",
		"https://a.test:443":              "https://a.test",
		"https://a.test:80":               "https://a.test:80",
		"http://аpple.test/":              "http://xn--pple-43d.test/", // a Cyrillic а
		"http://[::FFFF:8.8.8.8]:8080/":   "http://8.8.8.8:8080/",
		"http://[2606:2800::0001]/":       "http://[2606:2800::1]/",
		"http://a.test/x y?q=a b&ä=\"%20": "http://a.test/x%20y?q=a%20b&%C3%A4=%22%20",
	} {
		u, err := egress.ParseURL(raw)
		if err != nil || u.String() != want {
			t.Errorf("%q: %v, %v", raw, u, err)
		}
	}
}

func TestLongURL(t *testing.T) {
	t.Parallel()
	_, err := egress.ParseURL("https://a.test/" + strings.Repeat("x", 10_000))
	checkError(t, err, "it is longer than 8192 bytes")
}

// A spelling is the last word: whoever reads it again comes to the same host.
func FuzzHost(f *testing.F) {
	for host := range refusedHosts {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		host, err := egress.Host(raw)
		if err != nil {
			return
		}
		if again, err := egress.Host(host); err != nil || again != host {
			t.Errorf("%q is spelled %q, and that %q (%v)", raw, host, again, err)
		}
	})
}
