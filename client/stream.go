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
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/fault"
)

// maxEvent limits a line of a stream, in bytes.
const maxEvent = 64 << 20

// readStream reads the stream of one connection to its end. It calls connected once the server has accepted the
// request, and take with the ID and the data of each message.
func (c *Client) readStream(ctx context.Context, id pawl.SessionID, path string, query url.Values, connected func() error, take func(id string, data []byte) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := c.request(ctx, http.MethodGet, path, query, api.FormNone, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", string(api.FormStream))
	resp, err := c.do(r, id)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := isPawl(resp, api.FormStream); err != nil {
		return err
	}
	if err := connected(); err != nil {
		return err
	}
	alive := time.AfterFunc(c.silence, cancel)
	defer alive.Stop()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 0, 4<<10), maxEvent)
	failed, message := false, ""
	for lines.Scan() {
		alive.Reset(c.silence)
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		switch {
		case string(name) == "event":
			failed = string(value) == "error"
		case string(name) == "id":
			message = string(value)
		case string(name) == "data" && failed:
			return streamError(id, value)
		case string(name) == "data":
			if err := take(message, value); err != nil {
				return err
			}
			message = ""
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fault.New(pawl.ErrInvalid, "a message of the stream %s is larger than %d bytes", path, maxEvent)
	}
	return errCut
}

// streamError decodes the error with which the server ended the stream.
func streamError(id pawl.SessionID, text []byte) error {
	var fault api.Fault
	if err := json.Unmarshal(text, &fault); err != nil {
		return errCut
	}
	return fault.Err(id)
}

// source is a stream of messages that change a state of type S.
type source[M, S any] struct {
	session pawl.SessionID
	path    string
	query   url.Values
	last    string // the ID of the message to resume after
	resume  func() // called before each connection
	apply   func(M) S
}

// follow yields the state after each message until ctx ends. It reconnects when the connection breaks.
func follow[M, S any](ctx context.Context, c *Client, s source[M, S]) iter.Seq2[S, error] {
	return func(yield func(S, error) bool) {
		began, failures := false, 0
		connected := func() error { began = true; return nil }
		take := func(id string, data []byte) error {
			var m M
			if err := json.Unmarshal(data, &m); err != nil {
				return fmt.Errorf("read the server's messages: %w", err)
			}
			failures = 0
			if id != "" {
				s.last = id
			}
			if !yield(s.apply(m), nil) {
				return errEnough
			}
			return nil
		}
		for ctx.Err() == nil {
			s.resume()
			if s.last != "" {
				s.query.Set("after", s.last)
			}
			err := c.readStream(ctx, s.session, s.path, s.query, connected, take)
			if errors.Is(err, errEnough) || ctx.Err() != nil {
				return
			}
			if !again(err, began) {
				yield(*new(S), err)
				return
			}
			if pause(ctx, failures) != nil {
				return
			}
			failures++
		}
	}
}
