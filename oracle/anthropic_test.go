package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/bedrock"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/anthropic"
	ours "github.com/pawl-dev/pawl/internal/model/bedrock"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	wire "github.com/pawl-dev/pawl/internal/model/protocol"
)

func TestAnthropic(t *testing.T) {
	protocol{
		name:    "anthropic",
		streams: recorded(t, "api.anthropic.com/v1/messages", ":streamRawPredict"),
		model: func(x modeltest.Exchange, url string) (model.Model, model.Request) {
			req := model.Request{}
			if forced(x) {
				req.Schema = json.RawMessage(`{}`)
			}
			return &anthropic.Client{Endpoint: wire.Endpoint{BaseURL: url}, Model: "claude"}, req
		},
		signature: anthropicSignature,
		theirs: func(ctx context.Context, x modeltest.Exchange, url string) (reply, error) {
			return byAnthropic(ctx, x, option.WithoutEnvironmentDefaults(), option.WithBaseURL(url), option.WithAPIKey("key"), option.WithMaxRetries(0))
		},
	}.compare(t)
}

// Bedrock's streams are Anthropic's events in Amazon's frames, which the SDK reads too.
func TestBedrock(t *testing.T) {
	keys := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "key"}, nil
	})
	protocol{
		name:    "bedrock",
		streams: recorded(t, "/invoke-with-response-stream"),
		model: func(_ modeltest.Exchange, url string) (model.Model, model.Request) {
			return ours.Account{Region: "us-east-1", Bearer: "key", BaseURL: url}.Claude("claude"), model.Request{}
		},
		signature: anthropicSignature,
		theirs: func(ctx context.Context, x modeltest.Exchange, url string) (reply, error) {
			return byAnthropic(ctx, x, bedrock.WithConfig(aws.Config{Region: "us-east-1", Credentials: keys}), option.WithBaseURL(url), option.WithMaxRetries(0))
		},
	}.compare(t)
}

// forced reports whether the request forced a call, whose input is then the answer.
func forced(x modeltest.Exchange) bool {
	return bytes.Contains(x.RequestBody, []byte(`"tool_choice":{"name":`))
}

// anthropicSignature names a hidden thought redacted: on both sides.
func anthropicSignature(p pawl.Part) []string {
	if r, ok := p.(pawl.Reasoning); ok && r.Signature != "" {
		return []string{wire.Unseal("anthropic", r.Signature)}
	}
	return nil
}

func byAnthropic(ctx context.Context, x modeltest.Exchange, options ...option.RequestOption) (reply, error) {
	client := sdk.NewClient(options...)
	stream := client.Messages.NewStreaming(ctx, sdk.MessageNewParams{
		Model: "claude", MaxTokens: 1, Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("Hello."))},
	})
	defer stream.Close()
	var whole sdk.Message
	for stream.Next() {
		if err := whole.Accumulate(stream.Current()); err != nil {
			return reply{}, err
		}
	}
	if err := stream.Err(); err != nil {
		return reply{}, err
	}
	var r reply
	for _, block := range whole.Content {
		switch b := block.AsAny().(type) {
		case sdk.TextBlock:
			r.Text += block.Text
		case sdk.ThinkingBlock:
			r.Reasoning += block.Thinking
			r.Signatures = append(r.Signatures, block.Signature)
		case sdk.RedactedThinkingBlock:
			r.Signatures = append(r.Signatures, "redacted:"+b.Data)
		case sdk.ToolUseBlock:
			if forced(x) {
				r.Text += string(block.Input)
				continue
			}
			r.Calls = append(r.Calls, call{b.ID, b.Name, canonical(block.Input)})
		}
	}
	u := whole.Usage
	r.Usage = usage{
		Input:  u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens,
		Cached: u.CacheReadInputTokens, Written: u.CacheCreationInputTokens,
		Output: u.OutputTokens, Reasoning: u.OutputTokensDetails.ThinkingTokens,
	}
	switch whole.StopReason {
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence, sdk.StopReasonPauseTurn:
		r.Finish = pawl.FinishEndTurn
	case sdk.StopReasonMaxTokens:
		r.Finish = pawl.FinishMaxTokens
	case sdk.StopReasonToolUse:
		r.Finish = pawl.FinishToolUse
		if forced(x) {
			r.Finish = pawl.FinishEndTurn
		}
	default:
		r.Finish = pawl.Finish("unknown: " + string(whole.StopReason))
	}
	return r, nil
}
