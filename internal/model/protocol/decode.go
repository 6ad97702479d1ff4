package protocol

import (
	"context"
	"iter"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// Decoder turns the events of one reply into chunks.
type Decoder interface {
	// Next decodes an event and emits its chunks.
	Next(data []byte, emit func(model.Chunk)) error
	// Done reports whether the reply is complete and its finish was emitted.
	Done() bool
}

// Ender is a Decoder for a protocol whose streams have no final event.
type Ender interface {
	// End is called at the end of the stream, and emits the finish of a complete reply.
	End(emit func(model.Chunk))
}

// Ask sends a request as JSON and yields the decoded chunks of the response. It implements the Stream method of
// clients.
func (e Endpoint) Ask(ctx context.Context, path string, request any, newDecoder func() Decoder) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		body, err := Marshal(request)
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		decode(e.events(ctx, path, body), newDecoder(), yield)
	}
}

// decode passes events to a decoder until it is done or the caller stops. A stream that ends earlier is an
// error.
func decode(events iter.Seq2[Event, error], d Decoder, yield func(model.Chunk, error) bool) {
	enough := false
	emit := func(c model.Chunk) { enough = enough || !yield(c, nil) }
	for ev, err := range events {
		if err == nil {
			err = d.Next(ev.Data, emit)
		}
		switch {
		case enough:
			return
		case err != nil:
			yield(model.Chunk{}, err)
			return
		case d.Done():
			return
		}
	}
	if ender, ok := d.(Ender); ok && !enough {
		ender.End(emit)
	}
	if !enough && !d.Done() {
		yield(model.Chunk{}, &model.ProviderError{Kind: pawl.ErrorConnection, Message: "the reply was cut off"})
	}
}
