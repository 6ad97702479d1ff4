package responses

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// The events with a fragment of text.
const (
	textDelta      = "response.output_text.delta"
	summaryDelta   = "response.reasoning_summary_text.delta"
	reasoningDelta = "response.reasoning_text.delta"
	refusalDelta   = "response.refusal.delta"
)

// event is a stream event; its type determines which fields are set.
type event struct {
	Type         string          `json:"type"`
	OutputIndex  int             `json:"output_index"`
	SummaryIndex int             `json:"summary_index"`
	ContentIndex int             `json:"content_index"`
	Delta        json.RawMessage `json:"delta"` // a string in the types that matter
	Refusal      string          `json:"refusal"`
	Item         item            `json:"item"`
	Response     struct {
		Error      json.RawMessage `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage usage `json:"usage"`
	} `json:"response"`
}

// item is an output item.
type item struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Summary   json.RawMessage `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

type usage struct {
	Input        int64 `json:"input_tokens"`
	Output       int64 `json:"output_tokens"`
	InputDetails struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// decoder turns events into chunks. It emits text and reasoning as they arrive; calls, and signatures of
// reasoning, when their item is done.
type decoder struct {
	thought  thought
	thinking bool         // reasoning has arrived that is neither signed nor followed by other output
	begun    map[int]bool // calls that are not done, by output index
	called   bool
	refusal  []byte
	done     bool
}

// thought identifies a reasoning summary part.
type thought struct {
	event       string
	item, index int
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
	case textDelta, summaryDelta, reasoningDelta, refusalDelta:
		return d.grow(&e, emit)
	case "response.refusal.done":
		return refused(cmp.Or(e.Refusal, string(d.refusal)))
	case "response.output_item.added":
		d.begin(&e)
	case "response.output_item.done":
		return d.end(&e, emit)
	case "response.completed":
		return d.complete(&e, emit)
	case "response.incomplete":
		return d.incomplete(&e, emit)
	case "response.failed":
		return failed(e.Response.Error)
	case "error":
		return protocol.ErrorOf(0, data)
	default: // repeated in a completed item, the provider's own tools, and future types
	}
	return nil
}

// grow handles a fragment of the reply.
func (d *decoder) grow(e *event, emit func(model.Chunk)) error {
	var piece string
	if err := protocol.Unmarshal(e.Delta, &piece); err != nil || piece == "" {
		return err
	}
	switch e.Type {
	case textDelta:
		d.thinking = false
		emit(model.Chunk{Kind: model.ChunkText, Text: piece})
	case summaryDelta:
		d.think(thought{e.Type, e.OutputIndex, e.SummaryIndex}, piece, emit)
	case reasoningDelta:
		d.think(thought{e.Type, e.OutputIndex, e.ContentIndex}, piece, emit)
	case refusalDelta:
		d.refusal = append(d.refusal, piece...)
	}
	return nil
}

// think emits a fragment of reasoning. It separates two parts by a blank line.
func (d *decoder) think(where thought, piece string, emit func(model.Chunk)) {
	if d.thinking && d.thought != where {
		piece = "\n\n" + piece
	}
	d.thinking, d.thought = true, where
	emit(model.Chunk{Kind: model.ChunkReasoning, Text: piece})
}

func (d *decoder) begin(e *event) {
	if e.Item.Type == "function_call" {
		if d.begun == nil {
			d.begun = map[int]bool{}
		}
		d.begun[e.OutputIndex] = true
	}
}

// end handles a completed item. It ignores one that was cut off by the end of the reply.
func (d *decoder) end(e *event, emit func(model.Chunk)) error {
	it := &e.Item
	switch {
	case it.Status == "incomplete":
	case it.Type == "reasoning" && it.Encrypted != "":
		if it.Summary == nil {
			it.Summary = json.RawMessage(`[]`)
		}
		kept, err := protocol.Marshal(reasoning{it.Type, it.ID, it.Summary, it.Encrypted})
		if err != nil {
			return err
		}
		d.thinking = false
		emit(model.Chunk{Kind: model.ChunkReasoning, Signature: protocol.Seal(name, string(kept))})
	case it.Type == "function_call":
		delete(d.begun, e.OutputIndex)
		if it.Name == "" {
			return malformed("tool call without a name: %s", it.Arguments)
		}
		d.called, d.thinking = true, false
		input := json.RawMessage(cmp.Or(it.Arguments, "{}"))
		emit(model.Chunk{Kind: model.ChunkCall, Call: pawl.ToolCall{ID: pawl.CallID(it.CallID), Name: it.Name, Input: input}})
	}
	return nil
}

func (d *decoder) complete(e *event, emit func(model.Chunk)) error {
	if len(d.refusal) > 0 {
		return refused(string(d.refusal))
	}
	if len(d.begun) > 0 {
		return malformed("%d tool calls are incomplete", len(d.begun))
	}
	finish := pawl.FinishEndTurn
	if d.called {
		finish = pawl.FinishToolUse
	}
	d.finish(e.Response.Usage, finish, emit)
	return nil
}

func (d *decoder) incomplete(e *event, emit func(model.Chunk)) error {
	switch reason := e.Response.Incomplete.Reason; reason {
	case "max_output_tokens":
		d.finish(e.Response.Usage, pawl.FinishMaxTokens, emit)
		return nil
	case "content_filter":
		return refused("the provider's content filter stopped the reply")
	default:
		return &model.ProviderError{Kind: pawl.ErrorServer, Message: fmt.Sprintf("the reply is incomplete: %s", cmp.Or(reason, "no reason given"))}
	}
}

func (d *decoder) finish(u usage, finish pawl.Finish, emit func(model.Chunk)) {
	d.done = true
	cached, written := u.InputDetails.Cached, u.InputDetails.Written
	emit(model.Chunk{Kind: model.ChunkUsage, Usage: pawl.Usage{
		Input:      max(u.Input-cached-written, 0),
		CacheRead:  cached,
		CacheWrite: written,
		Output:     u.Output,
		Reasoning:  u.OutputDetails.Reasoning,
	}})
	emit(model.Chunk{Kind: model.ChunkFinish, Finish: finish})
}

func refused(why string) error {
	return &model.ProviderError{Kind: pawl.ErrorRefused, Message: cmp.Or(why, "the model refused to answer")}
}

func malformed(format string, args ...any) error {
	return &model.ProviderError{Kind: pawl.ErrorMalformed, Message: fmt.Sprintf(format, args...)}
}

// failed returns the error of a reply that the provider aborted.
func failed(why json.RawMessage) error {
	body, err := protocol.Marshal(map[string]json.RawMessage{"error": why})
	if err != nil {
		return err
	}
	return protocol.ErrorOf(0, body)
}
