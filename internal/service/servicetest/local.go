package servicetest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/provider"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/local"
	"github.com/pawl-dev/pawl/internal/service/project"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/workspace/snapshot"
)

// Local wires a service as internal/app does, on a new SQLite store.
func Local(t testing.TB) Harness {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pawl.db"))
	if err != nil {
		t.Fatal(err)
	}
	return On(t, st)
}

// On wires a service on a store, which is closed when the test ends.
func On(t testing.TB, st store.Store) Harness {
	t.Helper()
	return By(t, st, func(s *agent.Stepper) (service.Runner, func()) {
		r := local.New(local.Config{Stepper: s})
		return r, r.Close
	})
}

// TestModel before the path of a script names a model that, unlike script:, users of
// any scope may use.
const TestModel = "test:"

// By is On with the runner that run returns, which may change the stepper.
func By(t testing.TB, st store.Store, run func(*agent.Stepper) (r service.Runner, stop func())) Harness {
	t.Helper()
	tools, err := tool.Builtin(tool.Config{Blobs: st, Jobs: tool.NewJobs(st, tool.Unsandboxed{})})
	if err != nil {
		t.Fatal(err)
	}
	events := bus.New(st, bus.Config{})
	models := &provider.Opener{}
	open := func(ref string) (model.Model, error) {
		if path, ok := strings.CutPrefix(ref, TestModel); ok {
			ref = "script:" + path
		}
		return models.Open(ref)
	}
	authority := harness.NewAuthority(t)
	snapshots := Snapshots(t)
	stepper := agent.NewStepper(agent.Config{Store: st, Bus: events, Model: open, Tools: tools, Authority: authority, Snapshots: snapshots})
	runner, stop := run(stepper)
	t.Cleanup(func() {
		stop()
		record(t, st)
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	projects := Projects(t, st)
	projects.Sessions = project.Sessions{Policy: projects.Safety.Policy, Changes: stepper.Changes, Snapshots: snapshots}
	svc := service.New(service.Config{
		Store: st, Bus: events, Runner: runner, PlanUndo: stepper.PlanUndo, CopySnapshots: snapshots.Adopt, DeleteSnapshots: snapshots.Forget, Projects: projects,
		Check: func(_ context.Context, _ string, s pawl.Settings) error {
			if _, err := agent.Lookup(s.Agent); err != nil {
				return err
			}
			_, err := open(s.Model)
			return err
		},
	})
	stepper.Service = svc
	return Harness{Store: st, Service: svc, Authority: authority}
}

// Snapshots returns a store of snapshots in a directory of its own.
func Snapshots(t testing.TB) *snapshot.Store {
	t.Helper()
	g, err := git.Find(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Open(snapshot.Config{Dir: filepath.Join(t.TempDir(), "snapshots"), Git: g})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
