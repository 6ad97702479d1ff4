// Package httpapi is the HTTP front end: it serves pawl.Service as the routes of
// package api, with authentication, origin checks and event streams.
package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/manage"
)

// Config configures a Server. Defaults are closed: without Auth every request is
// rejected.
type Config struct {
	Service      func(api.Principal) pawl.Service                   // the service as the principal may use it: it decides what they may have done
	Auth         func(r *http.Request) (api.Principal, error)       // authenticates a request; an error other than api.ErrLimited, ErrUnavailable and ErrDenied means unauthorized
	Missions     api.Missions                                       // what people do with missions; nil means that they cannot
	Manage       manage.Service                                     // the configuration of the user who runs the server; nil means that it cannot be managed
	Devices      Devices                                            // browsers that are signed in; nil means none
	Hosts        []string                                           // allowed values of the Host header, with or without a port; nil means any, for a socket that no browser can reach
	URL          string                                             // the server's own origin as browsers know it, if a proxy is in front, e.g. https://pawl.example.com
	Origins      []string                                           // origins of other web sites that may send requests; none means only the server's own pages
	Allow        func(p api.Principal, dir string) error            // whether the principal may use a directory; nil means any
	RemoteDirs   bool                                               // directories are on other hosts, so they are not looked up here: Allow decides alone
	WorkspaceDir func(p api.Principal, name string) (string, error) // directory of a named workspace; nil means that new sessions must name a directory
	Version      string                                             // of the program
	Ready        func(ctx context.Context) error                    // whether the server can do work; nil means yes
	Metrics      http.Handler                                       // nil means no /metrics
	Observe      func(route string, status int, d time.Duration)    // called for each request; nil means not
	Log          *slog.Logger                                       // nil means none
	Bodies       int64                                              // maximum of bytes in the bodies of a token's requests in progress; 0 means 64 MiB
	AllBodies    int64                                              // the same for all tokens together; 0 means 256 MiB
	Streams      int                                                // maximum of open event streams; 0 means 4096
	Heartbeat    time.Duration                                      // interval of keep-alive comments on a stream; 0 means 15 s
	FeedInterval time.Duration                                      // how often the feed looks for changes; 0 means 300 ms
	WriteTimeout time.Duration                                      // for a client that does not read; 0 means 10 s

	HeaderTimeout time.Duration // for a request's headers; 0 means 5 s
	BodyTimeout   time.Duration // for its body, except imports; 0 means a minute
}

// Defaults and limits of connections.
const (
	defaultHeaderTimeout = 5 * time.Second
	defaultBodyTimeout   = time.Minute
	importTimeout        = 10 * time.Minute
	idleTimeout          = 2 * time.Minute
	maxConnStreams       = 250 // requests in progress on an HTTP/2 connection
	maxHeader            = 16 << 10
	defaultHeartbeat     = 15 * time.Second
	defaultFeedInterval  = 300 * time.Millisecond
	defaultWriteTimeout  = 10 * time.Second
	defaultStreams       = 4096
	defaultBodies        = 64 << 20
	defaultAllBodies     = 256 << 20
)

// Server serves the HTTP API.
type Server struct {
	Config
	mux          *http.ServeMux
	routes       map[string]api.Route // by mux pattern
	http         *http.Server
	compressed   http.Handler // respond, with compression
	streams      atomic.Int64
	streamCounts streamCounts
	presence     presence
	feeds        feeds
	bodyCounts   bodyCounts
	eventCache   eventCache
	draining     atomic.Bool
	closing      chan struct{}
	closed       sync.Once
}

// New returns a server.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Streams, c.FeedInterval = cmp.Or(c.Streams, defaultStreams), cmp.Or(c.FeedInterval, defaultFeedInterval)
	c.Heartbeat, c.WriteTimeout = cmp.Or(c.Heartbeat, defaultHeartbeat), cmp.Or(c.WriteTimeout, defaultWriteTimeout)
	c.HeaderTimeout, c.BodyTimeout = cmp.Or(c.HeaderTimeout, defaultHeaderTimeout), cmp.Or(c.BodyTimeout, defaultBodyTimeout)
	if c.Auth == nil {
		c.Auth = func(*http.Request) (api.Principal, error) { return api.Principal{}, api.ErrUnauthorized }
	}
	c.Bodies, c.AllBodies = cmp.Or(c.Bodies, defaultBodies), cmp.Or(c.AllBodies, defaultAllBodies)
	s := &Server{Config: c, bodyCounts: bodyCounts{perToken: c.Bodies, total: c.AllBodies}, mux: http.NewServeMux(), routes: map[string]api.Route{}, closing: make(chan struct{})}
	for _, r := range api.Routes {
		do, ok := c.handler(r.Name)
		if !ok {
			panic("httpapi: no handler for the route " + r.Name)
		}
		pattern := r.Method + " " + r.Path
		s.routes[pattern] = r
		s.mux.Handle(pattern, s.serve(r, do))
	}
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	s.mux.HandleFunc("GET /readyz", s.ready)
	if c.Metrics != nil {
		s.mux.Handle("GET /metrics", s.requireScope(api.ScopeRead, c.Metrics))
	}
	s.servePages()
	s.compressed = compress(http.HandlerFunc(s.respond))
	s.http = &http.Server{
		Protocols: protocols(), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxConnStreams, WriteByteTimeout: c.WriteTimeout},
		Handler: s, ReadHeaderTimeout: c.HeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		DisableGeneralOptionsHandler: true, // OPTIONS * gets the same checks as other requests

		ErrorLog:    slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug),
		ConnContext: withConn,
	}
	return s
}

// handler returns the handler of a route.
func (c Config) handler(name string) (handlerFunc, bool) {
	if do, ok := missionHandlers[name]; ok {
		return orUnavailable(do, c.Missions != nil), true
	}
	if do, ok := manageHandlers[name]; ok {
		return forOperator(orUnavailable(do, c.Manage != nil)), true
	}
	do, ok := handlers[name]
	return do, ok
}

// orUnavailable returns a handler, or one that says that the server does not have what it needs.
func orUnavailable(do handlerFunc, available bool) handlerFunc {
	if available {
		return do
	}
	return func(*response, *request) (any, error) {
		return nil, fault.New(pawl.ErrUnavailable, "this server does not support the request")
	}
}

// protocols returns HTTP/1.1 and, with TLS, HTTP/2.
func protocols() *http.Protocols {
	var p http.Protocols
	p.SetHTTP1(true)
	p.SetHTTP2(true)
	return &p
}

// Serve serves a listener until Close. It may be called for several listeners.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// OpenStreams returns the number of open event streams.
func (s *Server) OpenStreams() int64 { return s.streams.Load() }

// Drain makes the server reject new work. Running requests and streams continue.
func (s *Server) Drain() { s.draining.Store(true) }

// Close ends the streams, waits for other requests until ctx ends, and stops
// listening.
func (s *Server) Close(ctx context.Context) error {
	s.Drain()
	s.closed.Do(func() { close(s.closing) })
	err := s.http.Shutdown(ctx)
	s.feeds.tasks.Wait()
	if err != nil {
		return errors.Join(fmt.Errorf("some requests were interrupted: %w", err), s.http.Close())
	}
	return nil
}

func (s *Server) ready(rw http.ResponseWriter, r *http.Request) {
	w := rw.(*response) //nolint:forcetypeassert // ServeHTTP makes it one
	var err error
	if s.Ready != nil {
		err = s.Ready(r.Context())
	}
	switch {
	case s.draining.Load():
		s.writeError(w, r, errDraining)
	case err != nil:
		s.Log.Error("not ready", "id", w.id, "error", err)
		s.writeError(w, r, fault.New(pawl.ErrUnavailable, "not ready: see the server's log for this request ID"))
	default:
		_, _ = w.Write([]byte("ok\n"))
	}
}

var errDraining = fault.New(pawl.ErrUnavailable, "the server is shutting down")
