package oracle

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// geminiRequest is the body that the SDK writes; it has no type for it.
type geminiRequest struct {
	System   *genai.Content          `json:"systemInstruction,omitempty"`
	Tools    []*genai.Tool           `json:"tools,omitempty"`
	Config   *genai.GenerationConfig `json:"generationConfig,omitempty"`
	Contents []*genai.Content        `json:"contents"`
}

// unlike are the fields of our requests that the SDKs do not write as we do, and why; see known.
var unlike = map[string]map[string]string{
	"anthropic": {
		".stream":                        "the SDK adds it by itself",
		".anthropic_version":             "its options for Bedrock and Vertex add it",
		".messages[].content[].content*": "a result is a text or a list of blocks: the SDK knows the list only",
	},
	"openaichat": {
		".stream":                                  "the SDK adds it by itself",
		".messages[].content (null)":               "what an assistant's message with calls alone has; the SDK leaves it out",
		".messages[].cache_control.type":           "OpenRouter's and Vercel's, for Anthropic's models",
		".messages[].content[].cache_control.type": "OpenRouter's and Vercel's, for Anthropic's models",
		".messages[].reasoning":                    "vLLM's and Ollama's",
		".messages[].reasoning_content":            "DeepSeek's, Moonshot's and Z.ai's",
		".messages[].reasoning_details*":           "OpenRouter's and Vercel's",
		".reasoning.effort":                        "OpenRouter's and Vercel's",
		".thinking.type":                           "Z.ai's",
	},
	"responses": {".stream": "the SDK adds it by itself"},
	"gemini":    {},
}

// TestRequests reads our golden requests into the SDKs' own types and writes
// them back. What the SDK does not know is lost on the way.
func TestRequests(t *testing.T) {
	for name, params := range map[string]func() any{
		"anthropic":  func() any { return &anthropic.MessageNewParams{} },
		"openaichat": func() any { return &openai.ChatCompletionNewParams{} },
		"responses":  func() any { return &responses.ResponseNewParams{} },
		"gemini":     func() any { return &geminiRequest{} },
	} {
		t.Run(name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join("..", "internal", "model", name, "testdata", "*.json"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no golden request: %v", err)
			}
			seen := map[string]int{}
			for _, file := range files {
				for _, path := range lost(t, file, params()) {
					field := known(unlike[name], path)
					if field == "" {
						t.Errorf("%s: the SDK does not write %s as we do", filepath.Base(file), path)
					}
					seen[field]++
				}
			}
			for _, field := range slices.Sorted(maps.Keys(unlike[name])) {
				t.Logf("known: %s, %d times: %s", field, seen[field], unlike[name][field])
				if seen[field] == 0 {
					t.Errorf("%s is in no request, or the SDK writes it by now: take it out of the table", field)
				}
			}
			t.Logf("oracle: %d requests read (%s)", len(files), name)
		})
	}
}

var index = regexp.MustCompile(`\[\d+\]`)

// known returns the field of the table that a path is; "" for none. A field that
// ends in a star stands for all that is in it, too.
func known(table map[string]string, path string) string {
	path = index.ReplaceAllString(path, "[]")
	for field := range table {
		prefix, all := strings.CutSuffix(field, "*")
		if path == prefix || all && strings.HasPrefix(path, prefix) {
			return field
		}
	}
	return ""
}

// signature finds one: in the golden requests they are words, but the SDK wants base64.
var signature = regexp.MustCompile(`("thoughtSignature": ")([^"]*)`)

func encoded(body []byte) []byte {
	return signature.ReplaceAllFunc(body, func(found []byte) []byte {
		parts := signature.FindSubmatch(found)
		return fmt.Appendf(nil, "%s%s", parts[1], base64.StdEncoding.EncodeToString(parts[2]))
	})
}

// lost returns the paths of a request that are not the same after a way through
// the SDK's type, and those that it added.
func lost(t *testing.T, file string, params any) []string {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	body = encoded(body)
	if err := json.Unmarshal(body, params); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	again, err := json.Marshal(params)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	theirs := leaves(t, again)
	var paths []string
	for path, value := range leaves(t, body) {
		got, ok := theirs[path]
		switch {
		case !ok && value == null:
			paths = append(paths, path+" (null)")
		case got != value:
			paths = append(paths, path)
		}
		delete(theirs, path)
	}
	for path := range theirs {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// null is the leaf of one.
const null = "<nil> <nil>"

// leaves returns the values of a JSON text that hold no others, by their path.
func leaves(t *testing.T, body []byte) map[string]string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, child := range v {
				walk(path+"."+key, child)
			}
			if len(v) == 0 {
				out[path] = "{}"
			}
		case []any:
			for i, child := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), child)
			}
			if len(v) == 0 {
				out[path] = "[]"
			}
		default:
			out[path] = fmt.Sprintf("%T %v", v, v)
		}
	}
	walk("", v)
	return out
}
