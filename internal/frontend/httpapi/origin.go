package httpapi

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// source is what sent a request, as far as its headers tell.
type source int

const (
	fromUnknown    source = iota // a program, or a browser that does not say
	fromOwnPage                  // a page of the server's own origin
	fromListedPage               // a page of another origin that Config.Origins lists
)

// checkSource rejects requests with a Host that is not one of the server, which DNS
// rebinding attacks send, and those of other web sites.
func (s *Server) checkSource(r *http.Request) (source, error) {
	if s.Hosts != nil && !slices.ContainsFunc(s.Hosts, func(name string) bool { return sameHost(name, r.Host) }) {
		return fromUnknown, fault.New(pawl.ErrDenied, "the host name in the request is not allowed")
	}
	origins, site := r.Header.Values("Origin"), r.Header.Get("Sec-Fetch-Site")
	switch {
	case len(origins) == 1 && slices.Contains(s.Origins, origins[0]):
		return fromListedPage, nil
	case len(origins) == 1 && s.ownOrigin(r, origins[0]) && (site == "" || site == "same-origin"):
		return fromOwnPage, nil
	case len(origins) > 0:
		return fromUnknown, fault.New(pawl.ErrDenied, "the origin of the request is not allowed")
	case site == "same-origin":
		return fromOwnPage, nil
	case site != "" && site != "none" && !opensPage(r):
		return fromUnknown, fault.New(pawl.ErrDenied, "cross-site requests are not allowed")
	}
	return fromUnknown, nil
}

// opensPage reports whether a person opens the sign-in page with a link of another site. The
// page changes nothing, and shows nothing of the server's data to that site.
func opensPage(r *http.Request) bool {
	return r.URL.Path == signInPath && (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// base returns the server's own origin: Config.URL, or the address that the request was
// sent to.
func (s *Server) base(r *http.Request) string {
	switch {
	case s.URL != "":
		return s.URL
	case r.TLS != nil:
		return "https://" + strings.ToLower(r.Host)
	}
	return "http://" + strings.ToLower(r.Host)
}

// ownOrigin reports whether an origin is the server's own: that of Config.URL, or of the
// address that the request was sent to. A socket has none, because no browser can reach it.
func (s *Server) ownOrigin(r *http.Request, origin string) bool {
	if s.Hosts == nil {
		return false
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return origin == scheme+strings.ToLower(r.Host) || s.URL != "" && origin == s.URL
}

// sameHost compares an allowed name with the Host of a request. A name without a port
// matches any port.
func sameHost(name, asked string) bool {
	if strings.EqualFold(name, asked) {
		return true
	}
	host, _, err := net.SplitHostPort(asked)
	if err != nil {
		return false
	}
	return strings.EqualFold(strings.Trim(name, "[]"), host)
}

// setCORS lets pages of a listed origin read the response. It never allows credentials:
// such a page sends a token of its own.
func (s *Server) setCORS(h http.Header, r *http.Request, from source) {
	if len(s.Origins) > 0 {
		h.Add("Vary", "Origin")
	}
	if from == fromListedPage {
		h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		h.Set("Access-Control-Expose-Headers", "Retry-After, X-Request-Id")
	}
}

// isPreflight reports whether a browser asks if a page may send a request.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

// writePreflight allows what the routes take. Each request is checked on its own.
func writePreflight(w *response) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}
