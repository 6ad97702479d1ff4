package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCheckUser: all that can be said of a file is said, by its lines.
func TestCheckUser(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	t.Setenv("SET", "value")
	none := func(User) []Finding { return nil }
	for _, tt := range []struct {
		name, text string
		mode       os.FileMode
		more       func(User) []Finding
		want       []string
	}{
		{"good", `{"model":"m"}`, 0o644, none, nil},
		{"no JSON", "{\n  \"model\" \"m\"}", 0o600, none, []string{`FILE: error: line 2, column 11: invalid character '"' after object name`}},
		{"no host", `{"sandbox":{"network":["*"]}}`, 0o600, none, []string{`FILE: error: sandbox.network: "*": use a host name in lower case, or *.domain`}},
		{"a value", "{\"permissions\":\n{\"mode\":\"all\"}}", 0o600, none, []string{`FILE:2:9: error: permissions.mode is "all": use plan, ask, guard, auto or yolo`}},
		{"a placeholder where none is replaced", `{"fallback":["{env:SET}"]}`, 0o600, none, []string{`FILE:1:13: warning: fallback contains {env:…} or {file:…}, which is not expanded in this key`}},
		{"placeholders for nothing", `{"providers":{"a":{"base_url":"{env:NOT_SET}","headers":{"B":"{env:SET}"}}}}`, 0o644, none, []string{
			`FILE:1:31: error: providers.a.base_url: {env:NOT_SET}: environment variable NOT_SET is not set`,
		}},
		{"a secret that others can read", `{"providers":{"a":{"headers":{"B":"x"}}}}`, 0o640, none, []string{
			"FILE:1:35: warning: providers.a.headers.B may be secret, and other users can read the file (-rw-r-----): run `chmod 600 FILE`, or use {env:NAME}",
		}},
		{"a secret of its user alone", `{"providers":{"a":{"headers":{"B":"x"}}}}`, 0o600, none, nil},
		{"what others know", "{\"zzzz\":1,\n\"fallback\":[\"a\",\"b\"]}", 0o600, func(User) []Finding {
			return []Finding{{Level: LevelWarning, Key: "fallback.1", Message: "b is not known"}}
		}, []string{`FILE:1:2: warning: unknown key "zzzz" is ignored`, `FILE:2:17: warning: b is not known`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := layUser(t, tt.text)
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range CheckUser(path, tt.more) {
				got = append(got, strings.ReplaceAll(f.String(), path, "FILE"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := CheckUser(filepath.Join(t.TempDir(), "none"), none); got != nil {
		t.Errorf("without a file: %v", got)
	}
}
