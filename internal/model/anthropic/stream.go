package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// redactedPrefix marks the signature of an encrypted thinking block.
const redactedPrefix = "redacted:"

// event is a stream event; its type determines which fields are set.
type event struct {
	Type    string `json:"type"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Index        int `json:"index"`
	ContentBlock struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
		Data      string          `json:"data"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
	} `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage           `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type usage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	Details    struct {
		Thinking *int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// decoder turns events into chunks.
type decoder struct {
	answer    bool // the text is the input of the answer tool
	block     string
	call      pawl.ToolCall
	input     []byte
	signature string
	usage     pawl.Usage
	finish    pawl.Finish
	done      bool
}

// Done implements [protocol.Decoder].
func (d *decoder) Done() bool { return d.done }

// Next implements [protocol.Decoder].
func (d *decoder) Next(data []byte, emit func(model.Chunk)) error {
	var e event
	if err := protocol.Unmarshal(data, &e); err != nil {
		return err
	}
	switch e.Type {
	case "message_start":
		d.count(e.Message.Usage)
	case "content_block_start":
		d.start(&e, emit)
	case "content_block_delta":
		d.delta(&e, emit)
	case "content_block_stop":
		return d.stop(emit)
	case "message_delta":
		d.count(e.Usage)
		if e.Delta.StopReason == "refusal" {
			return &model.ProviderError{Kind: pawl.ErrorRefused, Message: "the model refused to answer"}
		}
		d.finish = finishOf(e.Delta.StopReason)
	case "message_stop":
		d.done = true
		if d.answer && d.finish == pawl.FinishToolUse {
			d.finish = pawl.FinishEndTurn
		}
		emit(model.Chunk{Kind: model.ChunkUsage, Usage: d.usage})
		emit(model.Chunk{Kind: model.ChunkFinish, Finish: d.finish})
	case "error":
		return protocol.ErrorOf(0, data)
	default: // ping, and future types
	}
	return nil
}

func (d *decoder) start(e *event, emit func(model.Chunk)) {
	b := e.ContentBlock
	d.block = b.Type
	switch b.Type {
	case "text":
		if b.Text != "" {
			emit(model.Chunk{Kind: model.ChunkText, Text: b.Text})
		}
	case "thinking":
		if b.Thinking != "" {
			emit(model.Chunk{Kind: model.ChunkReasoning, Text: b.Thinking})
		}
		d.signature = b.Signature
	case "redacted_thinking":
		emit(model.Chunk{Kind: model.ChunkReasoning, Signature: protocol.Seal(name, redactedPrefix+b.Data)})
	case "tool_use":
		d.call = pawl.ToolCall{ID: pawl.CallID(b.ID), Name: b.Name, Input: b.Input}
		d.input = d.input[:0]
	default: // the provider's own tools: only their text counts
	}
}

func (d *decoder) delta(e *event, emit func(model.Chunk)) {
	switch e.Delta.Type {
	case "text_delta":
		emit(model.Chunk{Kind: model.ChunkText, Text: e.Delta.Text})
	case "thinking_delta":
		emit(model.Chunk{Kind: model.ChunkReasoning, Text: e.Delta.Thinking})
	case "signature_delta":
		d.signature += e.Delta.Signature
	case "input_json_delta":
		if d.answer && d.block == "tool_use" {
			emit(model.Chunk{Kind: model.ChunkText, Text: e.Delta.PartialJSON})
			return
		}
		d.input = append(d.input, e.Delta.PartialJSON...)
	default: // citations
	}
}

// stop ends a block. It emits complete calls and signatures.
func (d *decoder) stop(emit func(model.Chunk)) error {
	block := d.block
	d.block = ""
	if block == "thinking" && d.signature != "" {
		emit(model.Chunk{Kind: model.ChunkReasoning, Signature: protocol.Seal(name, d.signature)})
	}
	if block != "tool_use" || d.answer {
		return nil
	}
	if len(d.input) > 0 {
		d.call.Input = json.RawMessage(string(d.input))
	}
	if d.call.Name == "" {
		return &model.ProviderError{Kind: pawl.ErrorMalformed, Message: fmt.Sprintf("tool call without a name: %s", d.call.Input)}
	}
	emit(model.Chunk{Kind: model.ChunkCall, Call: d.call})
	return nil
}

// count updates the usage: each number is a total that replaces an earlier one.
func (d *decoder) count(u usage) {
	for _, n := range []struct {
		from *int64
		to   *int64
	}{{u.Input, &d.usage.Input}, {u.Output, &d.usage.Output}, {u.CacheWrite, &d.usage.CacheWrite}, {u.CacheRead, &d.usage.CacheRead}, {u.Details.Thinking, &d.usage.Reasoning}} {
		if n.from != nil {
			*n.to = *n.from
		}
	}
}

func finishOf(reason string) pawl.Finish {
	switch reason {
	case "tool_use":
		return pawl.FinishToolUse
	case "max_tokens", "model_context_window_exceeded":
		return pawl.FinishMaxTokens
	default: // end_turn, stop_sequence, pause_turn
		return pawl.FinishEndTurn
	}
}
