package mcpclient

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseFile(t *testing.T) {
	t.Parallel()
	text := `{"mcpServers":{
		"git":{"command":"git-mcp","args":["--ro"],"env":{"A":"b"},"cwd":"sub","timeout":5,"tools":["log"],"alwaysAllow":["log"],"trust":true},
		"hub":{"type":"streamable-http","url":"HTTPS://Hub.example.com:443/mcp","headers":{"X-Key":"k"},"disabled":true},
		"old":{"type":"sse","url":"https://old.example.com/sse","oauth":{"client_id":"c","scopes":["s"]}},
		"plain":{"url":"http://hub.example.com/"},
		"here":{"url":"http://127.0.0.1:3000/","local":true},
		"a__b":{"command":"x"},
		"bad name":{"command":"x"},
		"shell":{"command":["sh","-c","x"]},
		"both":{"command":"x","url":"https://a.example.com"},
		"none":{},
		"twice":{"command":"x","command":"y"},
		"odd":{"type":"carrier-pigeon","command":"x"},
		"host":{"url":"https://a.example.com","headers":{"Host":"b"}},
		"split":{"url":"https://a.example.com","headers":{"X":"a\r\nY: b"}},
		"user":{"url":"https://me:pw@a.example.com"},
		"long":{"command":"x","timeout":99999},
		"nul":{"command":"x\u0000y"}
	}}`
	for _, from := range []Origin{Project, User} {
		servers, faults, err := ParseFile([]byte(text), from)
		if err != nil {
			t.Fatal(err)
		}
		want := []Server{
			{
				Name: "git", Transport: Stdio, Command: "git-mcp", Args: []string{"--ro"}, Env: map[string]string{"A": "b"}, Cwd: "sub",
				Timeout: 5 * time.Second, Tools: []string{"log"},
			},
			{Name: "here", Transport: HTTP, URL: "http://127.0.0.1:3000/", Local: true},
			{Name: "hub", Transport: HTTP, URL: "HTTPS://Hub.example.com:443/mcp", Headers: map[string]string{"X-Key": "k"}, Disabled: true},
			{Name: "old", Transport: SSE, URL: "https://old.example.com/sse", OAuth: OAuth{ClientID: "c", Scopes: []string{"s"}}},
		}
		for i := range want {
			want[i].Unsandboxed = from == User
		}
		if from == Project {
			want = slices.DeleteFunc(want, func(s Server) bool { return s.Local })
		}
		if diff := cmp.Diff(want, servers); diff != "" {
			t.Error(diff)
		}
		var reported []string
		for _, f := range faults {
			reported = append(reported, f.Name)
		}
		names := []string{"a__b", "bad name", "both", "git", "host", "long", "none", "nul", "odd", "plain", "shell", "split", "twice", "user"}
		if from == Project {
			names = append(names, "here")
		}
		slices.Sort(names)
		if diff := cmp.Diff(names, reported); diff != "" {
			t.Error(diff)
		}
		if i := slices.Index(reported, "git"); faults[i].String() != "git: unknown keys are ignored: alwaysAllow, trust" {
			t.Error(faults[i])
		}
	}
	for _, wrong := range []string{``, `[]`, `{}`, `{"mcpServers":[]}`, `{"mcpServers":{},"mcp":{}}`, `{"mcpServers":{"a":1}`} {
		if _, _, err := ParseFile([]byte(wrong), User); err == nil {
			t.Errorf("%q was read", wrong)
		}
	}
	var many []string
	for i := range maxEntries + 1 {
		many = append(many, fmt.Sprintf(`"s%d":{"command":"x"}`, i))
	}
	if _, _, err := ParseFile([]byte(`{"mcp":{`+strings.Join(many, ",")+`}}`), User); err == nil {
		t.Error("too many were read")
	}
	if servers, _, err := ParseFile([]byte(`{"mcp":{`+many[0]+`}}`), User); err != nil || len(servers) != 1 {
		t.Errorf("pawl's own map: %v, %v", servers, err)
	}
}

// Names have one reading: no two tools of any servers get the same one.
func TestNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		server := rapid.StringMatching(`[a-zA-Z0-9-]{1,8}(_[a-zA-Z0-9-]{1,7})?`)
		tool := rapid.StringMatching(`[a-zA-Z0-9_./ -]{1,80}`)
		a, b := server.Draw(t, "a"), server.Draw(t, "b")
		x, y := tool.Draw(t, "x"), tool.Draw(t, "y")
		first, second := publicName(t, a, x), publicName(t, b, y)
		if len(first) > maxName || notName.MatchString(first) {
			t.Fatalf("%q is no name that providers take", first)
		}
		if first == second && a != b {
			t.Fatalf("%q is of %s and of %s", first, a, b)
		}
	})
}

func publicName(t *rapid.T, server, tool string) string {
	s := Server{Name: server, Transport: Stdio, Command: "x"}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	r, err := newRemote(s, plainTool(tool, "", objectSchema))
	if err != nil {
		t.Fatal(err)
	}
	return r.public
}

// What a program gets to know is its entry's, and nothing that pawl has.
func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_API_KEY", "x")
	env := environment(Server{Env: map[string]string{"B": "2", "A": "1"}})
	if i := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, "SECRET") }); i >= 0 || !slices.Contains(env, "PATH="+os.Getenv("PATH")) {
		t.Errorf("got %v", env)
	}
	if !slices.Equal(env[len(env)-2:], []string{"A=1", "B=2"}) {
		t.Errorf("got %v", env)
	}
	w := newEnv(t, quick, Stdio, "env")
	w.ready()
	if got := w.text("env", `{}`); strings.Contains(got, "SECRET") || !strings.Contains(got, "GORACE=") {
		t.Errorf("a program knows %s", got)
	}
}
