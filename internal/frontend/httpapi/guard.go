package httpapi

import (
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// ServeHTTP handles a request. Responses are compressed, except for event streams and
// secrets: see compress.go.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.compresses(r) {
		s.compressed.ServeHTTP(w, r)
		return
	}
	s.respond(w, r)
}

// respond handles a request: first the checks that apply to every client.
func (s *Server) respond(rw http.ResponseWriter, r *http.Request) {
	start := time.Now()
	w := &response{ResponseWriter: rw, id: ulid.Make().String(), timeout: s.WriteTimeout, head: r.Method == http.MethodHead}
	w.Header().Set("X-Request-Id", w.id)
	w.Header().Set("Cache-Control", "no-store")
	setSecurityHeaders(w.Header())
	if r.ContentLength != 0 {
		setReadTimeout(w, s.BodyTimeout) // also if no handler reads the body: net/http does, before it sends the response
	}
	pattern := s.pattern(r)
	defer func() { s.logRequest(r, w, pattern, time.Since(start)) }() // also if the response is aborted
	from, err := s.checkSource(r)
	s.setCORS(w.Header(), r, from)
	switch {
	case err != nil:
		s.writeError(w, r, err)
	case from == fromListedPage && isPreflight(r):
		writePreflight(w)
	case pattern == "":
		s.writeError(w, r, fault.New(pawl.ErrNotFound, "no route for %s %s: see /v1/openapi.json", r.Method, r.URL.Path))
	default:
		s.mux.ServeHTTP(w, r)
	}
}

// setSecurityHeaders sets the headers of every response: no browser may show it as a
// page, guess its type, frame it, or load it into a page of another origin.
func setSecurityHeaders(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
}

// pattern returns the mux pattern that matches a request, or "". Paths that are not in
// canonical form do not match, because the mux would redirect them.
func (s *Server) pattern(r *http.Request) string {
	_, pattern := s.mux.Handler(r)
	if written := r.URL.EscapedPath(); path.Clean(written) != written {
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
