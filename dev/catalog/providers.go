package main

import (
	"cmp"
	"fmt"
	"slices"

	"charm.land/catwalk/pkg/catwalk"
)

// provider is a provider as the file has it.
type provider struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Protocol   string   `json:"protocol"`
	BaseURL    string   `json:"base_url,omitempty"`
	BaseURLEnv string   `json:"base_url_env,omitempty"`
	EnvKeys    []string `json:"env_keys,omitempty"`
	Dialect    string   `json:"dialect,omitempty"`
	Local      bool     `json:"local,omitempty"`
	Default    string   `json:"default,omitempty"`
	Small      string   `json:"small,omitempty"`

	also []catwalk.InferenceProvider // further ones of the source that are the same to us
}

// providers are those we speak to, in the order in which people see them.
// Left out are those that need a sign-in of their own, speak several protocols
// behind one address, or whose prices in the source cannot be right.
var providers = []provider{
	{ID: "anthropic", Protocol: "anthropic", BaseURL: "https://api.anthropic.com", EnvKeys: []string{"ANTHROPIC_API_KEY"}},
	{ID: "openai", Protocol: "responses", BaseURL: "https://api.openai.com/v1", EnvKeys: []string{"OPENAI_API_KEY"}},
	{ID: "gemini", Protocol: "gemini", BaseURL: "https://generativelanguage.googleapis.com", EnvKeys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}},
	{ID: "openrouter", Protocol: "chat", BaseURL: "https://openrouter.ai/api/v1", EnvKeys: []string{"OPENROUTER_API_KEY"}, Dialect: "openrouter"},
	{ID: "bedrock", Name: "AWS Bedrock", Protocol: "bedrock", EnvKeys: []string{"AWS_BEARER_TOKEN_BEDROCK"}, also: []catwalk.InferenceProvider{"bedrock-europe"}},
	{ID: "vertexai", Protocol: "vertex"},
	{ID: "azure", Protocol: "responses", BaseURLEnv: "AZURE_OPENAI_BASE_URL", EnvKeys: []string{"AZURE_OPENAI_API_KEY"}, Dialect: "azure"},
	{ID: "xai", Protocol: "chat", BaseURL: "https://api.x.ai/v1", EnvKeys: []string{"XAI_API_KEY"}, Dialect: "xai"},
	{ID: "deepseek", Protocol: "chat", BaseURL: "https://api.deepseek.com/v1", EnvKeys: []string{"DEEPSEEK_API_KEY"}, Dialect: "deepseek"},
	{ID: "groq", Protocol: "chat", BaseURL: "https://api.groq.com/openai/v1", EnvKeys: []string{"GROQ_API_KEY"}, Dialect: "groq"},
	{ID: "zai", Protocol: "chat", BaseURL: "https://api.z.ai/api/coding/paas/v4", EnvKeys: []string{"ZAI_API_KEY"}, Dialect: "zai"},
	{ID: "zhipu", Protocol: "chat", BaseURL: "https://open.bigmodel.cn/api/paas/v4", EnvKeys: []string{"ZHIPU_API_KEY"}, Dialect: "zai"},
	{ID: "moonshot", Protocol: "chat", BaseURL: "https://api.moonshot.ai/v1", EnvKeys: []string{"MOONSHOT_API_KEY"}, Dialect: "moonshot"},
	{ID: "kimi-coding", Protocol: "anthropic", BaseURL: "https://api.kimi.com/coding", EnvKeys: []string{"KIMI_CODING_API_KEY"}},
	{ID: "minimax", Protocol: "anthropic", BaseURL: "https://api.minimax.io/anthropic", EnvKeys: []string{"MINIMAX_API_KEY"}},
	{ID: "alibaba-singapore", Protocol: "chat", BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", EnvKeys: []string{"ALIBABA_SINGAPORE_API_KEY", "DASHSCOPE_API_KEY"}},
	{ID: "huggingface", Protocol: "chat", BaseURL: "https://router.huggingface.co/v1", EnvKeys: []string{"HF_TOKEN"}, Dialect: "huggingface"},
	{ID: "cerebras", Protocol: "chat", BaseURL: "https://api.cerebras.ai/v1", EnvKeys: []string{"CEREBRAS_API_KEY"}},
	{ID: "fireworks", Protocol: "chat", BaseURL: "https://api.fireworks.ai/inference/v1", EnvKeys: []string{"FIREWORKS_API_KEY"}},
	{ID: "baseten", Protocol: "chat", BaseURL: "https://inference.baseten.co/v1", EnvKeys: []string{"BASETEN_API_KEY"}},
	{ID: "nebius", Protocol: "chat", BaseURL: "https://api.tokenfactory.nebius.com/v1", EnvKeys: []string{"NEBIUS_API_KEY"}},
	{ID: "scaleway", Protocol: "chat", BaseURL: "https://api.scaleway.ai/v1", EnvKeys: []string{"SCW_SECRET_KEY"}},
	{ID: "vercel", Protocol: "chat", BaseURL: "https://ai-gateway.vercel.sh/v1", EnvKeys: []string{"AI_GATEWAY_API_KEY", "VERCEL_API_KEY"}, Dialect: "vercel"},

	{ID: "ollama", Name: "Ollama", Protocol: "chat", BaseURL: "http://127.0.0.1:11434/v1", Dialect: "ollama", Local: true},
	{ID: "lmstudio", Name: "LM Studio", Protocol: "chat", BaseURL: "http://127.0.0.1:1234/v1", Dialect: "lmstudio", Local: true},
	{ID: "llamacpp", Name: "llama.cpp", Protocol: "chat", BaseURL: "http://127.0.0.1:8080/v1", Dialect: "llamacpp", Local: true},
	{ID: "vllm", Name: "vLLM", Protocol: "chat", BaseURL: "http://127.0.0.1:8000/v1", Dialect: "vllm", Local: true},
	{ID: "custom", Name: "OpenAI-compatible server", Protocol: "chat", EnvKeys: []string{"PAWL_CUSTOM_API_KEY"}, Local: true},
}

// build converts the source to the data of the file.
func build(source []catwalk.Provider) (data, error) {
	find := func(id catwalk.InferenceProvider) (catwalk.Provider, error) {
		i := slices.IndexFunc(source, func(p catwalk.Provider) bool { return p.ID == id })
		if i < 0 {
			return catwalk.Provider{}, fmt.Errorf("the source has no provider %q", id)
		}
		return source[i], nil
	}
	var d data
	for _, p := range providers {
		if p.Local {
			d.Providers = append(d.Providers, p)
			continue
		}
		from, err := find(catwalk.InferenceProvider(p.ID))
		if err != nil {
			return d, err
		}
		p.Name = cmp.Or(p.Name, from.Name)
		p.Default = refOf(p.ID, from.DefaultLargeModelID)
		p.Small = refOf(p.ID, from.DefaultSmallModelID)
		d.Providers = append(d.Providers, p)
		models := from.Models
		for _, id := range p.also {
			more, err := find(id)
			if err != nil {
				return d, err
			}
			models = append(slices.Clip(models), more.Models...)
		}
		for _, m := range models {
			d.Models = append(d.Models, modelOf(p, m))
		}
	}
	return d, nil
}
