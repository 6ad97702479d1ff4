//go:build e2e

package acp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

// patience is how long a test waits for what must come. It only bounds a failure.
const patience = 60 * time.Second

// editor is an editor for tests: the library's client over the pipes of the real
// program. It keeps all that it is shown.
type editor struct {
	t    testing.TB
	conn *sdk.ClientSideConnection
	cmd  *exec.Cmd
	in   io.WriteCloser
	err  bytes.Buffer // what the program said on standard error; read it after the end

	decide func(sdk.RequestPermissionRequest) sdk.PermissionOptionId // "" means canceled
	files  map[string]string                                         // what it has open and has not saved
	hand   func(path string) (string, error)                         // hands over a file instead, if it is set

	mu    sync.Mutex
	reads []sdk.ReadTextFileRequest
	shown []sdk.SessionNotification
	asks  []sdk.RequestPermissionRequest
	news  chan struct{}
	lines []string // that the program wrote, as they were
}

var _ sdk.Client = (*editor)(nil)

// start starts the program in a working directory and initializes the connection.
func start(t testing.TB, b *harness.Workdir, args ...string) *editor {
	t.Helper()
	return startAs(t, b, sdk.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}, args...)
}

// startAs is start of an editor that can do this with files. It has terminals.
func startAs(t testing.TB, b *harness.Workdir, fs sdk.FileSystemCapabilities, args ...string) *editor {
	t.Helper()
	e := &editor{t: t, cmd: b.Command(append([]string{"acp"}, args...)...), news: make(chan struct{}, 1)}
	in, err := e.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	e.cmd.Stderr = &e.err
	e.in = in
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begin := make(chan struct{})
	e.conn = sdk.NewClientSideConnection(e, in, &tee{Reader: out, keep: e.keep, begin: begin})
	e.conn.SetLogger(slog.New(slog.DiscardHandler))
	close(begin)
	t.Cleanup(func() {
		_ = e.cmd.Process.Kill()
		_ = e.cmd.Wait()
		if t.Failed() {
			t.Logf("standard error:\n%s", e.err.String())
		}
	})
	r, err := e.conn.Initialize(t.Context(), sdk.InitializeRequest{
		ProtocolVersion:    sdk.ProtocolVersionNumber,
		ClientCapabilities: sdk.ClientCapabilities{Fs: fs, Terminal: true},
	})
	if err != nil {
		t.Fatalf("initialize: %v", err)
	}
	if !r.AgentCapabilities.McpCapabilities.Http || !r.AgentCapabilities.McpCapabilities.Sse {
		t.Fatalf("initialize: %+v", r.AgentCapabilities)
	}
	if r.ProtocolVersion != 1 || !r.AgentCapabilities.LoadSession || !r.AgentCapabilities.PromptCapabilities.Image {
		t.Fatalf("initialize: %+v", r)
	}
	return e
}

// tee keeps what is read through it.
type tee struct {
	io.Reader
	keep  func([]byte)
	begin <-chan struct{}
}

func (r *tee) Read(p []byte) (int, error) {
	<-r.begin
	n, err := r.Reader.Read(p)
	r.keep(p[:n])
	return n, err
}

func (e *editor) keep(p []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, string(p))
	e.wake()
}

// written is all that the program has written.
func (e *editor) written() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.lines, "")
}

func (e *editor) wake() {
	select {
	case e.news <- struct{}{}:
	default:
	}
}

// await waits until something holds for what was shown.
func (e *editor) await(what string, ok func() bool) {
	e.t.Helper()
	over := time.After(patience)
	for !ok() {
		select {
		case <-e.news:
		case <-over:
			e.t.Fatalf("waited in vain for %s; was shown:\n%s", what, e.transcript(""))
		}
	}
}

func (e *editor) session(dir string) sdk.SessionId {
	e.t.Helper()
	return e.newSession(dir).SessionId
}

func (e *editor) newSession(dir string) sdk.NewSessionResponse {
	e.t.Helper()
	r, err := e.conn.NewSession(e.t.Context(), sdk.NewSessionRequest{Cwd: dir, McpServers: []sdk.McpServer{}})
	if err != nil {
		e.t.Fatalf("session/new: %v", err)
	}
	return r
}

// prompt prompts and returns why the turn ended, or the error's words.
func (e *editor) prompt(id sdk.SessionId, blocks ...sdk.ContentBlock) string {
	e.t.Helper()
	r, err := e.conn.Prompt(e.t.Context(), sdk.PromptRequest{SessionId: id, Prompt: blocks})
	if err != nil {
		return words(err)
	}
	return string(r.StopReason)
}

// words is an error's message.
func words(err error) string {
	var refused *sdk.RequestError
	if errors.As(err, &refused) {
		return refused.Message
	}
	return err.Error()
}

// updates are those of a session so far; of "" those of all.
func (e *editor) updates(id sdk.SessionId) []sdk.SessionUpdate {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []sdk.SessionUpdate
	for _, n := range e.shown {
		if id == "" || n.SessionId == id {
			list = append(list, n.Update)
		}
	}
	return list
}

func (e *editor) requests() []sdk.RequestPermissionRequest {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]sdk.RequestPermissionRequest{}, e.asks...)
}

// text is what the model has said in a session; thoughts what it thought.
func (e *editor) text(id sdk.SessionId) string {
	var b strings.Builder
	for _, u := range e.updates(id) {
		if u.AgentMessageChunk != nil {
			b.WriteString(u.AgentMessageChunk.Content.Text.Text)
		}
	}
	return b.String()
}

func (e *editor) thoughts(id sdk.SessionId) string {
	var b strings.Builder
	for _, u := range e.updates(id) {
		if u.AgentThoughtChunk != nil {
			b.WriteString(u.AgentThoughtChunk.Content.Text.Text)
		}
	}
	return b.String()
}

// transcript is what was shown, one line for each thing; pieces of one text are joined.
func (e *editor) transcript(id sdk.SessionId) string {
	var lines []string
	last := ""
	add := func(role, text string) {
		if role == last {
			lines[len(lines)-1] += text
		} else {
			lines = append(lines, role+": "+text)
		}
		last = role
	}
	for _, u := range e.updates(id) {
		switch {
		case u.UserMessageChunk != nil:
			add("user", textOf(u.UserMessageChunk.Content))
		case u.AgentMessageChunk != nil:
			add("agent", textOf(u.AgentMessageChunk.Content))
		case u.AgentThoughtChunk != nil:
			add("thought", textOf(u.AgentThoughtChunk.Content))
		case u.ToolCall != nil:
			last = ""
			lines = append(lines, fmt.Sprintf("call: %s %s %s", u.ToolCall.ToolCallId, u.ToolCall.Kind, u.ToolCall.Title))
		case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil:
			last = ""
			lines = append(lines, fmt.Sprintf("call: %s %s", u.ToolCallUpdate.ToolCallId, *u.ToolCallUpdate.Status))
		case u.Plan != nil:
			last = ""
			data, _ := json.Marshal(u.Plan.Entries)
			lines = append(lines, "plan: "+string(data))
		case u.CurrentModeUpdate != nil:
			last = ""
			lines = append(lines, "mode: "+string(u.CurrentModeUpdate.CurrentModeId))
		}
	}
	return strings.Join(lines, "\n")
}

func textOf(b sdk.ContentBlock) string {
	switch {
	case b.Text != nil:
		return b.Text.Text
	case b.Image != nil:
		return "(image " + b.Image.MimeType + ")"
	default:
		return "?"
	}
}

// calls are what was shown of a call, in order.
func (e *editor) contents(id sdk.SessionId, call sdk.ToolCallId) (list [][]sdk.ToolCallContent) {
	for _, u := range e.updates(id) {
		if u.ToolCallUpdate != nil && u.ToolCallUpdate.ToolCallId == call && u.ToolCallUpdate.Content != nil {
			list = append(list, u.ToolCallUpdate.Content)
		}
	}
	return list
}

// SessionUpdate keeps an update.
func (e *editor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shown = append(e.shown, n)
	e.wake()
	return nil
}

// RequestPermission chooses as the test says.
func (e *editor) RequestPermission(_ context.Context, r sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	e.mu.Lock()
	e.asks = append(e.asks, r)
	decide := e.decide
	e.wake()
	e.mu.Unlock()
	if decide == nil {
		return sdk.RequestPermissionResponse{}, sdk.NewMethodNotFound("session/request_permission")
	}
	if id := decide(r); id != "" {
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(id)}, nil
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
}

// ReadTextFile is the editor's own view of a file: what is not saved, else what is
// on the disk.
func (e *editor) ReadTextFile(_ context.Context, r sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	e.mu.Lock()
	e.reads = append(e.reads, r)
	text, ok := e.files[r.Path]
	hand := e.hand
	e.mu.Unlock()
	if hand != nil {
		text, err := hand(r.Path)
		return sdk.ReadTextFileResponse{Content: text}, err
	}
	if ok {
		return sdk.ReadTextFileResponse{Content: text}, nil
	}
	data, err := os.ReadFile(r.Path)
	if err != nil {
		return sdk.ReadTextFileResponse{}, sdk.NewInvalidParams("no such file")
	}
	return sdk.ReadTextFileResponse{Content: string(data)}, nil
}

// asked are the files that the editor was asked for, in their order.
func (e *editor) asked() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var paths []string
	for _, r := range e.reads {
		paths = append(paths, r.Path)
	}
	return paths
}

var errNotUsed = errors.New("pawl must not use this")

func (e *editor) WriteTextFile(context.Context, sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	return sdk.WriteTextFileResponse{}, errNotUsed
}

func (e *editor) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	return sdk.CreateTerminalResponse{}, errNotUsed
}

func (e *editor) KillTerminal(context.Context, sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	return sdk.KillTerminalResponse{}, errNotUsed
}

func (e *editor) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	return sdk.TerminalOutputResponse{}, errNotUsed
}

func (e *editor) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	return sdk.ReleaseTerminalResponse{}, errNotUsed
}

func (e *editor) WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
	return sdk.WaitForTerminalExitResponse{}, errNotUsed
}
