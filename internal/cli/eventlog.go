package cli

import (
	"context"
	"iter"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission"
)

// SessionEvents returns the stored events of a session up to its head.
func SessionEvents(ctx context.Context, svc pawl.Service, s pawl.Session) ([]pawl.Event, error) {
	var events []pawl.Event
	for e, err := range svc.Events(ctx, s.ID, 0) {
		if err != nil {
			return nil, err
		}
		if e.Seq != 0 {
			events = append(events, e)
		}
		if e.Seq >= s.Head {
			break
		}
	}
	return events, ctx.Err()
}

// SessionLog yields the stored events of a session up to its head.
func SessionLog(ctx context.Context, svc pawl.Service, s pawl.Session) iter.Seq2[pawl.Event, error] {
	return mission.Log(ctx, svc, s)
}
