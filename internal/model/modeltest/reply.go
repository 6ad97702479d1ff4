package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// Reply is an assembled reply.
type Reply struct {
	Parts  pawl.Parts
	Usage  pawl.Usage
	Finish pawl.Finish
}

// Reasoning returns the reasoning of the reply, joined.
func (r Reply) Reasoning() string {
	var out []byte
	for _, p := range r.Parts {
		if thought, ok := p.(pawl.Reasoning); ok {
			out = append(out, thought.Text...)
		}
	}
	return string(out)
}

// Read reads a reply to its end. It also returns an error if the stream violates the contract of [model.Model],
// or the input of a call is not JSON.
func Read(ctx context.Context, m model.Model, req model.Request) (Reply, error) {
	var r Reply
	for c, err := range m.Stream(ctx, req) {
		switch {
		case err != nil:
			return r, err
		case r.Finish != "":
			return r, fmt.Errorf("%+v came after the finish", c)
		}
		switch c.Kind {
		case model.ChunkText:
			r.text(c.Text)
		case model.ChunkReasoning:
			r.reasoning(c)
		case model.ChunkCall:
			if !json.Valid(c.Call.Input) {
				return r, fmt.Errorf("the input of %s is not JSON: %s", c.Call.Name, c.Call.Input)
			}
			r.Parts = append(r.Parts, c.Call)
		case model.ChunkUsage:
			r.Usage = c.Usage
		case model.ChunkFinish:
			r.Finish = c.Finish
		case model.ChunkRetry:
			return r, errors.New("a client of a protocol does not retry")
		}
	}
	if r.Finish == "" {
		return r, errors.New("the stream ended without a finish")
	}
	return r, nil
}

func (r *Reply) text(piece string) {
	if n := len(r.Parts); n > 0 {
		if last, ok := r.Parts[n-1].(pawl.Text); ok {
			r.Parts[n-1] = pawl.Text{Text: last.Text + piece}
			return
		}
	}
	if piece != "" {
		r.Parts = append(r.Parts, pawl.Text{Text: piece})
	}
}

func (r *Reply) reasoning(c model.Chunk) {
	if n := len(r.Parts); n > 0 {
		if last, ok := r.Parts[n-1].(pawl.Reasoning); ok && last.Signature == "" {
			r.Parts[n-1] = pawl.Reasoning{Text: last.Text + c.Text, Signature: c.Signature}
			return
		}
	}
	if c.Text != "" || c.Signature != "" {
		r.Parts = append(r.Parts, pawl.Reasoning{Text: c.Text, Signature: c.Signature})
	}
}

// Serve starts an HTTP server that answers every request with the recorded response, and returns its URL.
func Serve(t testing.TB, x Exchange) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Errorf("read request: %v", err)
		}
		w.Header().Set("Content-Type", x.ContentType)
		w.WriteHeader(x.Status)
		if _, err := w.Write(x.ResponseBody); err != nil {
			t.Errorf("write answer: %v", err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// Cut is a transport that answers every request with the recorded response: the bytes before At, then the rest.
// If At is 0, it returns one byte at a time.
type Cut struct {
	Exchange
	At int
}

// RoundTrip implements [http.RoundTripper].
func (c Cut) RoundTrip(r *http.Request) (*http.Response, error) {
	body := c.ResponseBody
	pieces := io.MultiReader(bytes.NewReader(body[:c.At]), bytes.NewReader(body[c.At:]))
	if c.At == 0 {
		pieces = oneByte{bytes.NewReader(body)}
	}
	return &http.Response{
		StatusCode: c.Status,
		Header:     http.Header{"Content-Type": {c.ContentType}},
		Body:       io.NopCloser(pieces),
		Request:    r,
	}, nil
}

type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1)]) }
