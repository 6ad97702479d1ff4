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

// DefaultIdle is how long a provider may send nothing.
const DefaultIdle = 120 * time.Second

// Endpoint is the address of a provider's API.
type Endpoint struct {
	BaseURL string
	Header  http.Header   // sent with each request, such as the API key
	Client  *http.Client  // nil means http.DefaultClient; its transport signs in to clouds
	Idle    time.Duration // 0 means DefaultIdle
}

var errIdle = errors.New("idle")

// events posts a JSON body and yields the events of the response. Every error is a *model.ProviderError, except
// ctx.Err().
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
			yield(Event{}, &model.ProviderError{Kind: pawl.ErrorIdle, Message: fmt.Sprintf("no data received for %s", idle)})
		default:
			yield(Event{}, err)
		}
	}
}

// post sends the request and passes the events on. It calls alive whenever data arrives.
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
	reader := NewReader(&watchedReader{resp.Body, alive})
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

// watchedReader calls alive whenever data is read.
type watchedReader struct {
	r     io.Reader
	alive func()
}

func (b *watchedReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if n > 0 {
		b.alive()
	}
	return n, err
}

// Unmarshal decodes JSON of a provider. It ignores unknown fields, because providers add fields at any time.
func Unmarshal(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return &model.ProviderError{Kind: pawl.ErrorMalformed, Message: fmt.Sprintf("%v in %.200q", err, data)}
	}
	return nil
}

// Marshal encodes a request without HTML escapes and with fields in struct order, so that a request that
// extends another one starts with the same bytes, for the prompt cache.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, &model.ProviderError{Kind: pawl.ErrorInvalid, Message: err.Error()}
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
