package agent

import (
	_ "embed" // for the notes
	"regexp"
	"strings"
)

// Family is a group of models that need the same notes in their system prompt.
type Family string

// The families.
const (
	FamilyAnthropic Family = "anthropic"
	FamilyGPT       Family = "gpt"
	FamilyGemini    Family = "gemini"
	FamilyOther     Family = "other" // open-weight and local models, scripts
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

// familyNames matches the names of models, without their provider. The first match counts:
// OpenAI's open-weight models are not FamilyGPT.
var familyNames = []struct {
	pattern *regexp.Regexp
	family  Family
}{
	{regexp.MustCompile(`^gpt-oss`), FamilyOther},
	{regexp.MustCompile(`(^|\.)claude-|^(opus|sonnet|haiku)$`), FamilyAnthropic},
	{regexp.MustCompile(`^(gpt|chatgpt|codex|o[1-9])(-|$)`), FamilyGPT},
	{regexp.MustCompile(`^gemini(-|$)|^flash$`), FamilyGemini},
}

// familyProviders are the providers of a single family: any other name is of that family.
var familyProviders = map[string]Family{
	"anthropic": FamilyAnthropic, "openai": FamilyGPT, "azure": FamilyGPT, "gemini": FamilyGemini,
}

// FamilyOf returns the family of a model by its ref: provider/name, the same through an
// aggregator (openrouter/anthropic/claude-…), a cloud's id (bedrock/us.anthropic.claude-…)
// or a short name such as sonnet.
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
