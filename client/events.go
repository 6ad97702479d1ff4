package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strconv"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
)

// Events yields the events after the given Seq, then new ones, until ctx ends. When
// the connection breaks or the server is unavailable for a while, Events reconnects
// and continues: durable events are neither lost nor repeated. It yields a
// [pawl.Status] when the server is lost and when it is back.
func (c *Client) Events(ctx context.Context, id pawl.SessionID, after pawl.Seq) iter.Seq2[pawl.Event, error] {
	return func(yield func(pawl.Event, error) bool) {
		f := follower{client: c, id: id, last: after, yield: yield}
		for ctx.Err() == nil {
			err := f.follow(ctx)
			switch {
			case errors.Is(err, errEnough):
				return
			case ctx.Err() != nil:
				return
			case !f.again(err):
				yield(pawl.Event{}, err)
				return
			}
			if !f.lost(err) {
				return
			}
			if pause(ctx, f.failures) != nil {
				return
			}
			f.failures++
		}
	}
}

var errEnough = errors.New("the reader wants no more")

// follower is the state of one call of Events.
type follower struct {
	client   *Client
	id       pawl.SessionID
	last     pawl.Seq // of the last durable event that was yielded
	yield    func(pawl.Event, error) bool
	failures int  // in a row
	began    bool // the server has sent a stream before
	away     bool // the reader was notified that the server is lost
}

// again reports whether to reconnect. A server that never answered is an error; one
// that did is expected to come back.
func (f *follower) again(err error) bool { return again(err, f.began) }

func again(err error, began bool) bool {
	switch {
	case errors.Is(err, errCut), errors.Is(err, api.ErrLimited):
		return true
	default:
		return began && errors.Is(err, pawl.ErrUnavailable)
	}
}

// lost notifies the reader once that the server cannot be reached, and back that it
// is back: nothing else explains the silence. They return false if the reader stops.
func (f *follower) lost(err error) bool {
	if f.away || !errors.Is(err, pawl.ErrUnavailable) {
		return true
	}
	f.away = true
	return f.notice("server unreachable: reconnecting")
}

func (f *follower) back() bool {
	if !f.away {
		return true
	}
	f.away = false
	return f.notice("reconnected to the server")
}

func (f *follower) notice(text string) bool {
	return f.yield(pawl.Event{Session: f.id, Body: pawl.Status{State: "notice", Message: text}}, nil)
}

// follow reads the stream of one connection to its end.
func (f *follower) follow(ctx context.Context) error {
	connected := func() error {
		f.began = true
		if !f.back() {
			return errEnough
		}
		return nil
	}
	after := strconv.FormatInt(int64(f.last), 10)
	return f.client.readStream(ctx, f.id, path(f.id, "/events"), url.Values{"after": {after}}, connected, func(_ string, data []byte) error { return f.take(data) })
}

// take yields an event unless it was yielded before. If an event is missing, it
// returns errCut.
func (f *follower) take(text []byte) error {
	var e pawl.Event
	if err := e.UnmarshalJSON(text); err != nil {
		return fmt.Errorf("read the server's events: %w", err)
	}
	f.failures = 0
	switch {
	case e.Seq == 0:
	case e.Seq <= f.last:
		return nil
	case e.Seq != f.last+1:
		return errCut // an event is missing: reconnect
	default:
		f.last = e.Seq
	}
	if !f.yield(e, nil) {
		return errEnough
	}
	return nil
}
