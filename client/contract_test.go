package client_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/app/management"
	configcmd "github.com/pawl-dev/pawl/internal/cli/config"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

func TestMain(m *testing.M) {
	// Starts the helper process for commands, which lives as long as this process.
	if _, err := proc.Run(context.Background(), proc.Command{Args: []string{"true"}, Output: io.Discard}); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

// TestContract_HTTP checks that a service behind HTTP meets the contract of every
// service, and that all messages match the published document.
func TestContract_HTTP(t *testing.T) { //nolint:paralleltest // it sets environment variables
	p := newProof(t)
	servicetest.Run(t, func(t *testing.T) servicetest.Harness {
		h := servicetest.Local(t)
		c, err := client.New(client.Config{URL: "http://pawl", HTTP: serve(t, h.Service, p)})
		if err != nil {
			t.Fatal(err)
		}
		h.Service = c
		return h
	})
	t.Run("what the client does not ask for", func(t *testing.T) { askOthers(t, p) })
	t.Run("missions", func(t *testing.T) { controlMission(t, p) })
	p.report(t)
}

// serve serves a service over HTTP on a socket and returns an HTTP client for it
// whose traffic the proof checks.
func serve(t *testing.T, svc pawl.Service, p *proof, change ...func(*httpapi.Config)) *http.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pawl.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c := httpapi.Config{
		Service:  func(api.Principal) pawl.Service { return svc },
		Auth:     func(*http.Request) (api.Principal, error) { return api.Principal{Scope: api.ScopeAdmin}, nil },
		Missions: mission.Operations{}, Manage: &management.Manager{Usable: configcmd.Usable},
	}
	for _, f := range change {
		f(&c)
	}
	s := httpapi.New(c)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	way := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(func() {
		way.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &http.Client{Transport: along{p, way}}
}
