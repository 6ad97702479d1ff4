package service_test

import (
	"context"
	"errors"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/service"
	"github.com/pawl-dev/pawl/internal/service/servicetest"
)

// counted counts the appends, and has them fail.
type counted struct {
	service.Bus
	appends int
	fault   error
}

func (c *counted) Append(ctx context.Context, id pawl.SessionID, after pawl.Seq, events ...pawl.Event) ([]pawl.Event, error) {
	c.appends++
	if c.fault != nil {
		return nil, c.fault
	}
	return c.Bus.Append(ctx, id, after, events...)
}

// There is never half a mission: it is one append, and is there though nobody can
// work on it yet.
func TestMissionIsOneAppend(t *testing.T) { //nolint:paralleltest // it sets environment variables
	st := servicetest.Local(t).Store
	log := &counted{Bus: bus.New(st, bus.Config{}), fault: errors.New("the disk is full")}
	svc := service.New(service.Config{
		Store: st, Bus: log, Runner: absent{}, Model: func() (string, error) { return "usual", nil },
		Check: func(context.Context, string, pawl.Settings) error { return nil },
	})
	n := pawl.NewMission{Dir: "/project", Order: pawl.MissionOrder{Goal: "go"}}
	if _, err := svc.StartMission(t.Context(), n); !errors.Is(err, log.fault) {
		t.Errorf("got %v", err)
	}
	if list, err := svc.List(t.Context(), pawl.Filter{}); err != nil || len(list.Sessions) != 0 {
		t.Errorf("got %v, %v", list, err)
	}
	log.fault, log.appends = nil, 0
	row, err := svc.StartMission(t.Context(), n)
	if pawl.CodeOf(err) != pawl.CodeUnavailable || log.appends != 1 {
		t.Errorf("%d appends, %v", log.appends, err)
	}
	if row.State() != pawl.StateQueued || row.Mission != pawl.MissionWorking || row.Head != 3 || row.Model != "usual" {
		t.Errorf("got %+v", row)
	}
}
