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
)

// maxEvent bounds a line of the stream.
const maxEvent = 64 << 20

// Events yields the events after the given Seq, then those that come, until ctx
// ends. When the connection breaks off, or the server is away for a while, it
// goes on with the next event as soon as it can: of those of the log none is
// missing and none comes twice. A [pawl.Status] says that the server is away, and
// that it is back.
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

// follower brings one iteration forward.
type follower struct {
	client   *Client
	id       pawl.SessionID
	last     pawl.Seq // of the log, that was yielded
	yield    func(pawl.Event, error) bool
	failures int  // in a row
	began    bool // the server has shown events before
	away     bool // the reader learned that it does not exist
}

// again reports whether it is worth another try. A server that was never there is reported;
// one that was comes back.
func (f *follower) again(err error) bool {
	switch {
	case errors.Is(err, errCut), errors.Is(err, api.ErrLimited):
		return true
	default:
		return f.began && errors.Is(err, pawl.ErrUnavailable)
	}
}

// lost tells the reader, once, that the server cannot be reached, and back that it
// can again: nothing else says why nothing comes. They return false if the reader
// wants no more.
func (f *follower) lost(err error) bool {
	if f.away || !errors.Is(err, pawl.ErrUnavailable) {
		return true
	}
	f.away = true
	return f.notice("the server cannot be reached: trying again until it is back")
}

func (f *follower) back() bool {
	if !f.away {
		return true
	}
	f.away = false
	return f.notice("the server is there again")
}

func (f *follower) notice(text string) bool {
	return f.yield(pawl.Event{Session: f.id, Body: pawl.Status{State: "notice", Message: text}}, nil)
}

// follow reads one connection's stream to its end.
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
	fault := false
	for lines.Scan() {
		alive.Reset(f.client.silence)
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch {
		case string(name) == "event":
			fault = string(value) == "error"
		case string(name) == "data" && fault:
			return f.told(value)
		case string(name) == "data":
			if err := f.take(value); err != nil {
				return err
			}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("an event of session %s has more than %d bytes: %w", f.id, maxEvent, pawl.ErrInvalid)
	}
	return errCut
}

// told is the error that the server ended the stream with.
func (f *follower) told(text []byte) error {
	var fault api.Fault
	if err := json.Unmarshal(text, &fault); err != nil {
		return errCut
	}
	return fault.Err(f.id)
}

// take yields an event, if it is the one that is next.
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
		return errCut // the server left something out: ask again from there
	default:
		f.last = e.Seq
	}
	if !f.yield(e, nil) {
		return errEnough
	}
	return nil
}
