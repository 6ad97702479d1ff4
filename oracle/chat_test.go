package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/model/openaichat"
	wire "github.com/pawl-dev/pawl/internal/model/protocol"
)

func TestChat(t *testing.T) {
	protocol{
		name:    "chat",
		streams: recorded(t, "/chat/completions"),
		model: func(x modeltest.Exchange, url string) (model.Model, model.Request) {
			return &openaichat.Client{Endpoint: wire.Endpoint{BaseURL: url}, Model: "m", Dialect: openaichat.Dialects[provider(x)]}, model.Request{}
		},
		signature: chatSignature,
		theirs:    byChat,
		known: []difference{
			{"*/xai-*", "usage.output", "xAI counts reasoning in total_tokens only; the SDK shows completion_tokens, we add what is paid for"},
			{"TestVercel*/gemini-*", "usage.output", "Vercel counts Gemini's reasoning in its detail only; the SDK shows completion_tokens, we add what is paid for"},
			{"*/avian-kimi", "error", "each chunk has an id of its own, which the SDK's accumulator refuses"},
		},
	}.compare(t)
}

// provider returns whose dialect a recording is in; "" for one we know nothing of.
func provider(x modeltest.Exchange) string {
	for part, name := range map[string]string{
		"openrouter.ai": "openrouter", "vercel.sh": "vercel", "azure.com": "azure", "api.openai.com": "openai",
		"api.x.ai": "xai", "groq.com": "groq", "z.ai": "zai", "huggingface.co": "huggingface", "localhost": "llamacpp",
	} {
		if strings.Contains(x.URL, part) {
			return name
		}
	}
	return ""
}

// detail is a piece of reasoning as gateways pass it on.
type detail struct {
	Signature string `json:"signature"`
	Data      string `json:"data"`
	Text      string `json:"text"`
	Summary   string `json:"summary"`
}

// chatSignature returns the signatures and the hidden thoughts of the details that a thought was sealed with.
func chatSignature(p pawl.Part) []string {
	r, ok := p.(pawl.Reasoning)
	if !ok || r.Signature == "" {
		return nil
	}
	var details []detail
	if err := json.Unmarshal([]byte(wire.Unseal("chat", r.Signature)), &details); err != nil {
		return []string{err.Error()}
	}
	return sealsOf(details)
}

func sealsOf(details []detail) []string {
	var seals []string
	for _, d := range details {
		if seal := d.Signature + d.Data; seal != "" {
			seals = append(seals, seal)
		}
	}
	return seals
}

func byChat(ctx context.Context, x modeltest.Exchange, url string) (reply, error) {
	client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("key"), option.WithMaxRetries(0))
	stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello.")}})
	defer stream.Close()
	var r reply
	var whole openai.ChatCompletionAccumulator
	for stream.Next() {
		chunk := stream.Current()
		if whole.ID != "" && chunk.ID != whole.ID {
			r.Err = "a chunk has an id of its own" // which the accumulator refuses
			chunk.ID = whole.ID
		}
		if !whole.AddChunk(chunk) {
			return r, errors.New("the accumulator refused a chunk")
		}
		if chunk.JSON.Usage.Valid() { // each is a total, where a server sends more than one; the accumulator adds them up
			r.Usage = chatUsage(chunk.Usage)
		}
		for _, c := range chunk.Choices {
			if err := r.chatExtras(c.Delta.JSON.ExtraFields, provider(x)); err != nil {
				return reply{}, err
			}
		}
	}
	if err := stream.Err(); err != nil {
		return reply{}, err
	}
	if len(whole.Choices) != 1 {
		return reply{}, errors.New("not one choice")
	}
	answer := whole.Choices[0]
	r.Text = answer.Message.Content
	for _, c := range answer.Message.ToolCalls {
		r.Calls = append(r.Calls, call{c.ID, c.Function.Name, canonical([]byte(c.Function.Arguments))})
	}
	switch answer.FinishReason {
	case "stop":
		r.Finish = pawl.FinishEndTurn
	case "length":
		r.Finish = pawl.FinishMaxTokens
	case "tool_calls":
		r.Finish = pawl.FinishToolUse
	default:
		r.Finish = pawl.Finish("unknown: " + answer.FinishReason)
	}
	return r, nil
}

// chatExtras takes in what the protocol knows nothing of and the SDK passes on as it came.
func (r *reply) chatExtras(extras map[string]respjson.Field, provider string) error {
	var content, reasoning string
	var details []detail
	for key, to := range map[string]any{"reasoning_content": &content, "reasoning": &reasoning, "reasoning_details": &details} {
		if raw := extras[key].Raw(); raw != "" {
			if err := json.Unmarshal([]byte(raw), to); err != nil {
				return err
			}
		}
	}
	switch {
	case content != "":
		r.Reasoning += content
	case reasoning != "":
		r.Reasoning += reasoning
	default:
		for _, d := range details {
			r.Reasoning += d.Text + d.Summary
		}
	}
	if provider == "openrouter" || provider == "vercel" { // the others do not want them back
		r.Signatures = append(r.Signatures, sealsOf(details)...)
	}
	return nil
}

func chatUsage(u openai.CompletionUsage) usage {
	return usage{
		Input: u.PromptTokens, Cached: u.PromptTokensDetails.CachedTokens, Written: u.PromptTokensDetails.CacheWriteTokens,
		Output: u.CompletionTokens, Reasoning: u.CompletionTokensDetails.ReasoningTokens,
	}
}
