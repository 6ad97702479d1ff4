package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/prompt"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Limits of the transcript that the compaction agent summarizes.
const (
	transcriptPercent = 75     // percent of the tokens of a request
	transcriptBlind   = 60_000 // tokens, if the context window is unknown
	instructionBytes  = 4000   // bytes of the user's instructions
)

// summarize has the compaction agent summarize the older part of the conversation. The usage
// is returned with an error too.
func (s *Stepper) summarize(ctx context.Context, j *journal, ref string, budget prompt.Budget, d division, instructions string) (string, pawl.ModelUsage, error) {
	m, err := s.Model(ref)
	if err != nil {
		return "", pawl.ModelUsage{}, err
	}
	maxTokens := min(transcriptBlind, d.before/2)
	if budget.Input > 0 {
		maxTokens = budget.Input * transcriptPercent / 100
	}
	def := hidden[model.AgentCompaction]
	ask := "Write the summary now, as instructed."
	if instructions != "" {
		ask = fmt.Sprintf("Write the summary now, as instructed. The user adds:\n\n%.*s", instructionBytes, instructions)
	}
	text, spent, err := readText(ctx, m, ref, model.Request{
		Session: j.id, Parent: j.history.Created().Parent, ParentCall: j.history.Created().ParentCall, Agent: def.Name, Replies: j.history.Compactions(), System: def.Prompt,
		Messages: []pawl.Message{{Seq: j.history.Head(), Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{
			Text: "<transcript>\n" + prompt.Transcript(d.messages[:d.from], maxTokens) + "</transcript>\n\n" + ask,
		}}}},
	})
	text = sanitize.Unhidden(text) // it may quote a tool result
	return text, spent, err
}

// readText makes a model call whose reply is only text, and returns the text and the usage.
func readText(ctx context.Context, m model.Model, ref string, req model.Request) (string, pawl.ModelUsage, error) {
	var text strings.Builder
	var finish pawl.Finish
	usage, usedModel := pawl.Usage{}, ref
	var failed error
	for c, err := range m.Stream(ctx, req) {
		if err != nil {
			failed = err
			break
		}
		switch c.Kind {
		case model.ChunkText:
			text.WriteString(c.Text)
		case model.ChunkUsage:
			usage = c.Usage
		case model.ChunkFinish:
			finish = c.Finish
		case model.ChunkRetry:
			text.Reset()
			usage, usedModel = pawl.Usage{}, c.Retry.Model
		case model.ChunkReasoning, model.ChunkCall, model.ChunkNotice:
		}
	}
	reply := strings.TrimSpace(text.String())
	switch {
	case failed != nil:
	case ctx.Err() != nil && finish == "":
		failed = ctx.Err()
	case finish == "":
		failed = errors.New("the model's reply was cut off")
	case reply == "":
		failed = errors.New("the model's reply is empty")
	}
	spent := pawl.ModelUsage{Model: usedModel, Usage: usage}
	if failed != nil && usage == (pawl.Usage{}) {
		spent = pawl.ModelUsage{}
	}
	return reply, spent, failed
}
