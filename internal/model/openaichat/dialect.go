package openaichat

// Dialect describes how a provider differs from the basic API that every server supports, which is the zero
// value.
type Dialect struct {
	SystemRole          string // role of the system prompt; "" means system
	MaxCompletionTokens bool   // limit the reply by max_completion_tokens instead of max_tokens
	Effort              Effort
	Reasoning           Reasoning
	Schema              Schema
	ParallelCalls       bool   // several calls in a reply must be requested
	Prefill             bool   // continues a final assistant message
	Marked              string // prefix of the models that take Anthropic's cache breakpoints; "" means none
}

// Effort is the way to request a reasoning effort.
type Effort int

// The ways to request an effort.
const (
	EffortField     Effort = iota // reasoning_effort
	EffortReasoning               // reasoning: {effort}
	EffortThinking                // thinking: {type: enabled}: there is only one effort
)

// Reasoning is the field of an assistant message that returns its reasoning to the model.
type Reasoning int

// The ways to return reasoning.
const (
	ReasoningDropped Reasoning = iota
	ReasoningContent           // reasoning_content; required in a message with calls
	ReasoningText              // reasoning
	ReasoningDetails           // reasoning_details, unchanged
)

// Schema is the way to request a reply with a schema.
type Schema int

// The ways to request a schema.
const (
	SchemaStrict   Schema = iota // json_schema, strictly enforced
	SchemaLoose                  // json_schema, not enforced
	SchemaInPrompt               // json_object, and the schema in the prompt
)

// Dialects are the known dialects, by provider.
var Dialects = map[string]Dialect{
	"openai":      {SystemRole: "developer", MaxCompletionTokens: true},
	"azure":       {MaxCompletionTokens: true},
	"openrouter":  {Effort: EffortReasoning, Reasoning: ReasoningDetails, Prefill: true, Marked: "anthropic/"},
	"vercel":      {Effort: EffortReasoning, Reasoning: ReasoningDetails, Marked: "anthropic/"},
	"xai":         {MaxCompletionTokens: true},
	"groq":        {MaxCompletionTokens: true, Schema: SchemaLoose},
	"deepseek":    {Reasoning: ReasoningContent, Schema: SchemaInPrompt},
	"zai":         {Effort: EffortThinking, Reasoning: ReasoningContent, Schema: SchemaInPrompt},
	"moonshot":    {Reasoning: ReasoningContent},
	"huggingface": {Schema: SchemaLoose},
	"ollama":      {Reasoning: ReasoningText, Prefill: true},
	"llamacpp":    {Reasoning: ReasoningContent, ParallelCalls: true},
	"lmstudio":    {},
	"vllm":        {Reasoning: ReasoningText},
}
