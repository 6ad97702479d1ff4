package agent

import (
	_ "embed" // the notes
	"regexp"
	"strings"
)

// Family is a kind of models that want to be told the same about how to work.
type Family string

// The families.
const (
	FamilyAnthropic Family = "anthropic"
	FamilyGPT       Family = "gpt"
	FamilyGemini    Family = "gemini"
	FamilyOther     Family = "other" // all else: open weights, models on this machine, scripts
)

//go:embed prompts/family_anthropic.md
var anthropicNotes string

//go:embed prompts/family_gpt.md
var gptNotes string

//go:embed prompts/family_gemini.md
var geminiNotes string

//go:embed prompts/family_other.md
var otherNotes string

var familyNotes = map[Family]string{
	FamilyAnthropic: anthropicNotes, FamilyGPT: gptNotes, FamilyGemini: geminiNotes, FamilyOther: otherNotes,
}

// familyNames say what the models of a family are called, without who serves
// them. The first that matches counts: OpenAI's open weights are no GPT.
var familyNames = []struct {
	pattern *regexp.Regexp
	family  Family
}{
	{regexp.MustCompile(`^gpt-oss`), FamilyOther},
	{regexp.MustCompile(`(^|\.)claude-|^(opus|sonnet|haiku)$`), FamilyAnthropic},
	{regexp.MustCompile(`^(gpt|chatgpt|codex|o[1-9])(-|$)`), FamilyGPT},
	{regexp.MustCompile(`^gemini(-|$)|^flash$`), FamilyGemini},
}

// familyProviders serve one family only, so that a model counts by whatever name.
var familyProviders = map[string]Family{
	"anthropic": FamilyAnthropic, "openai": FamilyGPT, "azure": FamilyGPT, "gemini": FamilyGemini,
}

// FamilyOf tells the family of a model by its ref: provider/name, the same behind
// an aggregator (openrouter/anthropic/claude-…), a cloud's id
// (bedrock/us.anthropic.claude-…) or a short name such as sonnet.
func FamilyOf(ref string) Family {
	if strings.HasPrefix(ref, "script:") {
		return FamilyOther
	}
	ref = strings.ToLower(ref)
	name := ref[strings.LastIndex(ref, "/")+1:]
	for _, f := range familyNames {
		if f.pattern.MatchString(name) {
			return f.family
		}
	}
	provider, _, named := strings.Cut(ref, "/")
	if f, ok := familyProviders[provider]; ok && named {
		return f
	}
	return FamilyOther
}
