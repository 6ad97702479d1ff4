package service_test

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/pawltest"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/runner/local"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
	"github.com/pawl-dev/pawl/internal/snapshot"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/tool"
)

func TestMain(m *testing.M) {
	// Starts the keeper of this process's commands, which lives as long as the process.
	if _, err := proc.Run(context.Background(), proc.Command{Args: []string{"true"}, Output: io.Discard}); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

// open wires a service as cmd/pawl does.
func open(t *testing.T) servicetest.Harness {
	t.Helper()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pawl.db"))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := tool.Builtin(tool.Config{Blobs: st, Jobs: tool.NewJobs(st, tool.Unboxed{})})
	if err != nil {
		t.Fatal(err)
	}
	events := bus.New(st, bus.Config{})
	models := &model.Opener{}
	authority := pawltest.NewAuthority(t)
	snapshots := openSnapshots(t)
	stepper := agent.NewStepper(agent.Config{Store: st, Bus: events, Model: models.Open, Tools: tools, Authority: authority, Snapshots: snapshots})
	runner := local.New(local.Config{Stepper: stepper})
	t.Cleanup(func() {
		runner.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	svc := service.New(service.Config{
		Store: st, Bus: events, Runner: runner, Plan: stepper.Plan, Adopt: snapshots.Adopt, Forget: snapshots.Forget,
		Check: func(_ context.Context, _ string, s pawl.Settings) error {
			if _, err := agent.Lookup(s.Agent); err != nil {
				return err
			}
			_, err := models.Open(s.Model)
			return err
		},
	})
	stepper.Service = svc
	return servicetest.Harness{Store: st, Service: svc, Authority: authority}
}

// openSnapshots returns a store of snapshots in a folder of its own.
func openSnapshots(t *testing.T) *snapshot.Store {
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

func TestContract_Service(t *testing.T) { servicetest.Run(t, open) }

// absent is a runner that cannot work.
type absent struct{}

func (absent) Start(context.Context, pawl.SessionID) error            { return pawl.ErrUnavailable }
func (absent) Wake(context.Context, pawl.SessionID) error             { return pawl.ErrUnavailable }
func (absent) Cancel(context.Context, pawl.SessionID, pawl.Seq) error { return pawl.ErrUnavailable }

// Accepted means appended, even when nobody can work on it: the caller is told both.
func TestSendWithoutARunner(t *testing.T) {
	st := open(t).Store
	noon := time.Date(2025, 1, 2, 12, 0, 0, 0, time.UTC)
	svc := service.New(service.Config{
		Store: st, Bus: bus.New(st, bus.Config{}), Runner: absent{},
		Check: func(context.Context, string, pawl.Settings) error { return nil },
		Clock: func() time.Time { return noon },
	})
	s, err := svc.Create(t.Context(), pawl.NewSession{Dir: "/project"})
	if err != nil {
		t.Fatal(err)
	}
	seq, err := svc.Send(t.Context(), s.ID, pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "go"}}})
	if seq != 2 || pawl.CodeOf(err) != pawl.CodeUnavailable {
		t.Errorf("got %d, %v", seq, err)
	}
	row, err := svc.Get(t.Context(), s.ID)
	if err != nil || row.State() != pawl.StateQueued || !row.Updated.Equal(noon) {
		t.Errorf("got %+v, %v", row, err)
	}
}
