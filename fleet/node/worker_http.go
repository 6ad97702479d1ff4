package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/gateway"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/fault"
)

// serveGateway answers the model requests of hosts that have no API keys.
func (w *worker) serveGateway(models app.Models) error {
	if w.GatewayListen == "" {
		return nil
	}
	if w.connections.GatewayToken == "" {
		return fault.New(pawl.ErrInvalid, "--gateway-listen needs a token").Hint("Set PAWL_GATEWAY_TOKEN.")
	}
	l, err := net.Listen("tcp", w.GatewayListen)
	if err != nil {
		return err
	}
	s := gateway.Server(w.observed(gateway.Handler(gateway.Config{
		Open: models.Open, Window: models.Window, Small: models.Small, Sibling: models.Sibling, Models: w.app.Projects.Models,
		Token: w.connections.GatewayToken, Redact: app.Secrets.Redact,
	})))
	w.serve(s, l)
	return nil
}

// serveHealth answers /healthz, /readyz and /metrics.
func (w *worker) serveHealth() error {
	if w.HealthListen == "" {
		return nil
	}
	l, err := net.Listen("tcp", w.HealthListen)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintln(rw, "ok") })
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, r *http.Request) {
		if err := w.checkReady(r.Context()); err != nil {
			http.Error(rw, app.Secrets.Redact(err.Error()), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(rw, "ok")
	})
	mux.Handle("GET /metrics", w.app.Telemetry.Handler())
	w.registerMetrics()
	w.serve(&http.Server{Handler: mux, ReadHeaderTimeout: closeTime}, l)
	return nil
}

// checkReady returns nil if the worker accepts work and reaches the store and
// Temporal.
func (w *worker) checkReady(ctx context.Context) error {
	if !w.ready.Load() {
		return errors.New("starting")
	}
	if w.workspaces.Draining() {
		return errors.New("draining")
	}
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	_, hosts := w.workspaces.Registry.Hosts(ctx)
	_, engine := w.connections.Engine.CheckHealth(ctx, nil)
	return errors.Join(hosts, engine)
}

// serve serves on l until the worker closes. An error ends the worker.
func (w *worker) serve(s *http.Server, l net.Listener) {
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			w.failed <- err
		}
	}()
	w.onClose(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if s.Shutdown(ctx) != nil {
			_ = s.Close()
		}
	})
}

// gatewayRoutes are the paths that have a label of their own in the metrics.
var gatewayRoutes = []string{"/v1/stream", "/v1/check", "/v1/window", "/v1/small", "/v1/sibling", "/v1/models"}

// observed counts the requests to the gateway. A failed model request has status
// 200 here: the host that made it counts the failure.
func (w *worker) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		began, s := time.Now(), &statusWriter{ResponseWriter: rw, status: http.StatusOK}
		defer func() {
			route := ""
			if slices.Contains(gatewayRoutes, r.URL.Path) {
				route = "gateway " + r.URL.Path
			}
			w.app.Telemetry.Request(route, s.status, time.Since(began))
		}()
		next.ServeHTTP(s, r)
	})
}

// statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
