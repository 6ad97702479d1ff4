package auth

import (
	"fmt"
	"strings"
)

// FoundKey is a provider for which there is a key.
type FoundKey struct {
	Provider string
	Origin   string
	Model    string // the ref of a suggested model; "" if none is known
}

// FoundServer is a model server on this machine.
type FoundServer struct {
	Name   string
	Models []string // refs
}

// maxFound bounds the lines for keys, and those for servers, so that the text fits on a
// screen.
const maxFound = 4

// Help returns the text for people who have not configured a model: what to set, and
// which keys and servers were found.
func Help(keys []FoundKey, servers []FoundServer) string {
	var b strings.Builder
	b.WriteString("Pawl needs a model. There are two ways to get one.\n\n")
	b.WriteString(`1. Use a provider's API key, from the environment or saved by Pawl:
     export ANTHROPIC_API_KEY=…     or OPENAI_API_KEY, GEMINI_API_KEY, …
     pawl auth login anthropic      prompts for the key and saves it

`)
	if len(keys) == 0 {
		b.WriteString("   No keys found.\n")
	} else {
		b.WriteString("   Found:\n")
	}
	var lines [][2]string
	for _, k := range keys {
		use := "--model " + k.Model
		if k.Model == "" {
			use = "--model " + k.Provider + "/…"
		}
		lines = append(lines, [2]string{fmt.Sprintf("%s (%s)", k.Provider, k.Origin), use})
	}
	writeFound(&b, lines, "more (see `pawl auth list`)")

	b.WriteString("\n2. Use a model on this machine:\n")
	if len(servers) == 0 {
		b.WriteString("   No model servers found. Start Ollama, LM Studio, llama.cpp or vLLM.\n")
	} else {
		b.WriteString("   Found:\n")
	}
	lines = nil
	for _, s := range servers {
		use := "running, no models yet"
		if len(s.Models) > 0 {
			use = "--model " + s.Models[0]
		}
		if more := len(s.Models) - 1; more > 0 {
			use += fmt.Sprintf(" (and %d more)", more)
		}
		lines = append(lines, [2]string{s.Name, use})
	}
	writeFound(&b, lines, "more (see `pawl models --local`)")

	fmt.Fprintf(&b, "\nThen try it: pawl run --model %s \"say hello\"\n", example(keys, servers))
	b.WriteString("Make it the default: pawl config set model MODEL\nList all models: pawl models. Try Pawl without one: pawl --model demo\n")
	return b.String()
}

// writeFound writes the lines in two columns, and how many are left out.
func writeFound(b *strings.Builder, lines [][2]string, more string) {
	shown := lines[:min(maxFound, len(lines))]
	width := 0
	for _, l := range shown {
		width = max(width, len(l[0]))
	}
	for _, l := range shown {
		fmt.Fprintf(b, "     %-*s  %s\n", width, l[0], l[1])
	}
	if left := len(lines) - len(shown); left > 0 {
		fmt.Fprintf(b, "     and %d %s\n", left, more)
	}
}

// example returns the model of the example command at the end of the text.
func example(keys []FoundKey, servers []FoundServer) string {
	for _, k := range keys {
		if k.Model != "" {
			return k.Model
		}
	}
	for _, s := range servers {
		if len(s.Models) > 0 {
			return s.Models[0]
		}
	}
	return "sonnet"
}
