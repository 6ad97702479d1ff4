//go:build e2e

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// everything returns the program of the protocol server for tests.
func everything(t *testing.T) string {
	t.Helper()
	path := filepath.Join(os.Getenv("PAWL_TEST_MCP_DIR"), "@modelcontextprotocol", "server-everything", "dist", "index.js")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: export PAWL_TEST_MCP_DIR=$(make -s mcp-servers)", err)
	}
	return path
}

// newMCPProject returns a work directory with its own home whose user has these MCP servers, as JSON.
func newMCPProject(t *testing.T, servers, more string) *harness.Workdir {
	t.Helper()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	home := t.TempDir()
	file := filepath.Join(home, ".config", "pawl", "pawl.json")
	put(t, file, fmt.Sprintf(`{"small_model":"none","mcp":{%s}%s}`, servers, more))
	b.Env = append(b.Env, "HOME="+home, "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "PAWL_CONFIG=", "ANTHROPIC_API_KEY=a-key")
	return b
}

// TestServersOverTransports: the model calls a tool of the protocol server,
// over each transport, and the log has the result.
func TestServersOverTransports(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http", "sse"} {
		t.Run(transport, func(t *testing.T) {
			entry := fmt.Sprintf(`"everything":{"command":"node","args":[%q,"stdio"]}`, everything(t))
			if transport != "stdio" {
				entry = fmt.Sprintf(`"everything":{"type":%q,"url":%q,"local":true}`, transport, serveEverything(t, transport))
			}
			b := newMCPProject(t, entry, "")
			b.Write(t, "s.jsonl", `{"calls":[{"name":"mcp_search","input":{"query":"sum"}}]}
{"expect":"mcp__everything__get-sum","calls":[{"name":"mcp_call","input":{"tool":"mcp__everything__get-sum","input":{"a":2,"b":40}}}]}
{"expect":"42","text":"done"}
`)
			b.Must(t, "run", "--mode", "yolo", "--model", "script:s.jsonl", "go")
			events := b.Export(t, string(b.Sessions(t)[0].ID))
			i := slices.IndexFunc(events, func(e pawl.Event) bool {
				c, ok := e.Body.(pawl.CallFinished)
				return ok && c.Result.Meta["server"] == "everything" && c.Result.Meta["tool"] == "get-sum" && strings.Contains(c.Result.Content, "42")
			})
			if i < 0 {
				t.Error("the log has no such result")
			}
		})
	}
}

// serveEverything runs the protocol's own server on a port, and returns its address.
func serveEverything(t *testing.T, transport string) string {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := socket.Addr().(*net.TCPAddr).Port
	_ = socket.Close()
	mode, path := "streamableHttp", "/mcp"
	if transport == "sse" {
		mode, path = "sse", "/sse"
	}
	cmd := exec.CommandContext(t.Context(), "node", everything(t), mode)
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port))
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), strconv.Itoa(port)) {
			go func() { _, _ = io.Copy(io.Discard, out) }() // or it may block on a full pipe
			return fmt.Sprintf("http://127.0.0.1:%d%s", port, path)
		}
	}
	t.Fatal("it does not say that it listens")
	return ""
}

// TestKilledPawlLeavesNoServer: kill -9 of pawl ends its servers.
func TestKilledPawlLeavesNoServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "pid")
	entry := strings.Replace(fakeEntry(t, "fake"), `"env":{`, fmt.Sprintf(`"env":{"PID_FILE":%q,`, file), 1)
	b := newMCPProject(t, entry, "")
	b.Write(t, "s.jsonl", `{"calls":[{"name":"mcp_search","input":{}}]}
{"calls":[{"name":"bash","input":{"command":"touch ready; sleep 1000"}}]}
`)
	cmd := b.Command("run", "--mode", "yolo", "--model", "script:s.jsonl", "go")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "ready", func() bool { return exists(filepath.Join(b.Dir, "ready")) })
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("the server does not run: %v", err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for { // until the server has ended, or the test binary's own time
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// recordingProvider is a provider that notes its requests and when they came.
type recordingProvider struct {
	*httptest.Server
	mu       sync.Mutex
	arrivals []time.Time
	bodies   [][]byte
}

func newProvider(t *testing.T, script string) *recordingProvider {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.jsonl")
	put(t, file, script)
	m, err := fakeprovider.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	next, p := fakeprovider.Handler(m, fakeprovider.Config{Key: "a-key"}), &recordingProvider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived := time.Now()
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		p.arrivals, p.bodies = append(p.arrivals, arrived), append(p.bodies, body)
		p.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// config points pawl to the provider.
func (p *recordingProvider) config() string {
	return fmt.Sprintf(`,"providers":{"anthropic":{"base_url":%q}}`, p.URL)
}

const wiredModel = "anthropic/claude-sonnet-4-5"

// maxDelay is how much later the first request may come because of servers that
// never answer.
const maxDelay = 50 * time.Millisecond

// TestFirstRequestWaitsForNoServer: servers that never answer do not hold up the
// first request. Runs with and without them take turns, so that what else the
// machine does is the same for both; the medians are compared.
func TestFirstRequestWaitsForNoServer(t *testing.T) {
	t.Parallel()
	socket, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	p := newProvider(t, `{"text":"hello"}`+"\n")
	never := fmt.Sprintf(`"never":{"command":"sleep","args":["1000"]},"mute":{"url":"http://%s/","local":true}`, socket.Addr())
	without, with := newMCPProject(t, "", p.config()), newMCPProject(t, never, p.config())
	const tries, runs = 3, 9
	for try := range tries {
		var a, b []time.Duration
		for range runs {
			a, b = append(a, p.first(t, without)), append(b, p.first(t, with))
		}
		slices.Sort(a)
		slices.Sort(b)
		delay := b[runs/2] - a[runs/2]
		t.Logf("mcp: first request after %s without servers, %s with two that never answer: %s later",
			a[runs/2].Round(100*time.Microsecond), b[runs/2].Round(100*time.Microsecond), delay.Round(100*time.Microsecond))
		if delay < maxDelay {
			return
		}
		t.Logf("try %d of %d: that is too late", try+1, tries)
	}
	t.Errorf("the first request waits for servers")
}

// first runs pawl and returns how long after its start the first request came.
func (p *recordingProvider) first(t *testing.T, b *harness.Workdir) time.Duration {
	t.Helper()
	p.mu.Lock()
	n := len(p.arrivals)
	p.mu.Unlock()
	began := time.Now()
	b.Must(t, "run", "--model", wiredModel, "go")
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.arrivals) != n+1 {
		t.Fatalf("%d requests", len(p.arrivals)-n)
	}
	return p.arrivals[n].Sub(began)
}

// maxPrompt is how many bytes of a request 100 skills and 50 tools of MCP servers
// may take together.
const maxPrompt = 6 << 10

// TestManyExtensionsCostLittle: what a request says before the conversation, with
// 100 skills and a server of 50 tools, and without.
func TestManyExtensionsCostLittle(t *testing.T) {
	t.Parallel()
	p := newProvider(t, `{"calls":[{"name":"mcp_search","input":{"query":"tool_31"}}]}
{"expect":"mcp__hub__tool_31","text":"found"}
`)
	q := newProvider(t, `{"text":"hello"}`+"\n")
	before := func(body []byte) int {
		var request struct{ System, Tools json.RawMessage }
		if err := json.Unmarshal(body, &request); err != nil || len(request.System) == 0 || len(request.Tools) == 0 {
			t.Fatalf("no request: %v: %.200s", err, body)
		}
		return len(request.System) + len(request.Tools)
	}
	many := newMCPProject(t, fakeEntry(t, "hub", "fifty"), p.config())
	for i := range 100 {
		name := fmt.Sprintf("skill-%02d", i)
		put(t, filepath.Join(homeOf(many), ".config", "pawl", "skills", name, "SKILL.md"),
			fmt.Sprintf("---\nname: %s\ndescription: Reads documents of the kind %d, fills in their forms and says what is in them. Use it whenever one is at hand.\n---\nRead it.\n", name, i))
	}
	many.Must(t, "run", "--mode", "yolo", "--model", wiredModel, "go")
	few := newMCPProject(t, "", q.config())
	few.Dir = many.Dir // the prompt names it
	few.Must(t, "run", "--mode", "yolo", "--model", wiredModel, "go")
	if len(p.bodies) != 2 || len(q.bodies) != 1 {
		t.Fatalf("%d and %d requests", len(p.bodies), len(q.bodies))
	}
	starting, ready, bare := before(p.bodies[0]), before(p.bodies[1]), before(q.bodies[0])
	t.Logf("extensions: %d bytes before the conversation; 100 skills and 50 tools of a server add %d while it starts, %d then", bare, starting-bare, ready-bare)
	for _, size := range []int{starting, ready} {
		if size-bare > maxPrompt || size-bare < 500 {
			t.Errorf("%d bytes more, want 500 to %d", size-bare, maxPrompt)
		}
	}
	if !bytes.Contains(p.bodies[1], []byte("hub (50 tools)")) || !bytes.Contains(p.bodies[1], []byte("skill-00")) {
		t.Errorf("the skills or the tools are not in the request: %.3000s", p.bodies[1])
	}
}

func homeOf(b *harness.Workdir) string {
	home := ""
	for _, entry := range b.Env {
		if value, ok := strings.CutPrefix(entry, "HOME="); ok {
			home = value
		}
	}
	return home
}
