//go:build e2e

package acp_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

// everything is the program of the MCP protocol's own server for tests.
func everything(t testing.TB) string {
	t.Helper()
	path := filepath.Join(os.Getenv("PAWL_TEST_MCP_DIR"), "@modelcontextprotocol", "server-everything", "dist", "index.js")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: export PAWL_TEST_MCP_DIR=$(make -s mcp-servers)", err)
	}
	return path
}

// program is that server as an editor hands over a program. It writes its number
// to a file.
func program(t testing.TB, name, pidFile string, env ...sdk.EnvVariable) sdk.McpServer {
	t.Helper()
	return sdk.McpServer{Stdio: &sdk.McpServerStdio{
		Name: name, Command: "/bin/sh", Env: append([]sdk.EnvVariable{}, env...),
		Args: []string{"-c", `echo $$ >> "$0"; exec node "$1" stdio`, pidFile, everything(t)},
	}}
}

// onNetwork is that server as an editor hands over an address.
func onNetwork(t testing.TB, name, transport string, headers ...sdk.HttpHeader) sdk.McpServer {
	t.Helper()
	address := serveEverything(t, transport)
	headers = append([]sdk.HttpHeader{}, headers...)
	if transport == "sse" {
		return sdk.McpServer{Sse: &sdk.McpServerSseInline{Name: name, Type: "sse", Url: address, Headers: headers}}
	}
	return sdk.McpServer{Http: &sdk.McpServerHttpInline{Name: name, Type: "http", Url: address, Headers: headers}}
}

// serveEverything runs the server on a port of this machine.
func serveEverything(t testing.TB, transport string) string {
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
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), strconv.Itoa(port)) {
			return fmt.Sprintf("http://127.0.0.1:%d%s", port, path)
		}
	}
	t.Fatalf("the server on port %d did not start: %v", port, lines.Err())
	return ""
}

// with begins a session with MCP servers.
func (e *editor) with(dir string, servers ...sdk.McpServer) sdk.SessionId {
	e.t.Helper()
	r, err := e.conn.NewSession(e.t.Context(), sdk.NewSessionRequest{Cwd: dir, McpServers: append([]sdk.McpServer{}, servers...)})
	if err != nil {
		e.t.Fatalf("session/new: %v", err)
	}
	return r.SessionId
}

// sum has the model find the tool of a server and use it.
func sum(server string) []string {
	return []string{
		`{"calls":[{"name":"mcp_search","input":{"query":"sum"}}]}`,
		fmt.Sprintf(`{"expect":"mcp__%[1]s__get-sum","calls":[{"name":"mcp_call","input":{"tool":"mcp__%[1]s__get-sum","input":{"a":2,"b":40}}}]}`, server),
		`{"expect":"42","text":"It is 42."}`,
	}
}

// isIn returns the files in the store and the data directory that contain text.
func isIn(t testing.TB, b *harness.Workdir, text string) (files []string) {
	t.Helper()
	for _, entry := range b.Env {
		dir, ok := strings.CutPrefix(entry, "PAWL_STORE=")
		if ok {
			dir = filepath.Dir(dir)
		} else if dir, ok = strings.CutPrefix(entry, "PAWL_DATA="); !ok {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if bytes.Contains(data, []byte(text)) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestEditorsServers: the tools of MCP servers that the editor hands over are
// used, over all transports. Their secrets are in no log, though the server tells
// them.
func TestEditorsServers(t *testing.T) {
	t.Parallel()
	const token = "tok-5f0c2d7e91ab4c3d"
	for _, transport := range []string{"stdio", "http", "sse"} {
		t.Run(transport, func(t *testing.T) {
			script := sum("everything")
			server := onNetworkOr(t, transport, token)
			if transport == "stdio" {
				script = append(script[:2:2], `{"expect":"42","calls":[{"name":"mcp__everything__get-env","input":{}}]}`, `{"expect":"PLAIN_WORD","text":"It is 42."}`)
			}
			b, model := newWorkdir(t, script...)
			e := start(t, b, "--model", model, "--mode", "yolo")
			id := e.with(b.Dir, server)
			if stop := e.prompt(id, sdk.TextBlock("go")); stop != "end_turn" || e.text(id) != "It is 42." {
				t.Errorf("it ended with %q:\n%s", stop, e.transcript(id))
			}
			if files := isIn(t, b, token); files != nil {
				t.Errorf("the token is in %q", files)
			}
			if isIn(t, b, "get-sum") == nil {
				t.Error("the log was not looked at")
			}
			if strings.Contains(e.written(), token) {
				t.Error("the editor is shown the token")
			}
		})
	}
}

func onNetworkOr(t testing.TB, transport, token string) sdk.McpServer {
	t.Helper()
	if transport != "stdio" {
		return onNetwork(t, "everything", transport, sdk.HttpHeader{Name: "Authorization", Value: "Bearer " + token})
	}
	return program(t, "everything", filepath.Join(t.TempDir(), "pid"), sdk.EnvVariable{Name: "SERVICE_TOKEN", Value: token}, sdk.EnvVariable{Name: "PLAIN_WORD", Value: "plain"})
}

// TestServersOfASession: what one session is given, another in the same directory has
// not; a task of the session has it.
func TestServersOfASession(t *testing.T) {
	t.Parallel()
	add := `"calls":[{"name":"mcp__everything__get-sum","input":{"a":2,"b":40}}]}`
	b, model := newWorkdir(t,
		`{`+add, `{"text":"One."}`,
		`{"calls":[{"name":"task","input":{"agent":"general","prompt":"add","description":"the adder"}}]}`, `{"expect":"It is 42","text":"Two."}`,
		`{"agent":"general",`+add, `{"agent":"general","expect":"42","text":"It is 42."}`)
	e := start(t, b, "--model", model, "--mode", "yolo")
	one, other := e.with(b.Dir, program(t, "everything", filepath.Join(t.TempDir(), "pid"))), e.session(b.Dir)
	for _, id := range []sdk.SessionId{one, other, one} {
		if stop := e.prompt(id, sdk.TextBlock("go")); stop != "end_turn" {
			t.Errorf("it ended with %q:\n%s", stop, e.transcript(id))
		}
	}
	if got := results(t, b, one)["call_1_1"]; !strings.Contains(got, "42") || e.text(one) != "One.Two." {
		t.Errorf("the session has %q:\n%s", got, e.transcript(one))
	}
	if got := results(t, b, other)["call_1_1"]; !strings.Contains(got, "there is no tool") {
		t.Errorf("the other one has %q", got)
	}
}

// TestServersComeAgain: after pawl was killed the editor hands its servers over
// once more, and the turn goes on with them. A session that is loaded without has
// none, and one that is closed leaves no program behind.
func TestServersComeAgain(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	long := `{"calls":[{"name":"bash","input":{"command":"touch begun; until [ -e go ]; do sleep 0.05; done"}}]}`
	add := `{"calls":[{"name":"mcp__everything__get-sum","input":{"a":2,"b":40}}]}`
	b, model := newWorkdir(t, long, add, `{"expect":"42","text":"It is 42."}`, add, `{"text":"There is none."}`)
	e := start(t, b, "--model", model, "--mode", "yolo")
	id := e.with(b.Dir, program(t, "everything", pids))
	e.background(id, "go")
	e.await("the command", func() bool { return strings.Contains(e.transcript(id), "in_progress") })
	_ = e.cmd.Process.Kill()
	_ = e.cmd.Wait()
	b.Write(t, "go", "")

	e = start(t, b, "--model", model, "--mode", "yolo")
	load := func(servers ...sdk.McpServer) {
		t.Helper()
		if _, err := e.conn.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: b.Dir, McpServers: append([]sdk.McpServer{}, servers...)}); err != nil {
			t.Fatal(err)
		}
	}
	load(program(t, "everything", pids))
	e.await("the end of the turn", func() bool { return strings.HasSuffix(e.text(id), "It is 42.") })
	load()
	e.prompt(id, sdk.TextBlock("again"))
	if got := results(t, b, id)["call_4_1"]; !strings.Contains(got, "there is no tool") {
		t.Errorf("without servers: %q", got)
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		awaitEnd(t, pid)
	}
}

// awaitEnd waits until a process is no more.
func awaitEnd(t testing.TB, pid int) {
	t.Helper()
	over := time.After(patience)
	for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		select {
		case <-over:
			t.Fatalf("process %d is still there", pid)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestServersThatAreNotUsed: one of a name that the configuration has, and one
// that cannot be used, are left out and named; the others are used.
func TestServersThatAreNotUsed(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, sum("My-server")...)
	config := filepath.Join(t.TempDir(), "pawl.json")
	if err := os.WriteFile(config, []byte(`{"small_model":"none","mcp":{"taken":{"command":"true","disabled":true}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Env = append(b.Env, "PAWL_CONFIG="+config)
	pids := filepath.Join(t.TempDir(), "pids")
	e := start(t, b, "--model", model, "--mode", "yolo")
	id := e.with(b.Dir, program(t, "taken", pids), program(t, "My server", filepath.Join(t.TempDir(), "pid")), program(t, "My/server", pids),
		sdk.McpServer{Http: &sdk.McpServerHttpInline{Name: "plain", Type: "http", Url: "http://example.com/mcp", Headers: []sdk.HttpHeader{}}})
	if stop := e.prompt(id, sdk.TextBlock("go")); stop != "end_turn" || e.text(id) != "It is 42." {
		t.Errorf("it ended with %q:\n%s", stop, e.transcript(id))
	}
	notices := e.thoughts(id)
	for _, want := range []string{
		`The editor's MCP server "taken" is not used: Pawl's configuration has a server with the same name (taken).`,
		`The editor's MCP server "My server" is called My-server in Pawl.`,
		`The editor's MCP server "My/server" is not used: the editor has another server that Pawl calls My-server`,
		`The editor's MCP server "plain" is not used: url: use https`,
	} {
		if !strings.Contains(notices, want) {
			t.Errorf("it does not say %q: %q", want, notices)
		}
	}
	if _, err := os.Stat(pids); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one of them was started: %v", err)
	}
}
