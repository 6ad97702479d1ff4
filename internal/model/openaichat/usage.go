package openaichat

import "github.com/pawl-dev/pawl"

// usage is the token usage of a reply, in the fields of various servers.
type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`

	PromptDetails struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`

	Cached  int64 `json:"cached_tokens"`               // Moonshot
	Hit     int64 `json:"prompt_cache_hit_tokens"`     // DeepSeek
	Written int64 `json:"cache_creation_input_tokens"` // Vercel
}

// total returns the usage in Pawl's terms: prompt tokens include those of the cache, and completion tokens
// should include reasoning.
func (u *usage) total() pawl.Usage {
	cached := max(u.PromptDetails.Cached, u.Cached, u.Hit)
	written := max(u.PromptDetails.Written, u.Written)
	return pawl.Usage{
		Input:      max(u.Prompt-cached-written, 0),
		Output:     u.output(),
		Reasoning:  u.CompletionDetails.Reasoning,
		CacheRead:  cached,
		CacheWrite: written,
	}
}

// output returns the billed output tokens. xAI includes reasoning only in the total; Vercel with Gemini reports
// it only separately.
func (u *usage) output() int64 {
	written := max(u.Completion, u.Total-u.Prompt)
	if u.CompletionDetails.Reasoning > written {
		written += u.CompletionDetails.Reasoning
	}
	return written
}
