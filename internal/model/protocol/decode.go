package protocol

import (
	"context"
	"iter"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// Decoder turns the events of one reply into chunks.
type Decoder interface {
	// Next takes an event's data and emits what it means.
	Next(data []byte, emit func(model.Chunk)) error
	// Done reports whether the reply is whole. The finish was emitted then.
	Done() bool
}

// Ender is a Decoder of a protocol whose streams have no last event.
type Ender interface {
	// End tells it that the stream has ended, and emits the finish of a reply
	// that is whole.
	End(emit func(model.Chunk))
}

// Ask sends a request, as JSON, and yields what a new decoder makes of the
// answer: all that a client's Stream does.
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

// decode feeds a stream's events to a decoder until it is done or the caller
// has had enough. A stream that ends before the decoder is done broke off.
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
		yield(model.Chunk{}, &model.ProviderError{Kind: pawl.ErrorConnection, Message: "the reply broke off"})
	}
}
