package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// maxLine bounds a line of a stream, in bytes; a call may contain a file.
const maxLine = 128 << 20

// remoteModel is a model of a gateway.
type remoteModel struct {
	client *Client
	ref    string
}

var _ model.Model = remoteModel{}

// Stream implements [model.Model].
func (m remoteModel) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		call, cancel := context.WithCancel(ctx)
		defer cancel() // ends the call on the gateway
		err := m.stream(call, req, func(c model.Chunk) bool { return yield(c, nil) })
		switch {
		case err == nil:
		case ctx.Err() != nil:
			yield(model.Chunk{}, ctx.Err())
		default:
			yield(model.Chunk{}, err)
		}
	}
}

// stream makes the call and passes the chunks on, until pass returns false.
func (m remoteModel) stream(ctx context.Context, req model.Request, pass func(model.Chunk) bool) error {
	body, err := protocol.Marshal(ask{m.ref, request(req)})
	if err != nil {
		return err
	}
	resp, err := m.client.do(ctx, http.MethodPost, "/v1/stream", body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return m.responseError(resp)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 0, 16<<10), maxLine)
	for lines.Scan() {
		c, over, err := m.read(lines.Bytes())
		if over || err != nil || !pass(c) {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return &model.ProviderError{Kind: pawl.ErrorMalformed, Message: fmt.Sprintf("a chunk of the reply is larger than %d bytes", maxLine)}
	}
	why := lines.Err()
	if why == nil {
		why = io.ErrUnexpectedEOF
	}
	return unavailable("the model gateway at %s interrupted the reply: %w", m.client.URL, why)
}

// read decodes the chunk of a line, or reports that the stream is over.
func (m remoteModel) read(text []byte) (c model.Chunk, over bool, err error) {
	var l line
	if err := m.client.decode(text, &l); err != nil {
		return c, true, err
	}
	switch {
	case l.Kind == lineEnd:
		return c, true, nil
	case l.Kind == lineError && l.Error != nil:
		return c, true, l.Error.err()
	}
	c, ok := l.decodeChunk()
	if !ok {
		return c, true, unavailable("the model gateway at %s sent a chunk of unknown type %q: check that both sides run the same version", m.client.URL, l.Kind)
	}
	return c, false, nil
}

// responseError returns the error for a response that is not a stream. If the request is too large for the gateway,
// it is the error of a provider in that case, so that the conversation is compacted.
func (m remoteModel) responseError(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxReason)) // a partial message is better than none
	if resp.StatusCode == http.StatusRequestEntityTooLarge {
		return protocol.ErrorOf(resp.StatusCode, body)
	}
	return m.client.statusError(resp.Status, body)
}
