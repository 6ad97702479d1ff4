package service_test

import (
	"context"
	"io"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/proc"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

func TestMain(m *testing.M) {
	// Starts the keeper of this process's commands, which lives as long as the process.
	if _, err := proc.Run(context.Background(), proc.Command{Args: []string{"true"}, Output: io.Discard}); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

func TestContract_Service(t *testing.T) { //nolint:paralleltest // it sets environment variables
	servicetest.Run(t, func(t *testing.T) servicetest.Harness { return servicetest.Local(t) })
}

// absent is a runner that cannot work.
type absent struct{}

func (absent) Start(context.Context, pawl.SessionID) error            { return pawl.ErrUnavailable }
func (absent) Wake(context.Context, pawl.SessionID) error             { return pawl.ErrUnavailable }
func (absent) Answered(context.Context, pawl.SessionID) error         { return pawl.ErrUnavailable }
func (absent) Cancel(context.Context, pawl.SessionID, pawl.Seq) error { return pawl.ErrUnavailable }

// Accepted means appended, even when nobody can work on it: the caller learns both.
func TestSendWithoutARunner(t *testing.T) { //nolint:paralleltest // it sets environment variables
	st := servicetest.Local(t).Store
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
