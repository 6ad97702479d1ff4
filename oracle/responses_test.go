package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	sdk "github.com/openai/openai-go/v3/responses"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	wire "github.com/pawl-dev/pawl/internal/model/protocol"
	"github.com/pawl-dev/pawl/internal/model/responses"
)

func TestResponses(t *testing.T) {
	protocol{
		name:    "responses",
		streams: recorded(t, "/responses"),
		model: func(_ modeltest.Exchange, url string) (model.Model, model.Request) {
			return &responses.Client{Endpoint: wire.Endpoint{BaseURL: url}, Model: "gpt"}, model.Request{}
		},
		signature: responsesSignature,
		theirs:    byResponses,
	}.compare(t)
}

// responsesSignature returns the id and the hidden content of the item that a thought came as.
func responsesSignature(p pawl.Part) []string {
	r, ok := p.(pawl.Reasoning)
	if !ok || r.Signature == "" {
		return nil
	}
	var item struct {
		ID        string `json:"id"`
		Encrypted string `json:"encrypted_content"`
	}
	if err := json.Unmarshal([]byte(wire.Unseal("responses", r.Signature)), &item); err != nil {
		return []string{err.Error()}
	}
	return []string{item.ID + " " + item.Encrypted}
}

// byResponses reads the whole response that a stream ends with, which our
// client never looks at: it puts the reply together from the pieces. Only a
// thought's hidden content is the piece's: the provider encrypts it anew for
// each event that shows it.
func byResponses(ctx context.Context, _ modeltest.Exchange, url string) (reply, error) {
	client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("key"), option.WithMaxRetries(0))
	stream := client.Responses.NewStreaming(ctx, sdk.ResponseNewParams{Model: "gpt", Input: sdk.ResponseNewParamsInputUnion{OfString: openai.String("Hello.")}})
	defer stream.Close()
	var whole *sdk.Response
	var signatures []string
	for stream.Next() {
		switch e := stream.Current().AsAny().(type) {
		case sdk.ResponseOutputItemDoneEvent:
			if it, ok := e.Item.AsAny().(sdk.ResponseReasoningItem); ok && it.EncryptedContent != "" {
				signatures = append(signatures, it.ID+" "+it.EncryptedContent)
			}
		case sdk.ResponseCompletedEvent:
			whole = &e.Response
		case sdk.ResponseIncompleteEvent:
			whole = &e.Response
		case sdk.ResponseErrorEvent:
			return reply{}, errors.New(e.Message)
		}
	}
	switch err := stream.Err(); {
	case err != nil:
		return reply{}, err
	case whole == nil:
		return reply{}, errors.New("the stream has no whole response")
	}
	r := reply{Text: whole.OutputText(), Signatures: signatures, Finish: pawl.FinishEndTurn}
	for _, item := range whole.Output {
		switch it := item.AsAny().(type) {
		case sdk.ResponseReasoningItem:
			var thoughts []string
			for _, s := range it.Summary {
				thoughts = append(thoughts, s.Text)
			}
			r.Reasoning += strings.Join(thoughts, "\n\n")
		case sdk.ResponseFunctionToolCall:
			r.Calls = append(r.Calls, call{it.CallID, it.Name, canonical([]byte(it.Arguments))})
			r.Finish = pawl.FinishToolUse
		}
	}
	switch whole.Status {
	case sdk.ResponseStatusCompleted:
	case sdk.ResponseStatusIncomplete:
		r.Finish = pawl.FinishMaxTokens
	default:
		r.Finish = pawl.Finish("unknown: " + string(whole.Status))
	}
	u := whole.Usage
	r.Usage = usage{
		Input: u.InputTokens, Cached: u.InputTokensDetails.CachedTokens, Written: u.InputTokensDetails.CacheWriteTokens,
		Output: u.OutputTokens, Reasoning: u.OutputTokensDetails.ReasoningTokens,
	}
	return r, nil
}
