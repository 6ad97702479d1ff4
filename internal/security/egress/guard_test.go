package egress_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/security/egress/egresstest"
)

var hello = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })

// get fetches without redirects.
func get(g *egress.Guard, url string) (string, error) {
	return getWith(g.Client(egress.ClientConfig{}), url)
}

func getWith(client *http.Client, url string) (string, error) {
	u, err := egress.ParseURL(url)
	if err != nil {
		return "", err
	}
	resp, err := client.Get(u.String())
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func TestRebinding(t *testing.T) {
	t.Parallel()
	const public, private = "93.184.216.34", "127.0.0.1"
	t.Run("public, then private", func(t *testing.T) {
		n := egresstest.New(t)
		n.Name("evil.test", public)
		n.Name("evil.test", private)
		n.Serve(public+":80", hello)
		n.Serve(private+":80", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the machine itself was reached") }))
		text, err := get(n.Guard(), "http://evil.test/")
		checkError(t, err, "")
		if text != "hello" {
			t.Errorf("got %q", text)
		}
		if diff := cmp.Diff([]string{"evil.test"}, n.Looked()); diff != "" {
			t.Errorf("the name is resolved once and only once: %s", diff)
		}
		if diff := cmp.Diff([]string{public + ":80"}, n.Dialed()); diff != "" {
			t.Errorf("the connection goes to the address that was looked at: %s", diff)
		}
		_, err = get(n.Guard(), "http://evil.test/") // the second request gets the second answer
		checkError(t, err, "evil.test resolves to 127.0.0.1, a loopback address")
	})
	t.Run("private, then public", func(t *testing.T) {
		n := egresstest.New(t)
		n.Name("evil.test", private)
		n.Name("evil.test", public)
		_, err := get(n.Guard(), "http://evil.test/")
		checkError(t, err, "evil.test resolves to 127.0.0.1, a loopback address")
		if len(n.Dialed()) > 0 {
			t.Errorf("connected to %v", n.Dialed())
		}
	})
}

// A name with one private address is refused as a whole: nothing good has such a name.
func TestOneAddressIsPrivate(t *testing.T) {
	t.Parallel()
	for _, addrs := range [][]string{
		{"93.184.216.34", "10.0.0.1"},
		{"10.0.0.1", "93.184.216.34"},
		{"93.184.216.34", "2606:2800:21f::1", "fd00::1"},
		{"93.184.216.34", "::ffff:10.0.0.1"},
		{"93.184.216.34", "93.184.216.35", "93.184.216.36", "93.184.216.37", "93.184.216.38", "10.0.0.1"},
	} {
		n := egresstest.New(t)
		n.Name("both.test", addrs...)
		n.Serve("93.184.216.34:80", hello)
		_, err := get(n.Guard(), "http://both.test/")
		var refused *egress.Refused
		if !errors.As(err, &refused) || refused.Why != "a private address" {
			t.Errorf("%v: %v", addrs, err)
		}
		if len(n.Dialed()) > 0 {
			t.Errorf("%v: connected to %v", addrs, n.Dialed())
		}
	}
}

func TestAddressesAreTriedInOrder(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Name("many.test", "93.184.216.31", "2606:2800:21f::1", "93.184.216.34")
	n.Serve("93.184.216.34:80", hello)
	text, err := get(n.Guard(), "http://many.test/")
	checkError(t, err, "")
	if text != "hello" {
		t.Errorf("got %q", text)
	}
	if diff := cmp.Diff([]string{"93.184.216.31:80", "[2606:2800:21f::1]:80", "93.184.216.34:80"}, n.Dialed()); diff != "" {
		t.Error(diff)
	}

	n = egresstest.New(t)
	n.Name("down.test", "93.184.216.1", "93.184.216.2", "93.184.216.3", "93.184.216.4", "93.184.216.5")
	_, err = get(n.Guard(), "http://down.test/")
	checkError(t, err, "connection refused")
	if len(n.Dialed()) != 4 {
		t.Errorf("%d addresses were tried", len(n.Dialed()))
	}
}

func TestUnknownNames(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Name("empty.test")
	for host, want := range map[string]string{"nowhere.test": "no such host", "empty.test": "no address found"} {
		_, err := get(n.Guard(), "http://"+host)
		checkError(t, err, want)
	}
}

func TestAllow(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Name("docs.internal.test", "10.0.0.5")
	n.Name("other.internal.test", "10.0.0.5")
	n.Name("odd.test", "169.254.169.254")
	n.Name("both.test", "93.184.216.34", "10.0.0.5")
	for _, a := range []string{"10.0.0.5:80", "10.0.0.5:3000", "93.184.216.34:80"} {
		n.Serve(a, hello)
	}
	guard := n.Guard()
	guard.Allow = func(host string, addr netip.Addr) bool {
		if addr.Is4In6() {
			t.Errorf("asked about %s, which is a spelling of an IPv4 address", addr)
		}
		return host == "docs.internal.test" || host == "odd.test"
	}
	for url, want := range map[string]string{
		"http://docs.internal.test/":       "",
		"http://docs.internal.test:3000/":  "",
		"http://DOCS.internal.test./":      "",
		"http://other.internal.test/":      "a private address",
		"http://other.internal.test:3000/": "a private address",
		"http://10.0.0.5/":                 "a private address",
		"http://both.test/":                "a private address",
		"http://93.184.216.34/":            "",
		"http://93.184.216.34:3000/":       "port 3000 is not one of",
		"http://odd.test/":                 "metadata", // whoever allows it
	} {
		_, err := get(guard, url)
		if (err == nil) != (want == "") {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
		if want != "" {
			checkError(t, err, want)
		}
	}
}

func TestPorts(t *testing.T) {
	t.Parallel()
	n := testNet(t)
	n.Serve("93.184.216.34:2222", hello)
	guard := n.Guard()
	guard.Ports = []uint16{2222}
	if _, err := get(guard, "http://public.test:2222/"); err != nil {
		t.Error(err)
	}
	_, err := get(guard, "http://public.test/")
	checkError(t, err, "port 80 is not one of [2222]")
}

func TestOnlyTCP(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"udp", "unix", "ip", ""} {
		_, err := testNet(t).Guard().DialContext(t.Context(), network, "public.test:80")
		checkError(t, err, "only TCP")
	}
	for _, address := range []string{"public.test", "public.test:http", "public.test:99999", "public.test:-1", ":80"} {
		if conn, err := testNet(t).Guard().DialContext(t.Context(), "tcp", address); err == nil {
			t.Errorf("%s: connected to %s", address, conn.RemoteAddr())
		}
	}
}

// A dialer that hangs is left when the caller has given up.
func TestDialIsCanceled(t *testing.T) {
	t.Parallel()
	n := testNet(t)
	ctx, cancel := context.WithCancel(t.Context())
	guard := n.Guard()
	tries := 0
	guard.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		tries++
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	n.Name("many.test", "93.184.216.31", "93.184.216.32")
	_, err := guard.DialContext(ctx, "tcp", "many.test:80")
	if !errors.Is(err, context.Canceled) || tries != 1 {
		t.Errorf("%v after %d tries", err, tries)
	}
}
