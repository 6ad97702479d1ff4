package oracle

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"path"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/gemini"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	wire "github.com/pawl-dev/pawl/internal/model/protocol"
)

func TestGemini(t *testing.T) {
	protocol{
		name:    "gemini",
		streams: recorded(t, ":streamGenerateContent"),
		model: func(x modeltest.Exchange, url string) (model.Model, model.Request) {
			return &gemini.Client{Endpoint: wire.Endpoint{BaseURL: url}, Model: geminiModel(x), Levels: strings.HasPrefix(geminiModel(x), "gemini-3")}, model.Request{}
		},
		signature: geminiSignature,
		theirs:    byGemini,
	}.compare(t)
}

func geminiModel(x modeltest.Exchange) string {
	model, _, _ := strings.Cut(path.Base(x.URL), ":")
	return model
}

// geminiSignature says what kind of part a signature came on, and its text.
func geminiSignature(p pawl.Part) []string {
	switch p := p.(type) {
	case pawl.Reasoning:
		own := wire.Unseal("gemini", p.Signature)
		if own == "" {
			return nil
		}
		if _, signature, ok := strings.Cut(own, " "); ok { // after the length of the text that it stands on
			return []string{"text " + signature}
		}
		return []string{"thought " + own}
	case pawl.ToolCall:
		if _, signature, _ := strings.Cut(wire.Unseal("gemini", p.Signature), " "); signature != "" { // after the call's id
			return []string{"call " + signature}
		}
	default: // the others have none
	}
	return nil
}

func byGemini(ctx context.Context, x modeltest.Exchange, url string) (reply, error) {
	config := &genai.ClientConfig{Backend: genai.BackendGeminiAPI, APIKey: "key", HTTPClient: http.DefaultClient}
	if strings.Contains(x.URL, "aiplatform") { // read by other converters
		config = &genai.ClientConfig{Backend: genai.BackendVertexAI, Project: "p", Location: "us-east5", HTTPClient: http.DefaultClient}
	}
	config.HTTPOptions.BaseURL = url
	client, err := genai.NewClient(ctx, config)
	if err != nil {
		return reply{}, err
	}
	var r reply
	for event, err := range client.Models.GenerateContentStream(ctx, geminiModel(x), genai.Text("Hello."), nil) {
		if err != nil {
			return reply{}, err
		}
		if u := event.UsageMetadata; u != nil {
			r.Usage = usage{
				Input: int64(u.PromptTokenCount), Cached: int64(u.CachedContentTokenCount),
				Output: int64(u.TotalTokenCount - u.PromptTokenCount), Reasoning: int64(u.ThoughtsTokenCount),
			}
		}
		if len(event.Candidates) == 0 {
			continue
		}
		reply := event.Candidates[0]
		if reply.Content != nil {
			for _, p := range reply.Content.Parts {
				if err := r.geminiPart(p); err != nil {
					return r, err
				}
			}
		}
		if reply.FinishReason != "" {
			r.geminiFinish(reply.FinishReason)
		}
	}
	return r, nil
}

func (r *reply) geminiPart(p *genai.Part) error {
	kind := "text "
	switch {
	case p.FunctionCall != nil:
		kind = "call "
		args, err := json.Marshal(p.FunctionCall.Args)
		if err != nil {
			return err
		}
		if p.FunctionCall.Args == nil {
			args = nil
		}
		r.Calls = append(r.Calls, call{p.FunctionCall.ID, p.FunctionCall.Name, canonical(args)})
	case p.Thought:
		kind = "thought "
		r.Reasoning += p.Text
	default:
		r.Text += p.Text
	}
	if len(p.ThoughtSignature) > 0 {
		r.Signatures = append(r.Signatures, kind+base64.StdEncoding.EncodeToString(p.ThoughtSignature))
	}
	return nil
}

func (r *reply) geminiFinish(reason genai.FinishReason) {
	switch {
	case reason == genai.FinishReasonMaxTokens:
		r.Finish = pawl.FinishMaxTokens
	case reason == genai.FinishReasonStop && len(r.Calls) > 0:
		r.Finish = pawl.FinishToolUse
	case reason == genai.FinishReasonStop:
		r.Finish = pawl.FinishEndTurn
	default:
		r.Finish = pawl.Finish("unknown: " + string(reason))
	}
}
