package gemini

import (
	"encoding/json"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// event is a stream event: a complete response object with a part of the reply.
type event struct {
	Candidates []struct {
		Content struct {
			Parts []part `json:"parts"`
		} `json:"content"`
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *usage          `json:"usageMetadata"`
	Error json.RawMessage `json:"error"`
}

type usage struct {
	Prompt     int64 `json:"promptTokenCount"` // including cached tokens
	Cached     int64 `json:"cachedContentTokenCount"`
	Candidates int64 `json:"candidatesTokenCount"` // excluding thoughts
	Thoughts   int64 `json:"thoughtsTokenCount"`
}

var (
	_ protocol.Decoder = (*decoder)(nil)
	_ protocol.Ender   = (*decoder)(nil)
)

// decoder turns events into chunks.
type decoder struct {
	called bool
	finish pawl.Finish
	done   bool
}

// Done implements [protocol.Decoder].
func (d *decoder) Done() bool { return d.done }

// Next implements [protocol.Decoder].
func (d *decoder) Next(data []byte, emit func(model.Chunk)) error {
	var e event
	if err := protocol.Unmarshal(data, &e); err != nil {
		return err
	}
	if e.Error != nil {
		return protocol.ErrorOf(0, data)
	}
	if e.Usage != nil {
		emit(model.Chunk{Kind: model.ChunkUsage, Usage: e.Usage.tokens()})
	}
	if reason := e.Feedback.BlockReason; reason != "" {
		return stopError(pawl.ErrorRefused, "the prompt was blocked", reason, e.Feedback.BlockReasonMessage)
	}
	if len(e.Candidates) == 0 {
		return nil
	}
	reply := &e.Candidates[0]
	for i := range reply.Content.Parts {
		if err := d.part(&reply.Content.Parts[i], emit); err != nil {
			return err
		}
	}
	if reply.FinishReason == "" {
		return nil
	}
	finish, kind := finishOf(reply.FinishReason)
	if kind != "" {
		return stopError(kind, "the model stopped", reply.FinishReason, reply.FinishMessage)
	}
	d.finish = finish
	return nil
}

// End implements [protocol.Ender]: the stream has no final event, but a complete reply has a finish reason.
func (d *decoder) End(emit func(model.Chunk)) {
	if d.finish == "" {
		return
	}
	if d.called && d.finish == pawl.FinishEndTurn {
		d.finish = pawl.FinishToolUse
	}
	d.done = true
	emit(model.Chunk{Kind: model.ChunkFinish, Finish: d.finish})
}

func (d *decoder) part(p *part, emit func(model.Chunk)) error {
	switch {
	case p.Call != nil:
		if p.Call.Name == "" {
			return &model.ProviderError{Kind: pawl.ErrorMalformed, Message: "tool call without a name"}
		}
		c := pawl.ToolCall{ID: pawl.CallID(p.Call.ID), Name: p.Call.Name, Input: p.Call.Args}
		if c.Input == nil || string(c.Input) == "null" {
			c.Input = json.RawMessage(`{}`)
		}
		c.Signature = sealCall(p.Call.ID, p.Signature)
		d.called = true
		emit(model.Chunk{Kind: model.ChunkCall, Call: c})
	case p.Text == nil: // the provider's own tools, and future types
	case p.Thought:
		emit(model.Chunk{Kind: model.ChunkReasoning, Text: *p.Text, Signature: protocol.Seal(name, p.Signature)})
	default:
		if *p.Text != "" {
			emit(model.Chunk{Kind: model.ChunkText, Text: *p.Text})
		}
		if p.Signature != "" {
			emit(model.Chunk{Kind: model.ChunkReasoning, Signature: sealText(len(*p.Text), p.Signature)})
		}
	}
	return nil
}

func (u *usage) tokens() pawl.Usage {
	return pawl.Usage{
		Input:     u.Prompt - u.Cached,
		CacheRead: u.Cached,
		Output:    u.Candidates + u.Thoughts,
		Reasoning: u.Thoughts,
	}
}

// finishOf maps the finish reason to a finish, or to the kind of the error.
func finishOf(reason string) (pawl.Finish, pawl.ErrorKind) {
	switch reason {
	case "STOP":
		return pawl.FinishEndTurn, ""
	case "MAX_TOKENS":
		return pawl.FinishMaxTokens, ""
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return "", pawl.ErrorRefused
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE":
		return "", pawl.ErrorMalformed
	case "MISSING_THOUGHT_SIGNATURE":
		return "", pawl.ErrorInvalid
	default: // OTHER and future values: not a complete reply
		return "", pawl.ErrorServer
	}
}

func stopError(kind pawl.ErrorKind, what, reason, message string) error {
	text := what + ": " + reason
	if message != "" {
		text += ": " + message
	}
	return &model.ProviderError{Kind: kind, Message: text}
}
