package auth

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// TestHelp: the screens, as people see them. Each fits into 80x24.
func TestHelp(t *testing.T) {
	t.Parallel()
	var keys []FoundKey
	for _, id := range []string{"anthropic", "openai", "openrouter", "huggingface", "groq", "house"} {
		keys = append(keys, FoundKey{Provider: id, Origin: strings.ToUpper(id) + "_API_KEY", Model: id + "/some-model-4-6"})
	}
	keys[3].Model, keys[3].Origin = "", OriginKeyring
	servers := []FoundServer{
		{"Ollama", []string{"ollama/qwen3:8b", "ollama/llama3.2:latest", "ollama/gemma3"}},
		{"LM Studio", nil},
		{"vLLM", []string{"vllm/Qwen/Qwen3-32B"}},
	}
	for name, text := range map[string]string{
		"nothing": Help(nil, nil),
		"key":     Help(keys[:1], nil),
		"local":   Help(nil, servers[1:]),
		"much":    Help(keys, append(servers, servers...)),
	} {
		t.Run(name, func(t *testing.T) {
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			if len(lines) > 24 {
				t.Errorf("it has %d lines", len(lines))
			}
			for _, l := range lines {
				if utf8.RuneCountInString(l) > 80 {
					t.Errorf("too wide: %s", l)
				}
			}
			file := filepath.Join("testdata", "help_"+name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), text); diff != "" {
				t.Errorf("(-want, +got):\n%s", diff)
			}
		})
	}
}
