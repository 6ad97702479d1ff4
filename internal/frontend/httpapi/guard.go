package httpapi

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/pawl-dev/pawl/internal/weak"
)

// connKey is where the context of a request has its connection.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// Conn returns the connection of a request, for who wants to know whose it is.
func Conn(r *http.Request) net.Conn {
	c, _ := r.Context().Value(connKey{}).(net.Conn)
	return c
}

// response is a reply that knows its status, and bounds how long a client may
// take to read it.
type response struct {
	http.ResponseWriter
	id       string // of the request
	status   int
	patience time.Duration
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.wait()
	w.ResponseWriter.WriteHeader(status)
}

// piece is how much of a reply is waited for at once: a client that is slow and
// reads is not cut off, however much there is to read.
const piece = 64 << 10

func (w *response) Write(p []byte) (n int, err error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	for err == nil && n < len(p) {
		w.wait()
		var m int
		m, err = w.ResponseWriter.Write(p[n:min(n+piece, len(p))])
		n += m
	}
	return n, err
}

// wait bounds what is written next, also of a reply that has a head only: a
// client may send one request after another and read nothing.
func (w *response) wait() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.patience)) // one that cannot be bounded has ended
}

// Unwrap lets http.ResponseController at what is below.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ServeHTTP answers a request: first what holds for all of them, whoever asks.
func (s *Server) ServeHTTP(plain http.ResponseWriter, r *http.Request) {
	began := time.Now()
	w := &response{ResponseWriter: plain, id: ulid.Make().String(), patience: s.Patience}
	h := w.Header()
	h.Set("X-Request-Id", w.id)
	h.Set("Cache-Control", "no-store")
	if !weak.On("server.headers") {
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	}
	if r.ContentLength != 0 {
		within(w, s.BodyTime) // also where nobody reads it: net/http does, before it sends the reply
	}
	pattern := s.pattern(r)
	defer func() { s.note(r, w, pattern, time.Since(began)) }() // also of a reply that is broken off
	switch err := s.admit(r); {
	case err != nil:
		s.fail(w, r, err)
	case pattern == "":
		s.fail(w, r, fmt.Errorf("there is no %s %s: see /v1/openapi.json: %w", r.Method, r.URL.Path, pawl.ErrNotFound))
	default:
		s.mux.ServeHTTP(w, r)
	}
}

// pattern is what the mux answers a request by, "" if it does not. A path that is
// not written as it should be is none: the mux would send a page that leads to
// the right one. Nor is HEAD, by which a stream would be opened that nobody reads.
func (s *Server) pattern(r *http.Request) string {
	_, pattern := s.mux.Handler(r)
	_, known := s.routes[pattern]
	if written := r.URL.EscapedPath(); path.Clean(written) != written || known && r.Method == http.MethodHead {
		return ""
	}
	return pattern
}

// note tells those who want to know of a request.
func (s *Server) note(r *http.Request, w *response, pattern string, took time.Duration) {
	if s.Observe != nil && w.status != 0 {
		s.Observe(s.routes[pattern].Name, w.status, took)
	}
	s.Log.Info("request", "id", w.id, "method", r.Method, "route", pattern, "status", w.status, "ms", float64(took.Microseconds())/1000)
}

// admit refuses what no honest client sends: a request by a name that is not this
// server's, which is how a page on the web reaches a server on this machine, and
// one that a page sent.
func (s *Server) admit(r *http.Request) error {
	if s.Hosts != nil && !slices.ContainsFunc(s.Hosts, func(name string) bool { return sameHost(name, r.Host) }) && !weak.On("server.host") {
		return fmt.Errorf("the server is not called by this name: --host adds one: %w", pawl.ErrDenied)
	}
	if weak.On("server.origin") {
		return nil
	}
	origins := r.Header.Values("Origin")
	if len(origins) > 1 || len(origins) == 1 && !slices.Contains(s.Origins, origins[0]) {
		return fmt.Errorf("pages of this origin may not ask: --origin lists those that may: %w", pawl.ErrDenied)
	}
	if site := r.Header.Get("Sec-Fetch-Site"); len(origins) == 0 && site != "" && site != "same-origin" && site != "none" {
		return fmt.Errorf("pages of other sites may not ask: %w", pawl.ErrDenied)
	}
	return nil
}

// sameHost compares a name with what a request has for one. A name without a port
// holds for any.
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

// who says who asks, if they may do what needs the scope.
func (s *Server) who(r *http.Request, needed api.Scope) (api.Principal, error) {
	p, err := s.Auth(r)
	switch {
	case errors.Is(err, api.ErrLimited), errors.Is(err, pawl.ErrUnavailable), errors.Is(err, pawl.ErrDenied):
		return p, err
	case err != nil && !weak.On("server.token"):
		return p, fmt.Errorf("a token is needed that this server knows: %w", api.ErrUnauthorized)
	case err != nil:
		return api.Principal{Scope: api.ScopeAdmin}, nil
	case !p.Scope.Covers(needed):
		return p, fmt.Errorf("the token may not do this: it needs the scope %q: %w", needed, pawl.ErrDenied)
	}
	return p, nil
}

// guarded lets those through who have the scope.
func (s *Server) guarded(scope api.Scope, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := s.who(r, scope); err != nil {
			s.fail(w.(*response), r, err) //nolint:forcetypeassert // ServeHTTP makes it one
			return
		}
		next.ServeHTTP(w, r)
	})
}

// checkBody refuses a body that is not what the route takes. A page can send a
// form or plain text to anywhere, but JSON only to where it may.
func checkBody(route api.Route, r *http.Request) error {
	if route.InForm == api.FormNone {
		if r.ContentLength != 0 {
			return fmt.Errorf("%s takes no body: %w", route.Name, pawl.ErrInvalid)
		}
		return nil
	}
	kinds := r.Header.Values("Content-Type")
	if len(kinds) != 1 {
		return fmt.Errorf("send it as %s: %w", route.InForm, pawl.ErrInvalid)
	}
	kind, params, err := mime.ParseMediaType(kinds[0])
	charset := strings.ToLower(params["charset"])
	if (err != nil || kind != string(route.InForm) || charset != "" && charset != "utf-8") && !weak.On("server.content") {
		return fmt.Errorf("send it as %s: %w", route.InForm, pawl.ErrInvalid)
	}
	if r.Header.Get("Content-Encoding") != "" {
		return fmt.Errorf("send it without Content-Encoding: %w", pawl.ErrInvalid)
	}
	return nil
}
