package openaichat

// Dialect is how a provider's protocol differs from the plain one, which every
// server takes: that is the zero value.
type Dialect struct {
	SystemRole          string // of the system prompt; "" means system
	MaxCompletionTokens bool   // the reply is bounded by max_completion_tokens, not by max_tokens
	Effort              Effort
	Reasoning           Reasoning
	Schema              Schema
	ParallelCalls       bool   // several calls in a reply have to be asked for
	Prefill             bool   // goes on where a last message of the assistant's stops
	Marked              string // models whose name begins so want Anthropic's cache marks; "" means none
}

// Effort says how the effort is asked for.
type Effort int

// The ways to ask for effort.
const (
	EffortField     Effort = iota // reasoning_effort
	EffortReasoning               // reasoning: {effort}
	EffortThinking                // thinking: {type: enabled}: there is one effort only
)

// Reasoning says in which field an assistant's message brings its reasoning back.
type Reasoning int

// The ways to bring reasoning back.
const (
	ReasoningDropped Reasoning = iota
	ReasoningContent           // reasoning_content; a message with calls and without it is refused
	ReasoningText              // reasoning
	ReasoningDetails           // reasoning_details, as they came
)

// Schema says how a reply of a given schema is asked for.
type Schema int

// The ways to ask for a schema.
const (
	SchemaStrict Schema = iota // json_schema, held to the letter
	SchemaLoose                // json_schema, as a wish
	SchemaTold                 // json_object, and the schema in words
)

// Dialects are the known ones, by provider.
var Dialects = map[string]Dialect{
	"openai":      {SystemRole: "developer", MaxCompletionTokens: true},
	"azure":       {MaxCompletionTokens: true},
	"openrouter":  {Effort: EffortReasoning, Reasoning: ReasoningDetails, Prefill: true, Marked: "anthropic/"},
	"vercel":      {Effort: EffortReasoning, Reasoning: ReasoningDetails, Marked: "anthropic/"},
	"xai":         {MaxCompletionTokens: true},
	"groq":        {MaxCompletionTokens: true, Schema: SchemaLoose},
	"deepseek":    {Reasoning: ReasoningContent, Schema: SchemaTold},
	"zai":         {Effort: EffortThinking, Reasoning: ReasoningContent, Schema: SchemaTold},
	"moonshot":    {Reasoning: ReasoningContent},
	"huggingface": {Schema: SchemaLoose},
	"ollama":      {Reasoning: ReasoningText, Prefill: true},
	"llamacpp":    {Reasoning: ReasoningContent, ParallelCalls: true},
	"lmstudio":    {},
	"vllm":        {Reasoning: ReasoningText},
}
