package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func anyUser(User) error { return nil }

// TestEdit: what is not changed stays as it was, to the byte.
func TestEdit(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	const mine = "// mine\n{\n\t\"model\": \"a\", // the large one\n\n\t/* where */\n\t\"providers\": {\"x\": {\"base_url\": \"u\"}},\n\t// the end\n}\n"
	for _, tt := range []struct{ name, text, key, value, want string }{
		{"replaced", mine, "model", "b", "// mine\n{\n\t\"model\": \"b\", // the large one\n\n\t/* where */\n\t\"providers\": {\"x\": {\"base_url\": \"u\"}},\n\t// the end\n}\n"},
		{"added", mine, "small_model", "", "// mine\n{\n\t\"model\": \"a\", // the large one\n\n\t/* where */\n\t\"providers\": {\"x\": {\"base_url\": \"u\"}},\n\t// the end\n\t\"small_model\": \"\",\n}\n"},
		{"added to one line", mine, "providers.x.headers.A", "1", "// mine\n{\n\t\"model\": \"a\", // the large one\n\n\t/* where */\n\t\"providers\": {\"x\": {\"base_url\": \"u\", \"headers\": {\"A\": \"1\"}}},\n\t// the end\n}\n"},
		{"objects on the way", mine, "sandbox.env", `["A"]`, "// mine\n{\n\t\"model\": \"a\", // the large one\n\n\t/* where */\n\t\"providers\": {\"x\": {\"base_url\": \"u\"}},\n\t// the end\n\t\"sandbox\": {\n\t\t\"env\": [\"A\"]\n\t},\n}\n"},
		{"behind a comment", "{\n  \"model\": \"a\" // note\n}", "small_model", "b", "{\n  \"model\": \"a\", // note\n  \"small_model\": \"b\"\n}"},
		{"one line", `{"model":"a"}`, "fallback", `["b"]`, `{"model":"a", "fallback": ["b"]}`},
		{"empty", `{}`, "permissions.mode", "ask", "{\n  \"permissions\": {\n    \"mode\": \"ask\"\n  }\n}"},
		{"no file", "", "model", "{env:X}", "{\n  \"model\": \"{env:X}\"\n}\n"},
		{"a name with a dot", `{}`, "/providers/a.b/base_url", "u", "{\n  \"providers\": {\n    \"a.b\": {\n      \"base_url\": \"u\"\n    }\n  }\n}"},
		{"what was wrong is put right", `{"model":1}`, "model", "m", `{"model":"m"}`},
		{"an unknown key stays", `{"theme":"dark"}`, "model", "m", `{"theme":"dark", "model": "m"}`},
		{"a number as a string", `{}`, "model", "1", "{\n  \"model\": \"1\"\n}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := layUser(t, tt.text)
			if err := Set(tt.key, tt.value, anyUser); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Error(diff)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Error(info.Mode(), err)
			}
		})
	}
}

// layUser writes the user's file, unless it is empty.
func layUser(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sub", "pawl.json")
	t.Setenv("PAWL_CONFIG", path)
	if text != "" {
		if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o644)); err != nil { //nolint:gosec // as an editor might
			t.Fatal(err)
		}
	}
	return path
}

// TestEditRefuses: what would not load is not written.
func TestEditRefuses(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	refuse := errors.New("refused")
	for _, tt := range []struct {
		name, text, key, value string
		check                  func(User) error
	}{
		{"an unknown key", `{}`, "modell", "x", anyUser},
		{"an unknown key within", `{}`, "sandbox.netwrk", "[]", anyUser},
		{"below a string", `{}`, "model.x", "x", anyUser},
		{"no name", `{}`, "providers..base_url", "x", anyUser},
		{"no mode", `{}`, "permissions.mode", "all", anyUser},
		{"no list", `{}`, "fallback", "gpt", anyUser},
		{"a list of numbers", `{}`, "fallback", "[1]", anyUser},
		{"null", `{}`, "fallback", "null", anyUser},
		{"no host", `{}`, "sandbox.network", `["*"]`, anyUser},
		{"no path", `{}`, "sandbox.writable", `["~/../x"]`, anyUser},
		{"a rule without a decision", `{}`, "permissions.rules", `[{"kind":"net"}]`, anyUser},
		{"a key twice", `{}`, "providers.a", `{"base_url":"a","base_url":"b"}`, anyUser},
		{"a file that is wrong elsewhere", `{"model":1}`, "small_model", "x", anyUser},
		{"a file that is no JSON", `model: x`, "model", "x", anyUser},
		{"a parent that is no object", `{"sandbox":[]}`, "sandbox.env", `["A"]`, anyUser},
		{"what the caller refuses", `{}`, "model", "x", func(User) error { return refuse }},
	} {
		path := layUser(t, tt.text)
		err := Set(tt.key, tt.value, tt.check)
		got, readErr := os.ReadFile(path)
		if !errors.Is(err, pawl.ErrInvalid) || readErr != nil || string(got) != tt.text {
			t.Errorf("%s: %v, %q, %v", tt.name, err, got, readErr)
		}
	}
}

// TestUnset: a key goes with its comment; the others stay.
func TestUnset(t *testing.T) {
	path := layUser(t, "{\n  // a\n  \"model\": \"a\",\n\n  // b\n  \"small_model\": \"b\" // c\n}\n")
	if err := Unset("model", anyUser); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if diff := cmp.Diff("{\n\n  // b\n  \"small_model\": \"b\" // c\n}\n", string(got)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, key := range []string{"model", "fallback", "x.y"} {
		if err := Unset(key, anyUser); !errors.Is(err, pawl.ErrNotFound) {
			t.Errorf("%s: %v", key, err)
		}
	}
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PAWL_CONFIG", link)
	if err := Set("model", "m", anyUser); err != nil {
		t.Fatal(err)
	}
	if got, err := os.Readlink(link); err != nil || got != path {
		t.Errorf("the link is gone: %q, %v", got, err)
	}
}
