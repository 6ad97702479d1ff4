package egress_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/security/egress/egresstest"
)

// redirects serves a site on which /to?… leads there and /loop to itself.
func redirects(n *egresstest.Net, name string) {
	n.Site(name, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/to":
			w.Header().Set("Location", r.URL.Query().Get("u"))
			w.WriteHeader(http.StatusFound)
		case r.URL.Path == "/loop":
			http.Redirect(w, r, "/loop", http.StatusMovedPermanently)
		case strings.HasPrefix(r.URL.Path, "/down/"):
			var left int
			if _, err := fmt.Sscanf(r.URL.Path, "/down/%d", &left); err != nil || left == 0 {
				fmt.Fprintf(w, "arrived, referer %q, cookie %q", r.Referer(), r.Header.Get("Cookie"))
				return
			}
			w.Header().Set("Set-Cookie", "a=b")
			http.Redirect(w, r, fmt.Sprintf("/down/%d", left-1), http.StatusTemporaryRedirect)
		default:
			fmt.Fprint(w, "hello from "+r.Host)
		}
	}))
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	to := func(from, target string) string { return from + "/to?u=" + url.QueryEscape(target) }
	tests := []struct{ name, url, want, error string }{
		{"none", "http://a.test/", "hello from a.test", ""},
		{"a few", "http://a.test/down/5", `arrived, referer "", cookie ""`, ""},
		{"too many", "http://a.test/down/6", "", "more than 5 redirects"},
		{"a loop", "http://a.test/loop", "", "more than 5 redirects"},
		{"another host", to("http://a.test", "http://b.test/"), "hello from b.test", ""},
		{"upgrade", to("http://a.test", "https://a.test/x"), "hello from a.test", ""},
		{"unusual spelling", to("http://a.test", "http://B.TEST.:80/x"), "hello from b.test", ""},
		{"downgrade", to("https://a.test", "http://a.test/"), "", "redirect from https to http at"},
		{"downgrade elsewhere", to("https://a.test", "http://b.test/"), "", "redirect from https to http at"},
		{"the machine", to("http://a.test", "http://127.0.0.1/"), "", "127.0.0.1 is a loopback address"},
		{"the machine, oddly", to("http://a.test", "http://2130706433/"), "", "an unusual spelling of an IP address"},
		{"the machine, by name", to("http://a.test", "http://inside.test/"), "", "inside.test resolves to 10.0.0.1, a private address"},
		{"metadata", to("https://a.test", "https://169.254.169.254/latest/"), "", "metadata"},
		{"a port", to("http://a.test", "http://a.test:22/"), "", "port 22"},
		{"a file", to("http://a.test", "file:///etc/passwd"), "", "only http and https"},
		{"gopher", to("http://a.test", "gopher://a.test/"), "", "only http and https"},
		{"data", to("http://a.test", "data:text/plain,x"), "", "only http and https"},
		{"credentials", to("http://a.test", "http://u:secret@b.test/"), "", "a user name or password"},
		{"relative to a protocol", to("https://a.test", "//b.test/x"), "hello from b.test", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n := egresstest.New(t)
			redirects(n, "a.test")
			redirects(n, "b.test")
			n.Name("inside.test", "10.0.0.1")
			client := n.Guard().Client(egress.ClientConfig{Redirects: 5})
			got, err := getWith(client, test.url)
			checkError(t, err, test.error)
			if got != test.want {
				t.Errorf("got %q", got)
			}
			for _, a := range n.Dialed() {
				if !strings.HasPrefix(a, "93.184.216.") || strings.HasSuffix(a, ":22") {
					t.Errorf("connected to %s", a)
				}
			}
		})
	}
}

func TestRedirectsNotFollowed(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	redirects(n, "a.test")
	redirects(n, "b.test")
	same := func(from, to *url.URL) bool { return from.Host == to.Host }
	for _, c := range []egress.ClientConfig{{}, {Redirects: 5, Follow: same}} {
		resp, err := n.Guard().Client(c).Get("http://a.test/to?u=http://b.test/")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusFound || resp.Header.Get("Location") != "http://b.test/" {
			t.Errorf("got %s", resp.Status)
		}
	}
	if diff := cmp.Diff([]string{"a.test", "a.test"}, n.Looked()); diff != "" {
		t.Error(diff)
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	redirects(n, "a.test")
	guard := n.Guard()
	guard.TLS = nil
	_, err := get(guard, "https://a.test/")
	checkError(t, err, "certificate")
	got, err := get(n.Guard(), "https://a.test/")
	checkError(t, err, "")
	if got != "hello from a.test" {
		t.Errorf("got %q", got)
	}
}

func TestHeaderFlood(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Site("flood.test", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range 100_000 {
			w.Header().Add("X-Flood", fmt.Sprintf("%020d", i))
		}
	}))
	_, err := get(n.Guard(), "http://flood.test/")
	checkError(t, err, "server response headers exceeded 65536 bytes")
}

// Requests that the client is handed as they are get the same checks.
func TestRequests(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	redirects(n, "a.test")
	client := n.Guard().Client(egress.ClientConfig{})
	for url, want := range map[string]string{
		"http://A.test./":        "",
		"http://u:p@a.test/":     "a user name or password",
		"file:///etc/passwd":     "only http and https",
		"http:a.test/":           "it has no host",
		"http://0x7f.1/":         "an unusual spelling",
		"ftp://a.test/":          "only http and https",
		"http://[fe80::1%25lo]/": "a zone",
	} {
		for _, body := range []string{"", "x"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Host = "other.test" // goes where the URL says, under the URL's name
			resp, err := client.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			if (err == nil) != (want == "") {
				t.Errorf("%s: %v", url, err)
			}
			if want != "" {
				checkError(t, err, want)
			}
		}
	}
}
