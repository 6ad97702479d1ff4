// Package httpapi is the HTTP front end: pawl.Service as the routes of package
// api, for whoever the guard lets in.
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
)

// Config is what a Server needs. What is not said is refused: without Auth nobody
// is let in.
type Config struct {
	Service  func(api.Principal) pawl.Service                   // what one may see and do
	Auth     func(r *http.Request) (api.Principal, error)       // who asks; an error that is neither api.ErrLimited, ErrUnavailable nor ErrDenied means nobody
	Hosts    []string                                           // the names it may be asked by, with or without a port; nil means any, which is for a socket that no browser reaches
	Origins  []string                                           // pages that may ask; none means no page
	Allow    func(p api.Principal, dir string) error            // whether one may work in a directory; nil means any
	Far      bool                                               // the directories are on other machines: Allow knows all that there is to know of one here
	Home     func(p api.Principal, name string) (string, error) // the directory of a workspace, by its name; nil means that sessions must name their directory
	Mode     func() (string, error)                             // the mode of prompts that name none; nil means that it asks
	Ready    func(ctx context.Context) error                    // whether work can be done; nil means yes
	Metrics  http.Handler                                       // nil means none
	Observe  func(route string, status int, d time.Duration)    // told of each request; nil means nobody
	Log      *slog.Logger                                       // nil means none
	Streams  int                                                // that may be open at once; 0 means 4096
	Beat     time.Duration                                      // between two signs of life on a stream; 0 means 15 s
	Patience time.Duration                                      // with a client that does not read; 0 means 10 s

	HeaderTime time.Duration // for a request's head to come; 0 means 5 s
	BodyTime   time.Duration // for its body, but for that of an import; 0 means a minute
}

// The bounds of connections.
const (
	defaultHead    = 5 * time.Second
	defaultBody    = time.Minute
	importTime     = 10 * time.Minute
	idleTime       = 2 * time.Minute
	maxHeader      = 16 << 10
	defaultBeat    = 15 * time.Second
	defaultWait    = 10 * time.Second
	defaultStreams = 4096
)

// Server answers requests.
type Server struct {
	Config
	mux      *http.ServeMux
	routes   map[string]api.Route // by the mux's pattern
	http     *http.Server
	streams  atomic.Int64
	watchers watchers
	texts    encoded
	draining atomic.Bool
	closing  chan struct{}
	closed   sync.Once
}

// New returns a server.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Streams = cmp.Or(c.Streams, defaultStreams)
	c.Beat, c.Patience = cmp.Or(c.Beat, defaultBeat), cmp.Or(c.Patience, defaultWait)
	c.HeaderTime, c.BodyTime = cmp.Or(c.HeaderTime, defaultHead), cmp.Or(c.BodyTime, defaultBody)
	if c.Auth == nil {
		c.Auth = func(*http.Request) (api.Principal, error) { return api.Principal{}, api.ErrUnauthorized }
	}
	s := &Server{Config: c, mux: http.NewServeMux(), routes: map[string]api.Route{}, closing: make(chan struct{})}
	for _, r := range api.Routes {
		do, ok := handlers[r.Name]
		if !ok {
			panic("server: the route " + r.Name + " has no handler")
		}
		pattern := r.Method + " " + r.Path
		s.routes[pattern] = r
		s.mux.Handle(pattern, s.serve(r, do))
	}
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	s.mux.HandleFunc("GET /readyz", s.ready)
	if c.Metrics != nil {
		s.mux.Handle("GET /metrics", s.guarded(api.ScopeRead, c.Metrics))
	}
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: c.HeaderTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		DisableGeneralOptionsHandler: true, // OPTIONS * is a request like others

		ErrorLog:    slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug),
		ConnContext: withConn,
	}
	return s
}

// Serve answers what comes by a listener, until Close. It may be called for more
// than one.
func (s *Server) Serve(l net.Listener) error {
	err := s.http.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// OpenStreams is how many streams of events there are.
func (s *Server) OpenStreams() int64 { return s.streams.Load() }

// Drain has the server take no new work. What is under way is answered, and
// those who watch go on watching.
func (s *Server) Drain() { s.draining.Store(true) }

// Close ends the streams, lets other requests finish within the context's time,
// and stops listening.
func (s *Server) Close(ctx context.Context) error {
	s.Drain()
	s.closed.Do(func() { close(s.closing) })
	err := s.http.Shutdown(ctx)
	if err != nil {
		return errors.Join(fmt.Errorf("some requests were cut off: %w", err), s.http.Close())
	}
	return nil
}

func (s *Server) ready(plain http.ResponseWriter, r *http.Request) {
	w := plain.(*response) //nolint:forcetypeassert // ServeHTTP makes it one
	var err error
	if s.Ready != nil {
		err = s.Ready(r.Context())
	}
	switch {
	case s.draining.Load():
		s.fail(w, r, errDraining)
	case err != nil:
		s.Log.Error("not ready", "id", w.id, "error", err)
		s.fail(w, r, fmt.Errorf("not ready: the server's log says why, by the request id: %w", pawl.ErrUnavailable))
	default:
		_, _ = w.Write([]byte("ok\n"))
	}
}

var errDraining = fmt.Errorf("the server is about to end and takes no new work: %w", pawl.ErrUnavailable)
