package prompt

import (
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// The tokens around the texts: roles, field names, ids.
const (
	messageTokens = 4
	partTokens    = 2
	callTokens    = 16 // including its id
	resultTokens  = 12 // including its id
	toolTokens    = 12
	toolsTokens   = 350 // what providers add if there are tools
)

// The tokens of files, by their size in bytes. The real number depends on pixels or pages,
// and on the provider.
const (
	smallImage, smallImageTokens = 32 << 10, 800
	largeImage, largeImageTokens = 512 << 10, 3000
	imageTokens                  = 1600
	documentTokens               = 1500 // plus one for each documentBytes
	documentBytes                = 40
	otherTokens                  = 40 // a note that names it
	signatureBytes               = 5  // bytes per token of a signature, which contains the reasoning itself
)

// Estimate estimates how many tokens the messages have, without a provider's vocabulary: usually
// within 20% of the real count, and rather too high than too low. It reads each byte once, does
// not allocate, and is the sum of EstimateMessage.
func Estimate(messages []pawl.Message) int {
	n := 0
	for i := range messages {
		n += EstimateMessage(messages[i])
	}
	return n
}

// EstimateMessage estimates the tokens of one message; see [Estimate].
func EstimateMessage(m pawl.Message) int { return messageTokens + EstimateParts(m.Parts) }

// EstimateParts estimates the tokens of parts; see [Estimate].
func EstimateParts(parts pawl.Parts) int {
	n := 0
	for _, p := range parts {
		n += estimatePart(p)
	}
	return n
}

// EstimateTools estimates the tokens of the tools of a request; see [Estimate].
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
	case pawl.Patch: // only users see it
	}
	return 0
}

func estimateFile(f pawl.File) int {
	n := otherTokens + EstimateText(f.Name)
	switch size := len(f.Data); {
	case f.MediaType == "image/svg+xml", f.MediaType == "application/json", strings.HasPrefix(f.MediaType, "text/"):
		return n + EstimateText(f.Data) // sent as text
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
