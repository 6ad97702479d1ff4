package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// TestReplace: variables and files stand in addresses and headers of the user,
// and nowhere else.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("PAWL_CONFIG", filepath.Join(dir, "pawl.json"))
	t.Setenv("A_TOKEN", "abc-123")
	t.Setenv("EMPTY", "")
	t.Setenv("TWO_LINES", "a\r\nX-Evil: b")
	for name, text := range map[string]string{"token": "from-a-file\n", "home/token": "from-home", "empty": "", "large": strings.Repeat("x", maxReplacement+1)} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func(text string) (User, error) {
		if err := os.WriteFile(filepath.Join(dir, "pawl.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return LoadUser()
	}
	u, err := load(`{"model":"{env:A_TOKEN}","providers":{"a":{"base_url":"http://{env:A_TOKEN}/x","headers":{"Authorization":"Bearer {env:A_TOKEN}","F":"{file:token}","H":"{file:~/token}{file:` + dir + `/token}","P":"{x}"}}},
		"websearch":{"url":"{env:A_TOKEN}"},"codesearch":{"url":"{file:token}"},"permissions":{"rules":["{env:NONE}"]},"sandbox":{"hidden":["{env:NONE}"]}}`)
	want := Provider{BaseURL: "http://abc-123/x", Headers: map[string]string{"Authorization": "Bearer abc-123", "F": "from-a-file", "H": "from-homefrom-a-file", "P": "{x}"}}
	if diff := cmp.Diff(want, u.Providers["a"]); diff != "" || err != nil || u.Model != "{env:A_TOKEN}" || u.WebSearch.URL != "abc-123" || u.CodeSearch.URL != "from-a-file" || u.Sandbox.Hidden[0] != "{env:NONE}" {
		t.Errorf("%s %v %+v", diff, err, u)
	}
	if diff := cmp.Diff(map[string][]string{
		"providers.a.base_url": {"abc-123"}, "providers.a.headers.Authorization": {"abc-123"}, "providers.a.headers.F": {"from-a-file"},
		"providers.a.headers.H": {"from-home", "from-a-file"}, "websearch.url": {"abc-123"}, "codesearch.url": {"from-a-file"},
	}, u.Replaced); diff != "" {
		t.Error(diff)
	}
	for value, fault := range map[string]string{
		"{env:NONE}":      "environment variable NONE is not set",
		"{env:EMPTY}":     "environment variable EMPTY is not set",
		"{env:}":          "use {env:NAME}",
		"{env:A_TOKEN":    "use {env:NAME}",
		"{env:TWO_LINES}": "line breaks or control characters",
		"{file:none}":     "no such file",
		"{file:empty}":    "is empty",
		"{file:large}":    "more than 65536 bytes",
		"{file:home}":     "is not a regular file",
		"{file:pipe}":     "is not a regular file",
		"{file:~root/x}":  "no such file",
	} {
		u, err := load(`{"providers":{"a":{"headers":{"K":"` + value + `"}}}}`)
		if !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), fault) || !strings.Contains(err.Error(), "providers.a.headers.K") || u.Providers != nil {
			t.Errorf("%s: %+v, %v", value, u, err)
		}
		if err != nil && strings.Contains(err.Error(), "X-Evil") {
			t.Errorf("the error tells the value: %v", err)
		}
	}
}

// TestReplacedKeys: what is replaced is what the table of keys says.
func TestReplacedKeys(t *testing.T) {
	t.Setenv("V", "value")
	u := User{Providers: map[string]Provider{"*": {BaseURL: "{env:V}", Headers: map[string]string{"*": "{env:V}"}}}, WebSearch: Search{"{env:V}", "{env:V}"}, CodeSearch: Search{"{env:V}", "{env:V}"}, Model: "{env:V}", Fleet: Fleet{"{env:V}", "{env:V}", "{env:V}", "{env:V}", "{env:V}", "{env:V}", "{env:V}", []string{"{env:V}"}}, Notify: Notify{"{env:V}"}, Telemetry: Telemetry{Endpoint: "{env:V}", ServiceName: "{env:V}", Headers: map[string]string{"*": "{env:V}"}}, MCP: map[string]Server{"*": {URL: "{env:V}", Command: "{env:V}", Env: map[string]string{"*": "{env:V}"}, Headers: map[string]string{"*": "{env:V}"}}}, LSP: map[string]LanguageServer{"*": {Command: "{env:V}", Args: []string{"{env:V}"}, Env: map[string]string{"*": "{env:V}"}}}}
	if err := u.replace("/"); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if _, ok := u.Replaced[k.path]; ok != k.replaced {
			t.Errorf("%s is replaced: %t, and the table says %t", k.path, ok, k.replaced)
		}
	}
}
