package mcpclient

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
)

// reference returns the program of one of the protocol servers.
func reference(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("PAWL_TEST_MCP_DIR")
	path := filepath.Join(dir, "@modelcontextprotocol", "server-"+name, "dist", "index.js")
	if _, err := os.Stat(path); dir == "" || err != nil {
		t.Fatalf(`%s is not in PAWL_TEST_MCP_DIR=%q: export PAWL_TEST_MCP_DIR=$(make -s mcp-servers)`, name, dir)
	}
	return path
}

// realEnv starts a reference server.
func realEnv(t *testing.T, s Server) *env {
	t.Helper()
	s.Name = "fake"
	w := &env{t: t, dir: t.TempDir(), server: s, host: &person{}}
	w.Servers = New(Config{times: quick})
	t.Cleanup(w.Close)
	if err := w.Start(w.dir, []Server{s}); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestReferenceServers(t *testing.T) {
	t.Parallel()
	count := 0
	t.Run("filesystem", func(t *testing.T) { count += testFilesystem(t) })
	t.Run("memory", func(t *testing.T) { count += testMemory(t) })
	for _, transport := range transports {
		t.Run("everything over "+transport, func(t *testing.T) { count += testEverything(t, transport) })
	}
	t.Logf("mcp: %d cases with the reference servers", count)
}

// step is a call and what its answer must hold.
type step struct{ tool, input, want string }

func (w *env) play(steps []step) int {
	w.t.Helper()
	for _, s := range steps {
		r, err := w.call(s.tool, s.input)
		got := r.Content
		if err != nil {
			got = "error: " + err.Error()
		}
		if r.IsError {
			got = "failed: " + got
		}
		if !strings.Contains(got, s.want) {
			w.t.Errorf("%s %s: got %q, want %q", s.tool, s.input, got, s.want)
		}
	}
	return len(steps)
}

func testFilesystem(t *testing.T) int {
	files := t.TempDir()
	w := realEnv(t, Server{Transport: Stdio, Command: "node", Args: []string{reference(t, "filesystem"), files}})
	w.ready()
	return w.play([]step{
		{"write_file", fmt.Sprintf(`{"path":%q,"content":"hello"}`, filepath.Join(files, "a.txt")), "Successfully wrote"},
		{"read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(files, "a.txt")), "hello"},
		{"list_directory", fmt.Sprintf(`{"path":%q}`, files), "a.txt"},
		{"read_text_file", `{"path":"/etc/passwd"}`, "failed: Access denied"},
		{"read_text_file", `{"paths":1}`, "failed: "},
	})
}

func testMemory(t *testing.T) int {
	w := realEnv(t, Server{
		Transport: Stdio, Command: "node", Args: []string{reference(t, "memory")},
		Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(t.TempDir(), "memory.json")},
	})
	w.ready()
	return w.play([]step{
		{"create_entities", `{"entities":[{"name":"Ann","entityType":"person","observations":["likes Go"]}]}`, "Ann"},
		{"search_nodes", `{"query":"Go"}`, "likes Go"},
		{"open_nodes", `{"names":["Bob"]}`, "entities"},
	})
}

func testEverything(t *testing.T, transport string) int {
	s := Server{Transport: Stdio, Command: "node", Args: []string{reference(t, "everything"), "stdio"}}
	if transport != Stdio {
		s = Server{Transport: transport, URL: serveEverything(t, transport), Local: true}
	}
	w := realEnv(t, s)
	status := w.ready()
	n := w.play([]step{
		{"echo", `{"message":"hello"}`, "Echo: hello"},
		{"get-sum", `{"a":2,"b":3}`, "5"},
		{"get-structured-content", `{"location":"New York"}`, "temperature"},
		{"trigger-long-running-operation", `{"duration":0.2,"steps":2}`, "completed"},
	})
	r, err := w.call("get-tiny-image", `{}`)
	if err != nil || len(r.Files) != 1 || r.Files[0].MediaType != "image/png" {
		t.Errorf("image: %v, %v", r.Content, err)
	}
	if len(w.Prompts(w.dir)) == 0 || len(w.Resources(w.dir)) == 0 {
		t.Errorf("%d prompts, %d resources", status.Prompts, status.Resources)
	}
	p, err := w.GetPrompt(t.Context(), w.dir, "fake", "simple-prompt", nil)
	if err != nil || p.Content == "" {
		t.Errorf("prompt: %q, %v", p.Content, err)
	}
	first := w.Resources(w.dir)[0].URI
	if doc, err := w.ReadResource(t.Context(), w.dir, "fake", first); err != nil || doc.Content == "" {
		t.Errorf("resource %s: %v", first, err)
	}
	if slices.Contains(status.Tools, "mcp__fake__trigger-elicitation-request") {
		w.host.answer = func(a pawl.Ask) pawl.Answer { return pawl.Answer{Outcome: pawl.OutcomeDenied} }
		n += w.play([]step{{"trigger-elicitation-request", `{}`, "decline"}})
	}
	if slices.ContainsFunc(status.Tools, func(name string) bool { return strings.Contains(name, "sampling") }) {
		t.Error("it offers sampling, which it was not offered")
	}
	return n + 4
}

// serveEverything runs the server on a port of its own.
func serveEverything(t *testing.T, transport string) string {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := socket.Addr().(*net.TCPAddr).Port
	_ = socket.Close()
	mode, path := "streamableHttp", "/mcp"
	if transport == SSE {
		mode, path = "sse", "/sse"
	}
	cmd := exec.CommandContext(t.Context(), "node", reference(t, "everything"), mode)
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
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), fmt.Sprint(port)) {
			go func() {
				for lines.Scan() { // or it may block on a full pipe
				}
			}()
			return fmt.Sprintf("http://127.0.0.1:%d%s", port, path)
		}
	}
	t.Fatal("it does not say that it listens")
	return ""
}
