package httpapi

import (
	"mime"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// ServeHTTP handles a request: first the checks that apply to every client.
func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	start := time.Now()
	w := &response{ResponseWriter: rw, id: ulid.Make().String(), timeout: s.WriteTimeout}
	h := w.Header()
	h.Set("X-Request-Id", w.id)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if r.ContentLength != 0 {
		setReadTimeout(w, s.BodyTimeout) // also if no handler reads the body: net/http does, before it sends the response
	}
	pattern := s.pattern(r)
	defer func() { s.logRequest(r, w, pattern, time.Since(start)) }() // also if the response is aborted
	switch err := s.checkOrigin(r); {
	case err != nil:
		s.writeError(w, r, err)
	case pattern == "":
		s.writeError(w, r, fault.New(pawl.ErrNotFound, "no route for %s %s: see /v1/openapi.json", r.Method, r.URL.Path))
	default:
		s.mux.ServeHTTP(w, r)
	}
}

// pattern returns the mux pattern that matches a request, or "". Paths that are not in
// canonical form do not match, because the mux would redirect them; neither does HEAD,
// which would open a stream that nobody reads.
func (s *Server) pattern(r *http.Request) string {
	_, pattern := s.mux.Handler(r)
	_, known := s.routes[pattern]
	if written := r.URL.EscapedPath(); path.Clean(written) != written || known && r.Method == http.MethodHead {
		return ""
	}
	return pattern
}

// logRequest logs a request and reports it to Observe.
func (s *Server) logRequest(r *http.Request, w *response, pattern string, took time.Duration) {
	if s.Observe != nil && w.status != 0 {
		s.Observe(s.routes[pattern].Name, w.status, took)
	}
	s.Log.Info("request", "id", w.id, "method", r.Method, "route", pattern, "status", w.status, "ms", float64(took.Microseconds())/1000)
}

// checkOrigin rejects requests with a Host that is not one of the server, which DNS
// rebinding attacks send, and cross-origin requests of web pages.
func (s *Server) checkOrigin(r *http.Request) error {
	if s.Hosts != nil && !slices.ContainsFunc(s.Hosts, func(name string) bool { return sameHost(name, r.Host) }) {
		return fault.New(pawl.ErrDenied, "the host name in the request is not allowed")
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && !slices.Contains(s.Origins, origins[0]) {
		return fault.New(pawl.ErrDenied, "the origin of the request is not allowed")
	}
	if site := r.Header.Get("Sec-Fetch-Site"); len(origins) == 0 && site != "" && site != "same-origin" && site != "none" {
		return fault.New(pawl.ErrDenied, "cross-site requests are not allowed")
	}
	return nil
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

// checkBody rejects a body of another content type than the route takes. A web page
// can send forms and plain text to any site, but not JSON.
func checkBody(route api.Route, r *http.Request) error {
	if route.InForm == api.FormNone {
		if r.ContentLength != 0 {
			return fault.New(pawl.ErrInvalid, "%s does not accept a body", route.Name)
		}
		return nil
	}
	kinds := r.Header.Values("Content-Type")
	if len(kinds) != 1 {
		return fault.New(pawl.ErrInvalid, "the content type must be %s", route.InForm)
	}
	kind, params, err := mime.ParseMediaType(kinds[0])
	charset := strings.ToLower(params["charset"])
	if err != nil || kind != string(route.InForm) || charset != "" && charset != "utf-8" {
		return fault.New(pawl.ErrInvalid, "the content type must be %s", route.InForm)
	}
	if r.Header.Get("Content-Encoding") != "" {
		return fault.New(pawl.ErrInvalid, "Content-Encoding is not supported")
	}
	return nil
}
