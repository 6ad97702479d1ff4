package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/config"
)

func TestPaths(t *testing.T) {
	home := t.TempDir()
	for _, tt := range []struct {
		name, env, value string
		data, store      string
	}{
		{"home", "HOME", home, home + "/.local/share/pawl", home + "/.local/share/pawl/pawl.db"},
		{"xdg", "XDG_DATA_HOME", "/x", "/x/pawl", "/x/pawl/pawl.db"},
		{"a relative xdg folder counts for nothing", "XDG_DATA_HOME", "x", home + "/.local/share/pawl", home + "/.local/share/pawl/pawl.db"},
		{"data", "PAWL_DATA", "/d", "/d", "/d/pawl.db"},
		{"store", "PAWL_STORE", "postgres://h/db", home + "/.local/share/pawl", "postgres://h/db"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"XDG_DATA_HOME", "PAWL_DATA", "PAWL_STORE"} {
				t.Setenv(name, "")
			}
			t.Setenv("HOME", home)
			t.Setenv(tt.env, tt.value)
			data, err := config.Data()
			if err != nil || data != tt.data {
				t.Errorf("data folder %q, %v; want %q", data, err, tt.data)
			}
			store, err := config.Store()
			if err != nil || store != tt.store {
				t.Errorf("store %q, %v; want %q", store, err, tt.store)
			}
		})
	}
}

func TestUser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pawl.json")
	t.Setenv("PAWL_CONFIG", path)
	if u, err := config.LoadUser(); err != nil || !cmp.Equal(u, config.User{}) {
		t.Errorf("without a file: %+v, %v", u, err)
	}
	for _, tt := range []struct {
		name, text string
		want       config.User
		bad        bool
	}{
		{"all", `{"model":"sonnet","small_model":"haiku","fallback":["gpt"],"providers":{"openai":{"base_url":"http://h","headers":{"a":"b"}}},"websearch":{"service":"searxng","url":"http://s"},"codesearch":{"service":"exa"}}`, config.User{
			Model: "sonnet", SmallModel: new("haiku"), Fallback: []string{"gpt"},
			Providers: map[string]config.Provider{"openai": {BaseURL: "http://h", Headers: map[string]string{"a": "b"}}},
			WebSearch: config.Search{Service: "searxng", URL: "http://s"}, CodeSearch: config.Search{Service: "exa"},
		}, false},
		{"calls at once", `{"providers":{"openai":{"calls":{"max":20,"models":{"gpt-5":2},"wait":60}},"script":{"calls":{}}}}`, config.User{
			Providers: map[string]config.Provider{"openai": {Calls: &config.Calls{Max: 20, Models: map[string]int{"gpt-5": 2}, Wait: 60}}, "script": {Calls: &config.Calls{}}},
		}, false},
		{"calls that are no number", `{"providers":{"openai":{"calls":{"max":"many"}}}}`, config.User{}, true},
		{"a key where none belongs", `{"websearch":{"service":"exa","key":"x"}}`, config.User{WebSearch: config.Search{Service: "exa"}}, false},
		{"permissions", `{"permissions":{"mode":"guard","rules":[{"kind":"net"}]}}`, config.User{
			Permissions: config.Permissions{Mode: "guard", Rules: json.RawMessage(`[{"kind":"net"}]`)},
		}, false},
		{"an unknown key of permissions", `{"permissions":{"modes":"guard"}}`, config.User{}, true},
		{"empty", `{}`, config.User{}, false},
		{"no small model is not the same as none said", `{"small_model":""}`, config.User{SmallModel: new("")}, false},
		{"an unknown key", `{"models":"sonnet"}`, config.User{}, false},
		{"comments and commas", "// mine\n{\"model\": /* large */ \"sonnet\",\n \"fallback\": [\"gpt\",],}", config.User{Model: "sonnet", Fallback: []string{"gpt"}}, false},
		{"a schema", `{"$schema":"https://x","model":"m"}`, config.User{Model: "m"}, false},
		{"another case", `{"Model":"m"}`, config.User{}, true},
		{"a key twice", `{"model":"m","model":"n"}`, config.User{}, true},
		{"an unknown key twice", `{"x":1,"x":2}`, config.User{}, true},
		{"a wrong type", `{"model":1}`, config.User{}, true},
		{"null", `{"model":null}`, config.User{}, true},
		{"an unknown key of the sandbox", `{"sandbox":{"netwrk":[]}}`, config.User{}, true},
		{"nearly permissions", `{"permission":{"rules":[{"kind":"net","decision":"deny"}]}}`, config.User{}, true},
		{"not JSON", `model: sonnet`, config.User{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			u, err := config.LoadUser()
			if tt.bad {
				if !errors.Is(err, pawl.ErrInvalid) {
					t.Errorf("got %+v, %v; want ErrInvalid", u, err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, u); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}
