package config

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// TestTextEdits: an edit of any file changes what it is about, and nothing else.
func TestTextEdits(t *testing.T) {
	t.Parallel()
	const file = "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\"} // first\n\t},\n\t\"other\": [1,  2]\n}\n"
	for _, c := range []struct {
		name string
		edit func() ([]byte, error)
		want string
		err  error
	}{
		{"add", func() ([]byte, error) {
			return SetText([]byte(file), []string{"mcpServers", "b"}, []byte(`{"url": "y"}`))
		},
			"{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\"}, // first\n\t\t\"b\": {\"url\": \"y\"}\n\t},\n\t\"other\": [1,  2]\n}\n", nil},
		{"replace", func() ([]byte, error) { return SetText([]byte(file), []string{"other"}, []byte(`3`)) },
			"{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\"} // first\n\t},\n\t\"other\": 3\n}\n", nil},
		{"begin", func() ([]byte, error) { return SetText([]byte("{\n}\n"), []string{"mcpServers", "a"}, []byte(`{}`)) },
			"{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n", nil},
		{"remove", func() ([]byte, error) { return UnsetText([]byte(file), []string{"other"}) },
			"{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\"} // first\n\t}\n}\n", nil},
		{"remove nothing", func() ([]byte, error) { return UnsetText([]byte(file), []string{"mcpServers", "b"}) }, "", pawl.ErrNotFound},
		{"no object", func() ([]byte, error) { return SetText([]byte(file), []string{"other", "b"}, []byte(`1`)) }, "", pawl.ErrInvalid},
		{"no JSON", func() ([]byte, error) { return SetText([]byte("x"), []string{"a"}, []byte(`1`)) }, "", pawl.ErrInvalid},
		{"no value", func() ([]byte, error) { return SetText([]byte("{}"), []string{"a"}, []byte(`{`)) }, "", pawl.ErrInvalid},
		{"remove of no JSON", func() ([]byte, error) { return UnsetText([]byte("x"), []string{"a"}) }, "", pawl.ErrInvalid},
	} {
		got, err := c.edit()
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", c.name, diff)
		}
	}
}
