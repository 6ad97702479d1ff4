package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// DefaultIdle is how long a provider may be silent.
const DefaultIdle = 120 * time.Second

// Endpoint is where a provider's requests go.
type Endpoint struct {
	BaseURL string
	Header  http.Header   // sent with each request: the key, among others
	Client  *http.Client  // nil means http.DefaultClient; cloud sign-in is its transport's job
	Idle    time.Duration // 0 means DefaultIdle
}

var errIdle = errors.New("idle")

// events posts a JSON body and yields the events of the answer. Every failure is
// a *model.ProviderError, but for the end of ctx, which yields ctx.Err().
func (e Endpoint) events(ctx context.Context, path string, body []byte) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		idle := e.Idle
		if idle == 0 {
			idle = DefaultIdle
		}
		call, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		watch := time.AfterFunc(idle, func() { cancel(errIdle) })
		defer watch.Stop()

		err := e.post(call, path, body, func() { watch.Reset(idle) }, func(ev Event) bool { return yield(ev, nil) })
		switch {
		case err == nil:
		case ctx.Err() != nil:
			yield(Event{}, ctx.Err())
		case errors.Is(context.Cause(call), errIdle):
			yield(Event{}, &model.ProviderError{Kind: pawl.ErrorIdle, Message: fmt.Sprintf("no bytes for %s", idle)})
		default:
			yield(Event{}, err)
		}
	}
}

// post sends the request and passes the events on. alive is called whenever bytes come.
func (e Endpoint) post(ctx context.Context, path string, body []byte, alive func(), pass func(Event) bool) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.BaseURL+path, bytes.NewReader(body))
	if err != nil {
		return &model.ProviderError{Kind: pawl.ErrorInvalid, Message: err.Error()}
	}
	req.Header = e.Header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	client := e.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return connectionError(err)
	}
	defer resp.Body.Close()
	alive()
	if resp.StatusCode/100 != 2 {
		return statusError(resp)
	}
	reader := NewReader(&beating{resp.Body, alive})
	for {
		ev, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return connectionError(err)
		}
		if !pass(ev) {
			return nil
		}
	}
}

// beating calls alive whenever bytes come.
type beating struct {
	r     io.Reader
	alive func()
}

func (b *beating) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if n > 0 {
		b.alive()
	}
	return n, err
}

// Unmarshal reads a piece of JSON that a provider sent. What it does not know
// it passes over: providers add fields at will.
func Unmarshal(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return &model.ProviderError{Kind: pawl.ErrorMalformed, Message: fmt.Sprintf("%v in %.200q", err, data)}
	}
	return nil
}

// Marshal writes a request's body: no HTML escapes, fields in the order of the
// struct, so that a request that extends another begins with the same bytes.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, &model.ProviderError{Kind: pawl.ErrorInvalid, Message: err.Error()}
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
