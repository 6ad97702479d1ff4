//go:build e2e

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/test/harness"
	"github.com/pawl-dev/pawl/internal/test/wait"
)

// mcpHost is a host of 'pawl mcp serve', which is a process of its own.
type mcpHost struct {
	*sdk.ClientSession
	t      *testing.T
	hangUp func() // ends the server's input, and returns when the server has ended

	mu       sync.Mutex
	asked    []string // what the person was shown
	progress []string
}

// newHostProject returns a work directory with scripts for the model and a subdirectory for the host.
func newHostProject(t *testing.T) *harness.Workdir {
	t.Helper()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	b.Env = append(b.Env, "PAWL_CONFIG="+filepath.Join(t.TempDir(), "pawl.json"))
	if err := os.Mkdir(filepath.Join(b.Dir, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.Write(t, "hello.jsonl", `{"text":"I write it.","calls":[{"name":"write","input":{"path":"hello.txt","content":"hello\n"}}]}
{"text":"It is there.","usage":{"input":10,"output":5}}
{"text":"Still there."}
`)
	b.Write(t, "ask.jsonl", `{"calls":[{"name":"write","input":{"path":"hello.txt","content":"hello\n"}}]}
{"text":"went on"}
`)
	b.Write(t, "wait.jsonl", `{"calls":[{"name":"bash","input":{"command":"touch begun; while :; do sleep 0.1; done"}}]}
{"text":"went on"}
`)
	return b
}

// serve starts a server and shakes hands. person answers what is asked; nil means
// a host without forms.
func serve(t *testing.T, b *harness.Workdir, person func(*sdk.ElicitParams) *sdk.ElicitResult, args ...string) *mcpHost {
	t.Helper()
	h := &mcpHost{t: t}
	options := &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.progress = append(h.progress, r.Params.Message)
		},
	}
	if person != nil {
		options.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.asked = append(h.asked, r.Params.Message)
			return person(r.Params), nil
		}
	}
	cmd := b.Command(append([]string{"mcp", "serve", "--dir", "work"}, args...)...)
	cmd.Stderr = os.Stderr
	in, out := start(t, cmd)
	h.hangUp = sync.OnceFunc(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	client := sdk.NewClient(&sdk.Implementation{Name: "host", Version: "1"}, options)
	var err error
	if h.ClientSession, err = client.Connect(t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.hangUp)
	return h
}

// start starts a program and returns its ends.
func start(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out
}

// ran is what pawl_run returns.
type ran struct {
	Text         string         `json:"text"`
	Reason       pawl.Reason    `json:"reason"`
	Error        string         `json:"error"`
	Session      pawl.SessionID `json:"session"`
	Dir          string         `json:"dir"`
	FilesChanged []string       `json:"files_changed"`
	Denials      []struct {
		Tool   string `json:"tool"`
		Reason string `json:"reason"`
	} `json:"denials"`
}

// call calls a tool. What it returns is put into out; a failure is returned as text.
func (h *mcpHost) call(ctx context.Context, tool string, in map[string]any, out any) (failure string) {
	h.t.Helper()
	params := &sdk.CallToolParams{Name: tool, Arguments: in}
	params.SetProgressToken("p")
	r, err := h.CallTool(ctx, params)
	if err != nil {
		return err.Error()
	}
	text, err := json.Marshal(r.StructuredContent)
	if err != nil {
		h.t.Fatal(err)
	}
	if r.StructuredContent == nil {
		return r.Content[0].(*sdk.TextContent).Text
	}
	if err := json.Unmarshal(text, out); err != nil {
		h.t.Fatal(err)
	}
	return ""
}

// TestServeRun: a host finds the tools, has a task done, is informed how far it is,
// goes on with the session, lists it and reads it.
func TestServeRun(t *testing.T) {
	t.Parallel()
	b := newHostProject(t)
	h := serve(t, b, nil, "--model", "script:hello.jsonl", "--mode", "yolo")
	tools, err := h.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"pawl_run", "pawl_session", "pawl_sessions"}, names); diff != "" {
		t.Errorf("tools (-want, +got):\n%s", diff)
	}
	var got ran
	if failure := h.call(t.Context(), "pawl_run", map[string]any{"prompt": "write it"}, &got); failure != "" {
		t.Fatal(failure)
	}
	root, err := filepath.EvalSymlinks(filepath.Join(b.Dir, "work"))
	if err != nil {
		t.Fatal(err)
	}
	id := got.Session
	want := ran{Text: "It is there.", Reason: pawl.ReasonEndTurn, Session: id, Dir: root, FilesChanged: []string{"hello.txt"}}
	want.Denials = got.Denials[:0]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want, +got):\n%s", diff)
	}
	if text := b.Read(t, "work/hello.txt"); text != "hello\n" {
		t.Errorf("the file has %q", text)
	}
	wait.Until(t, "three notices of progress", func() bool { h.mu.Lock(); defer h.mu.Unlock(); return len(h.progress) >= 3 })
	if diff := cmp.Diff([]string{"I write it.", "write hello.txt", "It is there."}, h.progress[:3]); diff != "" {
		t.Errorf("progress (-want, +got):\n%s", diff)
	}
	if failure := h.call(t.Context(), "pawl_run", map[string]any{"prompt": "and now?", "session": id, "dir": "."}, &got); failure != "" {
		t.Fatal(failure)
	}
	if got.Session != id || got.Text != "Still there." {
		t.Errorf("going on gave %+v", got)
	}
	var list struct {
		Sessions []struct{ ID, Name, State string }
	}
	if failure := h.call(t.Context(), "pawl_sessions", map[string]any{}, &list); failure != "" {
		t.Fatal(failure)
	}
	if len(list.Sessions) != 1 || list.Sessions[0].ID != string(id) || list.Sessions[0].Name != "write it" || list.Sessions[0].State != "idle" {
		t.Errorf("sessions %+v", list)
	}
	h.reads(id)
}

// reads reads a session as a host does.
func (h *mcpHost) reads(id pawl.SessionID) {
	h.t.Helper()
	type message struct {
		Role, Text string
		Calls      []struct{ Tool, Input string }
	}
	var got struct{ Messages []message }
	if failure := h.call(h.t.Context(), "pawl_session", map[string]any{"session": id}, &got); failure != "" {
		h.t.Fatal(failure)
	}
	want := []message{
		{Role: "user", Text: "write it"},
		{Role: "assistant", Text: "I write it.", Calls: []struct{ Tool, Input string }{{"write", `{"path":"hello.txt","content":"hello\n"}`}}},
		{Role: "tool"}, {Role: "assistant", Text: "It is there."}, {Role: "user", Text: "and now?"}, {Role: "assistant", Text: "Still there."},
	}
	if diff := cmp.Diff(want, got.Messages); diff != "" {
		h.t.Errorf("conversation (-want, +got):\n%s", diff)
	}
}

// TestServeAsks: what pawl would ask is put to the person at the host, once and
// for this once. All that is no clear yes is a no, and so is a host without forms.
func TestServeAsks(t *testing.T) {
	t.Parallel()
	answer := func(action string, content map[string]any) func(*sdk.ElicitParams) *sdk.ElicitResult {
		return func(*sdk.ElicitParams) *sdk.ElicitResult { return &sdk.ElicitResult{Action: action, Content: content} }
	}
	for _, c := range []struct {
		name   string
		person func(*sdk.ElicitParams) *sdk.ElicitResult
		yes    bool
		asked  int
		reason pawl.Reason
	}{
		{"yes", answer("accept", map[string]any{"decision": "allow once"}), true, 1, pawl.ReasonEndTurn},
		{"no", answer("accept", map[string]any{"decision": "deny"}), false, 1, pawl.ReasonPermissionDenied},
		{"an_empty_form", answer("accept", nil), false, 1, pawl.ReasonPermissionDenied},
		{"always", answer("accept", map[string]any{"decision": "always"}), false, 1, pawl.ReasonPermissionDenied},
		{"away", answer("cancel", nil), false, 1, pawl.ReasonPermissionDenied},
		{"no_forms", nil, false, 0, pawl.ReasonEndTurn},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newHostProject(t)
			h := serve(t, b, c.person, "--model", "script:ask.jsonl", "--mode", "ask")
			var got ran
			if failure := h.call(t.Context(), "pawl_run", map[string]any{"prompt": "write it"}, &got); failure != "" {
				t.Fatal(failure)
			}
			if written := b.Read(t, "work/hello.txt") != ""; written != c.yes || got.Reason != c.reason {
				t.Errorf("written: %v, want %v; reason %s, want %s", written, c.yes, got.Reason, c.reason)
			}
			if denied := len(got.Denials) == 1 && got.Denials[0].Tool == "write"; denied == c.yes {
				t.Errorf("denials %+v", got.Denials)
			}
			if len(h.asked) != c.asked || c.asked > 0 && !strings.Contains(h.asked[0], "hello.txt") {
				t.Errorf("the person was asked %q", h.asked)
			}
			if grants := b.Must(t, "permissions", "list").Stdout; !strings.Contains(grants, "No rules and no saved answers.") {
				t.Errorf("something is permitted for good: %s", grants)
			}
		})
	}
}

// TestServeAsksForChildren: what a subagent of the turn wants is asked too, and says
// whose it is; what it was denied is part of the result.
func TestServeAsksForChildren(t *testing.T) {
	t.Parallel()
	for decision, denials := range map[string]int{"allow once": 0, "deny": 1} {
		t.Run(decision, func(t *testing.T) {
			b := newHostProject(t)
			b.Write(t, "child.jsonl", `{"calls":[{"name":"task","input":{"agent":"general","description":"Greet","prompt":"write it"}}]}
{"text":"went on"}
{"agent":"general","calls":[{"name":"write","input":{"path":"hello.txt","content":"hello\n"}}]}
{"agent":"general","text":"written"}
`)
			h := serve(t, b, func(*sdk.ElicitParams) *sdk.ElicitResult {
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision}}
			}, "--model", "script:child.jsonl", "--mode", "ask")
			var got ran
			if failure := h.call(t.Context(), "pawl_run", map[string]any{"prompt": "go"}, &got); failure != "" {
				t.Fatal(failure)
			}
			if len(got.Denials) != denials || (b.Read(t, "work/hello.txt") == "") != (denials > 0) {
				t.Errorf("%+v", got)
			}
			if len(h.asked) != 1 || !strings.HasPrefix(h.asked[0], `Task "Greet" (general) asks:`) || !strings.Contains(h.asked[0], "hello.txt") {
				t.Errorf("the person was asked %q", h.asked)
			}
		})
	}
}

// TestServeCancel: a request that is canceled cancels its turn; an input that ends
// leaves it open, to be resumed.
func TestServeCancel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		state pawl.State
	}{
		{"canceled", pawl.StateIdle},
		{"input_ends", pawl.StateRunning},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newHostProject(t)
			h := serve(t, b, nil, "--model", "script:wait.jsonl", "--mode", "yolo")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			failed := make(chan string)
			go func() { failed <- h.call(ctx, "pawl_run", map[string]any{"prompt": "wait"}, &ran{}) }()
			wait.Until(t, "the command has begun", func() bool { return exists(filepath.Join(b.Dir, "work", "begun")) })
			if c.state == pawl.StateIdle {
				cancel()
			} else {
				h.hangUp()
			}
			if failure := <-failed; failure == "" {
				t.Error("there is a result")
			}
			session := func() pawl.Session {
				var list []pawl.Session
				if err := json.Unmarshal([]byte(b.Must(t, "session", "list", "--all", "--json").Stdout), &list); err != nil || len(list) != 1 {
					t.Fatalf("sessions %v, %v", list, err)
				}
				return list[0]
			}
			wait.Until(t, "the session is "+string(c.state), func() bool { return session().State() == c.state })
			h.hangUp()
			if got := session().State(); got != c.state {
				t.Fatalf("the session is %s, want %s", got, c.state)
			}
			if c.state == pawl.StateIdle {
				log := b.Export(t, string(session().ID))
				if end, ok := log[len(log)-1].Body.(pawl.TurnFinished); !ok || end.Reason != pawl.ReasonCanceled {
					t.Errorf("the log ends with %+v", log[len(log)-1].Body)
				}
				return
			}
			if out := b.Must(t, "resume", string(session().ID)); out.Stdout != "went on\n" {
				t.Errorf("resume printed %q", out.Stdout)
			}
		})
	}
}

// TestServeRefuses: a request gets no other directory, mode, model or session than
// the flags permit, and no trust. Nothing is begun.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	b := newHostProject(t)
	b.Must(t, "run", "--model", "script:hello.jsonl", "--mode", "yolo", "a secret of elsewhere")
	elsewhere := b.Sessions(t)[0].ID
	for link, to := range map[string]string{"link": b.Dir, "again": "..", "file": "../hello.jsonl"} {
		if err := os.Symlink(to, filepath.Join(b.Dir, "work", link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, mode string
		in         map[string]any
		want       string
	}{
		{"another_folder", "guard", map[string]any{"dir": "/"}, "is not inside"},
		{"the_one_above", "guard", map[string]any{"dir": ".."}, "is not inside"},
		{"one_that_begins_alike", "guard", map[string]any{"dir": "../work2"}, "is not inside"},
		{"a_link_out", "guard", map[string]any{"dir": "link"}, "is not inside"},
		{"a_link_above", "guard", map[string]any{"dir": "again/"}, "is not inside"},
		{"a_file_outside", "guard", map[string]any{"dir": "file"}, "is not inside"},
		{"no_folder", "guard", map[string]any{"dir": "none"}, "invalid directory"},
		{"yolo", "guard", map[string]any{"mode": "yolo"}, "cannot be chosen by a request: use guard, ask, plan"},
		{"auto", "guard", map[string]any{"mode": "auto"}, "cannot be chosen by a request"},
		{"guard_in_auto", "auto", map[string]any{"mode": "guard"}, "cannot be chosen by a request: use auto, plan"},
		{"ask_in_plan", "plan", map[string]any{"mode": "ask"}, "cannot be chosen by a request"},
		{"no_mode", "yolo", map[string]any{"mode": "anything"}, "cannot be chosen by a request"},
		{"model", "guard", map[string]any{"model": "script:ask.jsonl"}, "cannot be chosen by a request"},
		{"trust", "guard", map[string]any{"trust": true}, "trust"},
		{"trusted", "guard", map[string]any{"trusted": true}, "trusted"},
		{"absent", "guard", map[string]any{"tools": []string{"bash"}}, "tools"},
		{"session_elsewhere", "yolo", map[string]any{"session": elsewhere}, "not found"},
		{"no_session", "yolo", map[string]any{"session": "../x"}, "not found"},
		{"agent", "guard", map[string]any{"agent": "nobody"}, "nobody"},
		{"no_prompt", "guard", map[string]any{"prompt": " "}, "the prompt is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := serve(t, b, nil, "--model", "script:hello.jsonl", "--mode", c.mode)
			if c.in["prompt"] == nil {
				c.in["prompt"] = "do it"
			}
			if failure := h.call(t.Context(), "pawl_run", c.in, &ran{}); !strings.Contains(failure, c.want) {
				t.Errorf("it says %q, want %q", failure, c.want)
			}
			var list struct{ Sessions []struct{ ID string } }
			if failure := h.call(t.Context(), "pawl_sessions", map[string]any{}, &list); failure != "" || len(list.Sessions) > 0 {
				t.Errorf("sessions %v, %s", list.Sessions, failure)
			}
			if failure := h.call(t.Context(), "pawl_session", map[string]any{"session": elsewhere}, &list); !strings.Contains(failure, "not found") {
				t.Errorf("a session of elsewhere can be read: %q", failure)
			}
		})
	}
	if text := b.Must(t, "session", "list", "--all", "--json").Stdout; strings.Count(text, `"id"`) != 1 {
		t.Errorf("something was begun: %s", text)
	}
	if out := b.Run(t, "mcp", "serve", "--trust", "--model", "script:hello.jsonl"); out.Code != cli.ExitUsage || !strings.Contains(out.Stderr, "trust each project") {
		t.Errorf("--trust: exit %d, %s", out.Code, out.Stderr)
	}
}

// TestServeAnyModel: with the flag, a request may name another model.
func TestServeAnyModel(t *testing.T) {
	t.Parallel()
	b := newHostProject(t)
	h := serve(t, b, nil, "--model", "script:hello.jsonl", "--mode", "yolo", "--any-model")
	var got ran
	if failure := h.call(t.Context(), "pawl_run", map[string]any{"prompt": "x", "model": "script:" + filepath.Join(b.Dir, "ask.jsonl")}, &got); failure != "" || got.Text != "went on" {
		t.Errorf("%q, %+v", failure, got)
	}
}

// TestServeGarbage: what is no protocol ends the server, with a word on standard
// error. Standard output has messages and nothing else, whatever came in.
func TestServeGarbage(t *testing.T) {
	t.Parallel()
	hello := []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`"protocolVersion":"2025-06-18"`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "",
	}
	call := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":` + arguments + `}`
	}
	b := newHostProject(t)
	for _, c := range []struct {
		name  string
		lines []string // each with what is waited for after it; "" is nothing
		code  int
	}{
		{"nothing", nil, 0},
		{"hello", hello, 0},
		{"words", []string{"hello there", ""}, 1},
		{"bytes", append(hello, "\x00\xff\xfe{{{{", ""), 1},
		{"no_message", append(hello, `{"a":1}`, ""), 1},
		{"half", append(hello, `{"jsonrpc":"2.0","id":2,"meth`, ""), 1},
		{"too_early", []string{call(`{"name":"pawl_run","arguments":{"prompt":"x"}}`), `"error"`}, 0},
		{"no_tool", append(hello, call(`{"name":"bash","arguments":{}}`), `"error"`), 0},
		{"wrong_types", append(hello, call(`{"name":"pawl_run","arguments":{"prompt":7}}`), `"isError":true`), 0},
		{"no_arguments", append(hello, call(`{"name":"pawl_run"}`), `"isError":true`), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := b.Command("mcp", "serve", "--model", "script:hello.jsonl", "--verbose")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			in, out := start(t, cmd)
			answers := bufio.NewScanner(out)
			for i := 0; i < len(c.lines); i += 2 {
				fmt.Fprintln(in, c.lines[i])
				if want := c.lines[i+1]; want != "" && (!answers.Scan() || !strings.Contains(answers.Text(), want)) {
					t.Fatalf("it says %q, want %q", answers.Text(), want)
				}
			}
			_ = in.Close()
			for answers.Scan() {
				var m struct{ JSONRPC string }
				if err := json.Unmarshal(answers.Bytes(), &m); err != nil || m.JSONRPC != "2.0" {
					t.Errorf("no message: %q", answers.Text())
				}
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != c.code || (code != 0) != strings.Contains(stderr.String(), "pawl: serve MCP: ") {
				t.Errorf("exit %d, want %d: %s", code, c.code, &stderr)
			}
			if list := b.Must(t, "session", "list", "--all", "--json").Stdout; list != "[]\n" {
				t.Errorf("something was begun: %s", list)
			}
		})
	}
}
