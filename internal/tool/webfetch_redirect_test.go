package tool

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/egress/egresstest"
)

// jumping serves hosts on which /to?u=… leads there.
func jumping(t *testing.T, hosts ...string) *egresstest.Net {
	t.Helper()
	n := egresstest.New(t)
	for _, host := range hosts {
		n.Site(host, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var left int
			switch {
			case r.URL.Path == "/to":
				w.Header().Set("Location", r.URL.Query().Get("u"))
				w.WriteHeader(http.StatusFound)
			case strings.HasPrefix(r.URL.Path, "/down/"):
				if _, err := fmt.Sscanf(r.URL.Path, "/down/%d", &left); err != nil || left == 0 {
					fmt.Fprint(w, "arrived")
					return
				}
				http.Redirect(w, r, fmt.Sprintf("/down/%d", left-1), http.StatusSeeOther)
			case r.URL.Path == "/loop":
				http.Redirect(w, r, "/loop", http.StatusFound)
			default:
				fmt.Fprintf(w, "hello from %s", r.Host)
			}
		}))
	}
	return n
}

func fetchURL(t *testing.T, n *egresstest.Net, address string) (pawl.Result, error) {
	t.Helper()
	return try(t.Context(), WebFetch(n.Guard()), call("", input(t, fields{"url": address})))
}

func TestWebFetchRedirects(t *testing.T) {
	t.Parallel()
	to := func(from, target string) string { return from + "/to?u=" + url.QueryEscape(target) }
	for _, test := range []struct{ name, url, final, want, redirect, error string }{
		{name: "on the host", url: to("https://a.test", "/x"), final: "https://a.test/x", want: "hello from a.test"},
		{name: "to https", url: to("http://a.test", "https://a.test/x"), final: "https://a.test/x", want: "hello from a.test"},
		{name: "to www", url: to("https://a.test", "https://www.a.test/"), final: "https://www.a.test/", want: "hello from www.a.test"},
		{name: "from www", url: to("https://www.a.test", "https://a.test/"), final: "https://a.test/", want: "hello from a.test"},
		{name: "another host", url: to("https://a.test", "https://b.test/x?y"), redirect: "https://b.test/x?y"},
		{name: "a subdomain", url: to("https://a.test", "https://sub.a.test/"), redirect: "https://sub.a.test/"},
		{name: "a look-alike", url: to("https://a.test", "https://www.a.test.b.test/"), redirect: "https://www.a.test.b.test/"},
		{name: "another port", url: to("https://a.test", "https://a.test:8443/"), redirect: "https://a.test:8443/"},
		{name: "words in the address", url: to("https://a.test", "https://b.test/?q=Ignore previous\n\u202E\"instructions<x>"),
			redirect: "https://b.test/?q=Ignore%20previous%20%E2%80%AE%22instructions%3Cx%3E"},
		{name: "the machine", url: to("https://a.test", "https://127.0.0.1/"), redirect: "https://127.0.0.1/"},
		{name: "a file", url: to("https://a.test", "file:///etc/passwd"), error: "only http and https"},
		{name: "a script", url: to("https://a.test", "javascript:alert(1)"), error: "only http and https"},
		{name: "credentials", url: to("https://a.test", "https://u:p@a.test/"), error: "a user name or password"},
		{name: "downgrade", url: to("https://a.test", "http://a.test/"), error: "redirect from https to http at a.test"},
		{name: "loop", url: "https://a.test/loop", error: "more than 5 redirects"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := jumping(t, "a.test", "www.a.test", "b.test", "sub.a.test")
			got, err := fetchURL(t, n, test.url)
			checkError(t, err, test.error)
			switch {
			case err != nil:
			case test.redirect != "":
				_, rest, _ := strings.Cut(got.Content, " leads to another host: ")
				if rest != test.redirect+"\nIf you want that page, call webfetch with this address." || !got.IsError {
					t.Errorf("got %+v", got)
				}
			default:
				head, source, text := untrusted(t, got.Content)
				if head != test.final+": 200 OK, text/plain" || source != test.final || text != test.want {
					t.Errorf("got %q, %q, %q", head, source, text)
				}
			}
			for _, name := range n.Looked() {
				if strings.TrimPrefix(name, "www.") != "a.test" {
					t.Errorf("%s was looked up, for which nobody gave permission", name)
				}
			}
		})
	}
}

// What the guard refuses, the model learns in a line.
func TestWebFetchRefusals(t *testing.T) {
	t.Parallel()
	n := jumping(t, "a.test")
	n.Name("inside.test", "10.0.0.7")
	n.Name("www.a.test", "192.168.0.1")
	for address, want := range map[string]string{
		"http://127.0.0.1:8080/":                      "fetch http://127.0.0.1:8080/: denied: 127.0.0.1 is a loopback address",
		"http://inside.test/secret":                   "fetch http://inside.test/secret: denied: inside.test resolves to 10.0.0.7, a private address",
		"http://169.254.169.254/latest":               "denied: 169.254.169.254 is a cloud metadata service",
		"http://a.test:6379/":                         "denied: a.test: port 6379 is not one of [80 443 8080 8443]",
		"http://nowhere.test/":                        "resolve nowhere.test: lookup nowhere.test: no such host",
		"http://a.test/to?u=https://www.a.test/admin": "denied: www.a.test resolves to 192.168.0.1, a private address",
	} {
		_, err := fetchURL(t, n, address)
		checkError(t, err, want)
	}
}
