package eventfeed

import (
	"context"

	"github.com/pawl-dev/pawl"
)

// PageEvents is the number of events per page.
const PageEvents = 400

// Opened is the end of a session.
type Opened struct {
	Session pawl.Session
	Events  []pawl.Event
	Draft   pawl.Draft
}

// Open reads the end of a session.
func Open(ctx context.Context, svc pawl.Service, id pawl.SessionID) (Opened, error) {
	s, err := svc.Get(ctx, id)
	if err != nil {
		return Opened{}, err
	}
	events, err := Page(ctx, svc, id, s.Head-PageEvents, s.Head)
	if err != nil {
		return Opened{}, err
	}
	draft, _ := svc.Draft(ctx, id) // there may be none
	return Opened{s, events, draft}, nil
}

// Page reads the events after one Seq up to another.
func Page(ctx context.Context, svc pawl.Service, id pawl.SessionID, after, upTo pawl.Seq) ([]pawl.Event, error) {
	var events []pawl.Event
	after = max(0, after)
	if after >= upTo {
		return nil, nil
	}
	for e, err := range svc.Events(ctx, id, after) {
		if err != nil {
			return nil, err
		}
		if e.Seq == 0 {
			continue
		}
		events = append(events, e)
		if e.Seq >= upTo {
			break
		}
	}
	return events, nil
}
