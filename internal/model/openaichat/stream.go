package openaichat

import (
	"bytes"
	"encoding/json"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// event is a stream event.
type event struct {
	Object  string          `json:"object"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index        int             `json:"index"`
	Delta        delta           `json:"delta"`
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
}

type delta struct {
	Content          string      `json:"content"`
	Refusal          string      `json:"refusal"`
	ReasoningContent string      `json:"reasoning_content"`
	Reasoning        string      `json:"reasoning"`
	ReasoningDetails []detail    `json:"reasoning_details"`
	ToolCalls        []callDelta `json:"tool_calls"`
}

// doneMark is the data of the last event.
var doneMark = []byte("[DONE]")

var _ protocol.Ender = (*decoder)(nil)

// decoder turns events into chunks.
type decoder struct {
	seal    bool // sign reasoning with its details, which must be sent back
	details details
	calls   calls
	refusal []byte
	usage   *usage
	finish  pawl.Finish // "" until the content has ended; usage follows it
	done    bool
}

// Done implements [protocol.Decoder].
func (d *decoder) Done() bool { return d.done }

// Next implements [protocol.Decoder].
func (d *decoder) Next(data []byte, emit func(model.Chunk)) error {
	if bytes.Equal(bytes.TrimSpace(data), doneMark) {
		return d.finished(emit)
	}
	var e event
	if err := protocol.Unmarshal(data, &e); err != nil {
		return err
	}
	if isSet(e.Error) || e.Object == "error" {
		return protocol.ErrorOf(0, data)
	}
	if e.Usage != nil {
		d.usage = e.Usage
	}
	for i := range e.Choices {
		c := &e.Choices[i]
		if c.Index != 0 {
			continue // a further choice; only one was requested
		}
		if isSet(c.Error) {
			return protocol.ErrorOf(0, append([]byte(`{"error":`), append(c.Error, '}')...))
		}
		if err := d.delta(&c.Delta, emit); err != nil {
			return err
		}
		if c.FinishReason != "" {
			if err := d.stop(c.FinishReason, emit); err != nil {
				return err
			}
		}
	}
	return nil
}

// finished handles [DONE]: usage comes before it, if at all.
func (d *decoder) finished(emit func(model.Chunk)) error {
	if d.finish == "" { // the server gave no finish reason, but says that the reply is complete
		if err := d.stop("stop", emit); err != nil {
			return err
		}
	}
	d.End(emit)
	return nil
}

func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func (d *decoder) delta(delta *delta, emit func(model.Chunk)) error {
	if text := delta.thought(); text != "" {
		emit(model.Chunk{Kind: model.ChunkReasoning, Text: text})
	}
	if d.seal {
		for _, detail := range delta.ReasoningDetails {
			d.details.add(detail)
		}
	}
	if delta.Content != "" {
		if err := d.sealReasoning(emit); err != nil {
			return err
		}
		emit(model.Chunk{Kind: model.ChunkText, Text: delta.Content})
	}
	for i := range delta.ToolCalls {
		d.calls.add(&delta.ToolCalls[i])
	}
	d.refusal = append(d.refusal, delta.Refusal...)
	return nil
}

// thought returns the reasoning of a delta. Servers with two fields send the same text in both.
func (d *delta) thought() string {
	if d.ReasoningContent != "" {
		return d.ReasoningContent
	}
	if d.Reasoning != "" {
		return d.Reasoning
	}
	text := ""
	for _, detail := range d.ReasoningDetails {
		text += detail.words()
	}
	return text
}

// sealReasoning ends the reasoning so far, if it has details to sign it with.
func (d *decoder) sealReasoning(emit func(model.Chunk)) error {
	sealed, err := d.details.take()
	if err == nil && sealed != "" {
		emit(model.Chunk{Kind: model.ChunkReasoning, Signature: protocol.Seal(name, sealed)})
	}
	return err
}

// stop ends the content of the reply. Servers may send the reason twice.
func (d *decoder) stop(reason string, emit func(model.Chunk)) error {
	finish, err := finishOf(reason)
	if err != nil {
		return err
	}
	if len(d.refusal) > 0 {
		return &model.ProviderError{Kind: pawl.ErrorRefused, Message: string(d.refusal)}
	}
	if err := d.sealReasoning(emit); err != nil {
		return err
	}
	d.finish = finish
	return d.calls.flush(emit)
}

// End implements [protocol.Ender]: some servers leave out [DONE]. The finish reason then shows that the reply
// is complete.
func (d *decoder) End(emit func(model.Chunk)) {
	if d.finish == "" {
		return
	}
	d.done = true
	if d.usage != nil {
		emit(model.Chunk{Kind: model.ChunkUsage, Usage: d.usage.total()})
	}
	emit(model.Chunk{Kind: model.ChunkFinish, Finish: d.finish})
}

func finishOf(reason string) (pawl.Finish, error) {
	switch reason {
	case "tool_calls", "function_call":
		return pawl.FinishToolUse, nil
	case "length", "model_context_window_exceeded":
		return pawl.FinishMaxTokens, nil
	case "content_filter", "sensitive":
		return "", &model.ProviderError{Kind: pawl.ErrorRefused, Message: "the provider's content filter stopped the reply"}
	case "insufficient_system_resource":
		return "", &model.ProviderError{Kind: pawl.ErrorOverloaded, Message: "the provider ran out of capacity during the reply"}
	case "error", "network_error":
		return "", &model.ProviderError{Kind: pawl.ErrorServer, Message: "the provider failed during the reply"}
	default: // stop, and non-standard values for it
		return pawl.FinishEndTurn, nil
	}
}
