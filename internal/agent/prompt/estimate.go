package prompt

import (
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// What stands around a text costs too: roles, names of fields, ids.
const (
	messageTokens = 4
	partTokens    = 2
	callTokens    = 16 // its id among others
	resultTokens  = 12 // likewise
	toolTokens    = 12
	toolsTokens   = 350 // what providers themselves say about tools before the first
)

// Files, by their size: how many tokens one really takes depends on its pixels
// or pages, and on the provider.
const (
	smallImage, smallImageTokens = 32 << 10, 800
	largeImage, largeImageTokens = 512 << 10, 3000
	imageTokens                  = 1600
	documentTokens               = 1500 // and one for each
	documentBytes                = 40
	otherTokens                  = 40 // a word on what it is
	signatureBytes               = 5  // of a seal, which holds the thought itself, for each token
)

// Estimate returns how many tokens the messages take, by a rule that knows no
// provider's vocabulary: usually within a fifth of the truth, and rather too
// much than too little. It reads each byte once, allocates nothing, and is the
// sum over the messages.
func Estimate(messages []pawl.Message) int {
	n := 0
	for i := range messages {
		n += EstimateMessage(messages[i])
	}
	return n
}

// EstimateMessage returns the tokens of one message; see [Estimate].
func EstimateMessage(m pawl.Message) int { return messageTokens + EstimateParts(m.Parts) }

// EstimateParts returns the tokens of parts; see [Estimate].
func EstimateParts(parts pawl.Parts) int {
	n := 0
	for _, p := range parts {
		n += estimatePart(p)
	}
	return n
}

// EstimateTools returns the tokens that the tools of a request take; see [Estimate].
func EstimateTools(tools []toolapi.Spec) int {
	n := 0
	if len(tools) > 0 {
		n = toolsTokens
	}
	for _, t := range tools {
		n += toolTokens + EstimateText(t.Name) + EstimateText(t.Description) + EstimateText(t.Schema)
	}
	return n
}

func estimatePart(part pawl.Part) int {
	switch p := part.(type) {
	case pawl.Text:
		return partTokens + EstimateText(p.Text)
	case pawl.Reasoning:
		return partTokens + max(EstimateText(p.Text), len(p.Signature)/signatureBytes)
	case pawl.ToolCall:
		return callTokens + EstimateText(p.Name) + EstimateText(p.Input) + len(p.Signature)/signatureBytes
	case pawl.ToolResult:
		n := resultTokens + EstimateText(p.Content)
		for _, f := range p.Files {
			n += estimateFile(f)
		}
		return n
	case pawl.File:
		return estimateFile(p)
	case pawl.Patch: // for people only
	}
	return 0
}

func estimateFile(f pawl.File) int {
	n := otherTokens + EstimateText(f.Name)
	switch size := len(f.Data); {
	case f.MediaType == "image/svg+xml", f.MediaType == "application/json", strings.HasPrefix(f.MediaType, "text/"):
		return n + EstimateText(f.Data) // goes as text
	case f.MediaType == "application/pdf":
		return n + documentTokens + size/documentBytes
	case !strings.HasPrefix(f.MediaType, "image/"):
		return n
	case size <= smallImage:
		return n + smallImageTokens
	case size > largeImage:
		return n + largeImageTokens
	default:
		return n + imageTokens
	}
}
