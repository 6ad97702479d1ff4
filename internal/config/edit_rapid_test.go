package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

// TestEditsKeepTheRest: whatever is set, and however the file is laid out, each
// comment stays, each other value stays, and the value is there.
func TestEditsKeepTheRest(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	path := filepath.Join(t.TempDir(), "pawl.json")
	t.Setenv("PAWL_CONFIG", path)
	members := map[string]string{
		"model": `"m"`, "small_model": `"s"`, "fallback": "[\"a\", /* c8 */ \"b\",]", "zzzz": "{\"x\": [1, 2]}",
		"providers": "{\"p\": {\"base_url\": \"u\" /* c9 */}}", "sandbox": "{\n\t\"env\": [\"A\"] // c10\n}",
	}
	rapid.Check(t, func(t *rapid.T) {
		extra := rapid.SampledFrom([]string{"", " ", "\n", "\n\t", "\n  ", "\r\n  ", " /* c1 */ ", " // c2\n", "\n  // c3\n  ", "\n\n/* c4\n c5 */\n"})
		var b strings.Builder
		b.WriteString(extra.Draw(t, "before") + "{")
		names := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"model", "small_model", "fallback", "zzzz", "providers", "sandbox"}), rapid.ID).Draw(t, "names")
		for i, name := range names {
			b.WriteString(extra.Draw(t, "name") + `"` + name + `":` + extra.Draw(t, "value") + members[name] + extra.Draw(t, "behind"))
			if i < len(names)-1 || rapid.Bool().Draw(t, "comma") {
				b.WriteString(",")
			}
		}
		b.WriteString(extra.Draw(t, "last") + "}" + extra.Draw(t, "after"))
		old := b.String()
		set := rapid.SampledFrom([][2]string{
			{"model", "new"}, {"small_model", "new"}, {"permissions.mode", "ask"}, {"providers.p.base_url", "new"}, {"providers.q.headers.H", "new"}, {"sandbox.hidden", `["*.pem"]`}, {"websearch.url", "new"},
		}).Draw(t, "set")
		if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Set(set[0], set[1], func(User) error { return nil }); err != nil {
			t.Fatalf("%q: %v", old, err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, comment := range []string{"c1 */", "// c2", "// c3", "c5 */", "/* c8 */", "/* c9 */", "// c10"} {
			if strings.Count(old, comment) != strings.Count(string(text), comment) {
				t.Errorf("%s is gone: %q, was %q", comment, text, old)
			}
		}
		want, got := valueOf(t, []byte(old)), valueOf(t, text)
		put(want, strings.Split(set[0], "."), set[1])
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q, was %q: %s", text, old, diff)
		}
		if err := Set(set[0], set[1], func(User) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(path); err != nil || string(again) != string(text) {
			t.Errorf("set again: %q, was %q, %v", again, text, err)
		}
	})
}

func valueOf(t *rapid.T, text []byte) map[string]any {
	plain, err := standard(text)
	var v map[string]any
	if err == nil {
		err = strictjson.Decode(plain, &v)
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// put is Set on a value.
func put(v map[string]any, path []string, value string) {
	for _, part := range path[:len(path)-1] {
		if v[part] == nil {
			v[part] = map[string]any{}
		}
		v = v[part].(map[string]any)
	}
	v[path[len(path)-1]] = value
	var list []any
	if json.Unmarshal([]byte(value), &list) == nil {
		v[path[len(path)-1]] = list
	}
}
