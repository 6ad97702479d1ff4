package client_test

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
	"github.com/pawl-dev/pawl/internal/model/provider"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/local"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/tool"
)

// example is a server for an example.
type example struct {
	url   string
	dir   string // a workspace
	model string // follows the script
	stop  func()
}

// startExample starts a real server whose model gives these replies.
func startExample(replies ...string) example {
	root := try(os.MkdirTemp("", "pawl-example-"))
	script := filepath.Join(root, "script.jsonl")
	must(os.WriteFile(script, []byte(strings.Join(replies, "\n")), 0o600))
	dir := filepath.Join(root, "work")
	must(os.Mkdir(dir, 0o700))

	svc, end := exampleService(root)
	socket := filepath.Join(root, "pawl.sock")
	l := try(net.Listen("unix", socket))
	s := httpapi.New(httpapi.Config{
		Service: func(api.Principal) pawl.Service { return svc },
		Auth:    func(*http.Request) (api.Principal, error) { return api.Principal{Scope: api.ScopeAdmin}, nil },
	})
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	return example{
		url: "unix://" + socket, dir: dir, model: "script:" + script,
		stop: func() {
			must(errors.Join(s.Close(context.Background()), <-done))
			end()
			must(os.RemoveAll(root))
		},
	}
}

// exampleService wires a service as internal/app does.
func exampleService(root string) (svc pawl.Service, end func()) {
	st := try(sqlite.Open(context.Background(), filepath.Join(root, "pawl.db")))
	events := bus.New(st, bus.Config{})
	stepper := agent.NewStepper(agent.Config{
		Store: st, Bus: events, Model: (&provider.Opener{}).Open,
		Tools:     try(tool.Builtin(tool.Config{Blobs: st, Jobs: tool.NewJobs(st, tool.Unsandboxed{})})),
		Authority: &harness.Authority{Grants: permission.Store{Path: filepath.Join(root, "grants.json")}},
	})
	runner := local.New(local.Config{Stepper: stepper})
	stepper.Service = service.New(service.Config{
		Store: st, Bus: events, Runner: runner, PlanUndo: stepper.PlanUndo,
		Check: func(context.Context, string, pawl.Settings) error { return nil },
	})
	return stepper.Service, func() {
		runner.Close()
		must(st.Close())
	}
}

func try[T any](v T, err error) T {
	must(err)
	return v
}

func must(err error) {
	if err != nil {
		log.Panic(err)
	}
}
