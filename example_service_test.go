package pawl_test

import (
	"context"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/model/provider"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/local"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/tool"
)

// closableService is the service of an example.
type closableService struct {
	pawl.Service
	Close func()
}

// exampleService returns a service, a working directory, and a model that gives these
// replies. It panics on errors, because examples have no testing.T.
func exampleService(replies ...string) (svc closableService, dir, model string) {
	root := try(os.MkdirTemp("", "pawl-example-"))
	script := filepath.Join(root, "script.jsonl")
	must(os.WriteFile(script, []byte(strings.Join(replies, "\n")), 0o600))
	dir = filepath.Join(root, "work")
	must(os.Mkdir(dir, 0o700))

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
	svc = closableService{stepper.Service, func() {
		runner.Close()
		must(st.Close())
		must(os.RemoveAll(root))
	}}
	return svc, dir, "script:" + script
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
