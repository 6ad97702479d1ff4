package script

import (
	"context"
	"fmt"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// stream yields the reply at a position, as far as its fault allows.
func (r reply) stream(ctx context.Context, position int, yield func(model.Chunk, error) bool) {
	if r.Fault == KindError || r.Fault == KindOverloaded {
		yield(model.Chunk{}, r.fault())
		return
	}
	for c := range r.chunks(position) {
		if err := r.pause(ctx, c.Kind); err != nil {
			yield(model.Chunk{}, err)
			return
		}
		if !yield(c, nil) {
			return
		}
	}
	if r.Fault == KindHang {
		<-ctx.Done()
		yield(model.Chunk{}, ctx.Err())
	}
}

// chunks yields the chunks of the reply. A stream that drops or hangs has half of the text and nothing after
// it.
func (r reply) chunks(position int) iter.Seq[model.Chunk] {
	broken := r.Fault == KindDrop || r.Fault == KindHang
	return func(yield func(model.Chunk) bool) {
		for s := range Pieces(r.Reasoning, r.Deltas) {
			if !yield(model.Chunk{Kind: model.ChunkReasoning, Text: s}) {
				return
			}
		}
		text, n := r.Text, r.Deltas
		if broken {
			text, n = firstHalf(text), n/2
		}
		for s := range Pieces(text, n) {
			if !yield(model.Chunk{Kind: model.ChunkText, Text: s}) {
				return
			}
		}
		if broken {
			return
		}
		calls := r.calls(position)
		if r.Fault == KindGarbage {
			calls = Garble(calls, position)
		}
		for _, c := range calls {
			if !yield(model.Chunk{Kind: model.ChunkCall, Call: c}) {
				return
			}
		}
		if r.Usage != (pawl.Usage{}) && !yield(model.Chunk{Kind: model.ChunkUsage, Usage: r.Usage}) {
			return
		}
		yield(model.Chunk{Kind: model.ChunkFinish, Finish: r.finish(calls)})
	}
}

// pause waits for the delay before text, reasoning and calls. It returns ctx.Err() if ctx has ended.
func (r reply) pause(ctx context.Context, k model.ChunkKind) error {
	if r.DelayMS == 0 || k == model.ChunkUsage || k == model.ChunkFinish {
		return ctx.Err()
	}
	timer := time.NewTimer(time.Duration(r.DelayMS) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// callID returns the id of a reply's call. It depends only on the script, so that a subagent session finds its
// line. The arguments count from 0, the id from 1.
func callID(position, call int) pawl.CallID {
	return pawl.CallID(fmt.Sprintf("call_%d_%d", position+1, call+1))
}

// Pieces splits text between runes into n parts of about equal length: at least one, and none empty.
func Pieces(text string, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		runes := utf8.RuneCountInString(text)
		parts := min(max(n, 1), runes)
		for i := range parts {
			end := 0
			for range (i+1)*runes/parts - i*runes/parts {
				_, size := utf8.DecodeRuneInString(text[end:])
				end += size
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// firstHalf returns the first half of the text, or all of it if it is a single rune.
func firstHalf(text string) string {
	for half := range Pieces(text, 2) {
		return half
	}
	return ""
}
