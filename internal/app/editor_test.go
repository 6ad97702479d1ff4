package app

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/mcp/mcpclient"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// TestEditorServer checks that an editor's servers run without a sandbox, and that only loopback
// addresses are local.
func TestEditorServer(t *testing.T) {
	t.Parallel()
	env := map[string]string{"A": "b"}
	for name, test := range map[string]struct {
		server mcpclient.Server
		want   mcpclient.Server
	}{
		"a program": {
			mcpclient.Server{Name: "files", Transport: "stdio", Command: "/bin/x", Args: []string{"-v"}, Env: env},
			mcpclient.Server{Name: "files", Transport: "stdio", Command: "/bin/x", Args: []string{"-v"}, Env: env, Unsandboxed: true},
		},
		"an address": {
			mcpclient.Server{Name: "hub", Transport: "http", URL: "https://hub.example.com/mcp", Headers: env},
			mcpclient.Server{Name: "hub", Transport: "http", URL: "https://hub.example.com/mcp", Headers: env, Unsandboxed: true},
		},
		"this machine":            {mcpclient.Server{URL: "http://localhost:1/mcp"}, mcpclient.Server{URL: "http://localhost:1/mcp", Unsandboxed: true, Local: true}},
		"this machine, by number": {mcpclient.Server{URL: "http://127.0.0.1:1/"}, mcpclient.Server{URL: "http://127.0.0.1:1/", Unsandboxed: true, Local: true}},
		"this machine, the new":   {mcpclient.Server{URL: "http://[::1]:1/"}, mcpclient.Server{URL: "http://[::1]:1/", Unsandboxed: true, Local: true}},
		"its network":             {mcpclient.Server{URL: "http://10.0.0.1/"}, mcpclient.Server{URL: "http://10.0.0.1/", Unsandboxed: true}},
		"a name that looks so":    {mcpclient.Server{URL: "http://localhost.example.com/"}, mcpclient.Server{URL: "http://localhost.example.com/", Unsandboxed: true}},
		"a name in front":         {mcpclient.Server{URL: "http://localhost@example.com/"}, mcpclient.Server{URL: "http://localhost@example.com/", Unsandboxed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, editorServer(test.server)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEditorServerName checks that invalid server names are converted to valid ones.
func TestEditorServerName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"files": "files", "a_b-c": "a_b-c", "My server": "My-server", "a__b": "a-b", "_a_": "a", "mcp-server-sequential-thinking": "mcp-server-sequential-th",
		"0123456789012345678901 3456": "0123456789012345678901-3", "01234567890123456789012 x": "01234567890123456789012", "日本": "", "": "", "日本 a": "a",
	} {
		got := editorServerName(name)
		if got != want {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
		if err := (mcpclient.Server{Name: got, Transport: mcpclient.Stdio, Command: "x"}).Check(); (err == nil) != (want != "") {
			t.Errorf("%q: %v", got, err)
		}
	}
}

// TestEditorBuffers checks that the buffers of a session are found by its ID until they are removed.
func TestEditorBuffers(t *testing.T) {
	t.Parallel()
	var o EditorBuffers
	o.Set("one", noBuffers{})
	if o.Get("one") == nil || o.Get("two") != nil {
		t.Error("it is not found, or another is")
	}
	o.Set("one", nil)
	if o.Get("one") != nil {
		t.Error("it is found though it is closed")
	}
}

type noBuffers struct{}

func (noBuffers) Unsaved(context.Context, toolapi.OnDisk) (string, bool, error) {
	return "", false, nil
}

// TestTooManyEditorServers checks that a note reports too many servers of an editor.
func TestTooManyEditorServers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"HOME", "PAWL_DATA", "XDG_CONFIG_HOME"} {
		t.Setenv(name, dir)
	}
	t.Setenv("PAWL_STORE", "")
	a, err := Open(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var list []mcpclient.Server
	for i := range 40 {
		list = append(list, mcpclient.Server{Name: strings.Repeat("x", i%20+1) + string(rune('a'+i/20)), Transport: "stdio", Command: "none"})
	}
	notes := a.MCP.UseEditorServers(t.Context(), "one", t.TempDir(), false, list)
	if len(notes) != 1 || !strings.Contains(notes[0], "not used: start MCP servers: too many (40, the limit is 32)") {
		t.Errorf("told %q", notes)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if notes := a.MCP.UseEditorServers(t.Context(), "two", t.TempDir(), false, list[:1]); notes != nil || a.MCP.editors != nil {
		t.Errorf("after the end: %q, %v", notes, a.MCP.editors)
	}
}
