package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// maxEvent limits a line of the stream, in bytes.
const maxEvent = 64 << 20

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
func (f *follower) again(err error) bool {
	switch {
	case errors.Is(err, errCut), errors.Is(err, api.ErrLimited):
		return true
	default:
		return f.began && errors.Is(err, pawl.ErrUnavailable)
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	query := url.Values{"after": {strconv.FormatInt(int64(f.last), 10)}}
	r, err := f.client.request(ctx, http.MethodGet, path(f.id, "/events"), query, api.FormNone, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", string(api.FormStream))
	resp, err := f.client.do(r, f.id)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := isPawl(resp, api.FormStream); err != nil {
		return err
	}
	f.began = true
	if !f.back() {
		return errEnough
	}
	alive := time.AfterFunc(f.client.silence, cancel)
	defer alive.Stop()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 0, 4<<10), maxEvent)
	failed := false
	for lines.Scan() {
		alive.Reset(f.client.silence)
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch {
		case string(name) == "event":
			failed = string(value) == "error"
		case string(name) == "data" && failed:
			return f.streamError(value)
		case string(name) == "data":
			if err := f.take(value); err != nil {
				return err
			}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fault.New(pawl.ErrInvalid, "an event of session %s is larger than %d bytes", f.id, maxEvent)
	}
	return errCut
}

// streamError decodes the error with which the server ended the stream.
func (f *follower) streamError(text []byte) error {
	var fault api.Fault
	if err := json.Unmarshal(text, &fault); err != nil {
		return errCut
	}
	return fault.Err(f.id)
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
