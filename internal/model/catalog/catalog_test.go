package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

// open returns the catalog with a models.json of the given text, or without one.
func open(t *testing.T, text string) (*Catalog, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "models.json")
	if text != "" {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Open(file)
}

func mustOpen(t *testing.T, text string) *Catalog {
	t.Helper()
	c, err := open(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestData: what is embedded makes sense. It also passes the checks that a
// user's file has to pass, so both have one shape.
func TestData(t *testing.T) {
	t.Parallel()
	if err := strictjson.Decode(embedded, &Catalog{}); err != nil {
		t.Errorf("the data has keys that nobody reads: %v", err)
	}
	if len(embedded) > 200<<10 {
		t.Errorf("the data has %d bytes: leave a provider out, or loading takes too long", len(embedded))
	}
	c := mustOpen(t, "")
	served := map[string]int{}
	names := map[string]string{}
	for _, m := range c.Models {
		served[m.Provider]++
		if err := c.check(m); err != nil {
			t.Errorf("%s: %v", m.Ref, err)
		}
		for _, name := range []string{m.Ref, m.Provider + "/" + m.ID} {
			if other, ok := names[name]; ok && other != m.Ref {
				t.Errorf("%s and %s are both called %s", m.Ref, other, name)
			}
			names[name] = m.Ref
		}
		p := m.Prices
		switch {
		case m.Context < 4_000 || m.Context > 20_000_000:
			t.Errorf("%s: context %d", m.Ref, m.Context)
		case p.Output > 1000e9 || p.Input > p.Output && p.Input > 5e9:
			t.Errorf("%s: input %s, output %s", m.Ref, p.Input, p.Output)
		case p.CacheRead > p.Input || p.CacheWrite < p.Input || p.CacheWrite > 2*p.Input:
			t.Errorf("%s: input %s, cache read %s, cache write %s", m.Ref, p.Input, p.CacheRead, p.CacheWrite)
		case len(m.Efforts) > 0 && !m.Reasoning:
			t.Errorf("%s: efforts %q, but no reasoning", m.Ref, m.Efforts)
		}
	}
	if len(names) < 500 {
		t.Errorf("only %d names", len(names))
	}
	for _, p := range c.Providers {
		if err := p.check(); err != nil {
			t.Error(err)
		}
		if p.Local != (served[p.ID] == 0) {
			t.Errorf("%s: local %v, but %d models", p.ID, p.Local, served[p.ID])
		}
		if p.ID != Custom && p.BaseURL == "" && p.BaseURLEnv == "" && p.Protocol != ProtocolBedrock && p.Protocol != ProtocolVertex {
			t.Errorf("%s has no address", p.ID)
		}
		if strings.HasSuffix(p.BaseURL, "/") {
			t.Errorf("%s: %s ends with a slash", p.ID, p.BaseURL)
		}
		for slot, find := range map[string]func(string) (Model, bool){"default": c.Default, "small": c.Small} {
			if m, ok := find(p.ID); ok == p.Local || ok && m.Provider != p.ID {
				t.Errorf("%s: its %s model is %q", p.ID, slot, m.Ref)
			}
		}
	}
}

// TestSpotCheck pins a few entries as a whole, by the vendors' own price lists.
func TestSpotCheck(t *testing.T) {
	t.Parallel()
	c := mustOpen(t, "")
	for _, want := range []Model{
		{
			Ref: "anthropic/claude-sonnet-4-5", Provider: "anthropic", ID: "claude-sonnet-4-5-20250929", Name: "Claude Sonnet 4.5",
			Context: 200_000, Output: 64_000, Prices: Prices{3e9, 15e9, 0.3e9, 3.75e9},
			Images: true, PDF: true, Tools: true, Reasoning: true, Prefill: true,
		},
		{
			Ref: "deepseek/deepseek-v4-flash", Provider: "deepseek", ID: "deepseek-v4-flash", Name: "DeepSeek-V4-Flash",
			Context: 1_000_000, Output: 384_000, Prices: Prices{0.14e9, 0.28e9, 0.0028e9, 0.14e9},
			Tools: true, Reasoning: true, Efforts: []string{"high", "xhigh"},
		},
		{
			Ref: "openai/gpt-4.1-mini", Provider: "openai", ID: "gpt-4.1-mini", Name: "GPT-4.1 Mini",
			Context: 1_047_576, Output: 16_384, Prices: Prices{0.4e9, 1.6e9, 0.1e9, 0.4e9},
			Images: true, PDF: true, Tools: true,
		},
	} {
		got, err := c.Lookup(want.Ref)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", want.Ref, diff)
		}
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	plain := mustOpen(t, "")
	c := mustOpen(t, `{
		"providers": [
			{"id": "ollama", "base_url": "http://127.0.0.1:9999/v1"},
			{"id": "house", "protocol": "chat", "base_url": "https://llm.example.org/v1", "env_keys": ["HOUSE_KEY"], "small": "house/tiny"}
		],
		"models": [
			{"ref": "anthropic/claude-sonnet-4-5", "context": 1000000, "prices": {"input": 2.5}, "efforts": ["low"]},
			{"ref": "house/tiny", "context": 8000, "prices": {"input": 0.000000001, "output": 2}},
			{"ref": "house/big", "id": "Big-2026", "name": "Big", "tools": false, "prices": {"input": 1, "cache_read": 0}}
		]
	}`)

	was, _ := plain.Lookup("anthropic/claude-sonnet-4-5")
	was.Context, was.Prices.Input, was.Efforts = 1_000_000, 2.5e9, []string{"low"}
	for _, want := range []Model{
		was,
		{Ref: "house/tiny", Provider: "house", ID: "tiny", Name: "tiny", Context: 8000, Prices: Prices{1, 2e9, 1, 1}, Tools: true},
		{Ref: "house/big", Provider: "house", ID: "Big-2026", Name: "Big", Prices: Prices{1e9, 0, 0, 1e9}},
	} {
		got, err := c.Lookup(want.Ref)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", want.Ref, diff)
		}
	}
	if m, ok := c.Small("house"); !ok || m.Ref != "house/tiny" {
		t.Errorf("small: %v %v", m, ok)
	}
	house := Provider{
		ID: "house", Name: "house", Protocol: ProtocolChat, BaseURL: "https://llm.example.org/v1",
		EnvKeys: []string{"HOUSE_KEY"}, Small: "house/tiny",
	}
	ollama, _ := plain.Provider("ollama")
	ollama.BaseURL = "http://127.0.0.1:9999/v1"
	for _, want := range []Provider{house, ollama} {
		got, err := c.Provider(want.ID)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("provider (-want, +got):\n%s", diff)
		}
	}

	// The rest is as it was.
	mine := func(m Model) bool { return m.Provider == "house" || m.Ref == was.Ref }
	if diff := cmp.Diff(plain.Models, c.Models, cmpopts.IgnoreSliceElements(mine)); diff != "" {
		t.Errorf("other models changed:\n%s", diff)
	}
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"model": []}`: `unknown key "model"`,
		`{"models": [{"ref": "anthropic/x", "contxt": 1}]}`:                                 `unknown key "contxt"`,
		`{"models": [{"ref": "anthropic/x", "prices": {"Input": 1}}]}`:                      `unknown key "Input"`,
		`{"models": [{"ref": "nobody/x"}]}`:                                                 `unknown provider "nobody"`,
		`{"models": [{"id": "x"}]}`:                                                         `provider/name`,
		`{"models": [{"ref": "anthropic/x", "provider": "openai"}]}`:                        `the provider is "openai"`,
		`{"models": [{"ref": "anthropic/x", "context": -1}]}`:                               `must not be negative`,
		`{"models": [{"ref": "anthropic/x", "context": 10, "output": 20}]}`:                 `larger than context`,
		`{"models": [{"ref": "anthropic/x", "prices": {"input": -1}}]}`:                     `price -1`,
		`{"models": [{"ref": "anthropic/x", "prices": {"input": 1e3}}]}`:                    `price 1e3`,
		`{"models": [{"ref": "anthropic/x", "prices": {"input": 0.1234567891}}]}`:           `price 0.1234567891`,
		`{"models": [{"ref": "anthropic/x", "prices": {"input": "3"}}]}`:                    `price "3"`,
		`{"models": [{"ref": "anthropic/x", "prices": {"input": 1000001}}]}`:                `price 1000001`,
		`{"providers": [{"id": "a/b", "protocol": "chat"}]}`:                                `without a slash`,
		`{"providers": [{"id": "house", "protocol": "smoke"}]}`:                             `protocol "smoke"`,
		`{"providers": [{"id": "house", "protocol": "chat", "small": "house/none"}]}`:       `model "house/none" does not exist`,
		`{"providers": [{"id": "house", "protocol": "chat", "env_keys": "KEY"}]}`:           `providers, entry 1`,
		`{"models": [{"ref": "anthropic/x"}], "models": []}`:                                `duplicate key "models"`,
		`{"models": [{"ref": "anthropic/x"}, {"ref": "anthropic/x", "prices": {"in": 1}}]}`: `models, entry 2`,
		`[]`: `cannot unmarshal`,
	} {
		_, err := open(t, text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "models.json") {
			t.Errorf("%s: got error %v, want one with %q", text, err, want)
		}
	}
}

// TestUnreadable: a file that is there and cannot be read is an error, not an empty one.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder was taken for a file")
	}
}

func BenchmarkOpen(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(""); err != nil {
			b.Fatal(err)
		}
	}
}
