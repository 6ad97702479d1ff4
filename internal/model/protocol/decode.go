package protocol

import (
	"context"
	"iter"

	"github.com/pawl-dev/pawl"
)

// Decoder turns the events of one reply into chunks.
type Decoder interface {
	// Next takes an event's data and emits what it means.
	Next(data []byte, emit func(pawl.Chunk)) error
	// Done reports whether the reply is whole. The finish was emitted then.
	Done() bool
}

// Ender is a Decoder of a protocol whose streams have no last event.
type Ender interface {
	// End tells it that the stream has ended, and emits the finish of a reply
	// that is whole.
	End(emit func(pawl.Chunk))
}

// Ask sends a request, as JSON, and yields what a new decoder makes of the
// answer: all that a client's Stream does.
func (e Endpoint) Ask(ctx context.Context, path string, request any, newDecoder func() Decoder) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		body, err := Marshal(request)
		if err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		decode(e.events(ctx, path, body), newDecoder(), yield)
	}
}

// decode feeds a stream's events to a decoder until it is done or the caller
// has had enough. A stream that ends before the decoder is done broke off.
func decode(events iter.Seq2[Event, error], d Decoder, yield func(pawl.Chunk, error) bool) {
	enough := false
	emit := func(c pawl.Chunk) { enough = enough || !yield(c, nil) }
	for ev, err := range events {
		if err == nil {
			err = d.Next(ev.Data, emit)
		}
		switch {
		case enough:
			return
		case err != nil:
			yield(pawl.Chunk{}, err)
			return
		case d.Done():
			return
		}
	}
	if ender, ok := d.(Ender); ok && !enough {
		ender.End(emit)
	}
	if !enough && !d.Done() {
		yield(pawl.Chunk{}, &pawl.ModelError{Kind: pawl.ErrorConnection, Message: "the reply broke off"})
	}
}
