package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/pawl-dev/pawl"
)

// Serve runs the protocol until the editor closes in or ctx ends. Turns that are
// running then remain unfinished in the log and can be resumed.
func Serve(ctx context.Context, c Config, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := newAgent(c)
	a.newContext = func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }
	w := &connection{agent: a, out: &messageWriter{out: out, watchers: map[string]chan struct{}{}}, queued: make(chan struct{}), ready: make(chan struct{})}
	a.editor = w
	w.conn = sdk.NewAgentSideConnection(w, w.out, &messageReader{in: bufio.NewReaderSize(gatedReader{in, w.ready}, 64<<10), reject: w.out.reject, afterMessage: w.awaitQueued})
	w.conn.SetLogger(slog.New(slog.DiscardHandler)) // connection errors go to Config.Log
	close(w.ready)
	select {
	case <-w.conn.Done():
	case <-ctx.Done():
	}
	cancel(errDisconnected)
	ended := make(chan struct{})
	go func() { a.running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(shutdownTime): // a write hangs: the editor does not read any more
	}
	return nil
}

// shutdownTime bounds how long Serve waits for running work when it ends.
const shutdownTime = 2 * time.Second

// gatedReader blocks reads until ready is closed: the SDK starts reading before the
// connection is set up.
type gatedReader struct {
	io.Reader
	ready <-chan struct{}
}

func (l gatedReader) Read(p []byte) (int, error) {
	<-l.ready
	return l.Reader.Read(p)
}

// connection translates between the SDK's types and this package's.
type connection struct {
	agent   *agent
	conn    *sdk.AgentSideConnection
	out     *messageWriter
	ready   chan struct{}
	queued  chan struct{} // receives a value for each prompt that has been queued
	canRead atomic.Bool
}

var (
	_ sdk.Agent       = (*connection)(nil)
	_ sdk.AgentLoader = (*connection)(nil)
	_ editor          = (*connection)(nil)
)

// awaitQueued waits until a prompt is queued, so that a cancel sent after it applies
// to it: the SDK handles messages concurrently.
func (w *connection) awaitQueued(line []byte) {
	var m struct { // as the SDK decodes it
		JSONRPC string            `json:"jsonrpc"`
		ID      *json.RawMessage  `json:"id"`
		Method  string            `json:"method"`
		Params  json.RawMessage   `json:"params"`
		Result  json.RawMessage   `json:"result"`
		Error   *sdk.RequestError `json:"error"`
	}
	var p sdk.PromptRequest
	if json.Unmarshal(line, &m) != nil || m.Method != sdk.AgentMethodSessionPrompt || json.Unmarshal(m.Params, &p) != nil || p.Validate() != nil {
		return // the SDK will not call Prompt
	}
	<-w.queued
}

// Initialize exchanges capabilities.
func (w *connection) Initialize(_ context.Context, p sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	w.canRead.Store(p.ClientCapabilities.Fs.ReadTextFile)
	return sdk.InitializeResponse{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		AgentInfo:       &sdk.Implementation{Name: "pawl", Title: sdk.Ptr("Pawl"), Version: w.agent.Version},
		AgentCapabilities: sdk.AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: sdk.PromptCapabilities{Image: true, EmbeddedContext: true},
			McpCapabilities:    sdk.McpCapabilities{Http: true, Sse: true},
			SessionCapabilities: sdk.SessionCapabilities{
				List: &sdk.SessionListCapabilities{}, Resume: &sdk.SessionResumeCapabilities{}, Close: &sdk.SessionCloseCapabilities{},
			},
		},
		AuthMethods: []sdk.AuthMethod{},
	}, nil
}

// Authenticate does nothing, because pawl has its own keys; it fails if one is
// missing.
func (w *connection) Authenticate(ctx context.Context, _ sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	if w.agent.Settings.Model == "" {
		if _, err := w.agent.Model(ctx); err != nil {
			return sdk.AuthenticateResponse{}, failure(err)
		}
	}
	return sdk.AuthenticateResponse{}, nil
}

// NewSession creates a session.
func (w *connection) NewSession(ctx context.Context, p sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	dir, err := checkDir(p.Cwd, p.AdditionalDirectories)
	if err != nil {
		return sdk.NewSessionResponse{}, failure(err)
	}
	s, c, err := w.agent.createSession(ctx, dir, toServers(p.McpServers))
	if err != nil {
		return sdk.NewSessionResponse{}, failure(err)
	}
	known := w.out.written(string(s.id))
	w.agent.running.Go(func() {
		ctx, cancel := w.agent.newContext()
		defer cancel()
		select {
		case <-known:
			w.agent.showCommands(ctx, s)
			w.agent.follow(s, newRenderer(s))
		case <-ctx.Done():
			s.close(errDisconnected)
		}
	})
	return sdk.NewSessionResponse{SessionId: sdk.SessionId(s.id), Modes: w.modes(c), Models: models(c)}, nil
}

// LoadSession opens a session and replays it.
func (w *connection) LoadSession(ctx context.Context, p sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	c, err := w.loadSession(ctx, p.SessionId, p.Cwd, p.AdditionalDirectories, p.McpServers, false)
	if err != nil {
		return sdk.LoadSessionResponse{}, failure(err)
	}
	return sdk.LoadSessionResponse{Modes: w.modes(c), Models: models(c)}, nil
}

// ResumeSession opens a session without replaying it.
func (w *connection) ResumeSession(ctx context.Context, p sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	c, err := w.loadSession(ctx, p.SessionId, p.Cwd, p.AdditionalDirectories, p.McpServers, true)
	if err != nil {
		return sdk.ResumeSessionResponse{}, failure(err)
	}
	return sdk.ResumeSessionResponse{Modes: w.modes(c), Models: models(c)}, nil
}

func (w *connection) loadSession(ctx context.Context, id sdk.SessionId, cwd string, more []string, servers []sdk.McpServer, quiet bool) (sessionSettings, error) {
	dir, err := checkDir(cwd, more)
	if err != nil {
		return sessionSettings{}, err
	}
	return w.agent.loadSession(ctx, pawl.SessionID(id), dir, toServers(servers), quiet)
}

// CloseSession cancels the session's work and closes it; its log stays.
func (w *connection) CloseSession(ctx context.Context, p sdk.CloseSessionRequest) (sdk.CloseSessionResponse, error) {
	return sdk.CloseSessionResponse{}, failure(w.agent.closeSession(ctx, pawl.SessionID(p.SessionId)))
}

// ListSessions lists sessions, newest first.
func (w *connection) ListSessions(ctx context.Context, p sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	page, next, err := w.agent.listSessions(ctx, deref(p.Cwd), deref(p.Cursor))
	if err != nil {
		return sdk.ListSessionsResponse{}, failure(err)
	}
	r := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{}}
	for _, s := range page {
		r.Sessions = append(r.Sessions, sdk.SessionInfo{
			SessionId: sdk.SessionId(s.ID), Cwd: s.Dir, Title: sdk.Ptr(line(s.Name())), UpdatedAt: sdk.Ptr(s.Updated.UTC().Format(time.RFC3339)),
		})
	}
	if next != "" {
		r.NextCursor = &next
	}
	return r, nil
}

// SetSessionMode sets the permission mode of the next prompt.
func (w *connection) SetSessionMode(_ context.Context, p sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	return sdk.SetSessionModeResponse{}, failure(w.agent.setMode(pawl.SessionID(p.SessionId), string(p.ModeId)))
}

// UnstableSetSessionModel sets the model of the next prompt.
func (w *connection) UnstableSetSessionModel(_ context.Context, p sdk.UnstableSetSessionModelRequest) (sdk.UnstableSetSessionModelResponse, error) {
	return sdk.UnstableSetSessionModelResponse{}, failure(w.agent.setModel(pawl.SessionID(p.SessionId), string(p.ModelId)))
}

// SetSessionConfigOption is not supported: there are no options but modes and models.
func (w *connection) SetSessionConfigOption(context.Context, sdk.SetSessionConfigOptionRequest) (sdk.SetSessionConfigOptionResponse, error) {
	return sdk.SetSessionConfigOptionResponse{}, sdk.NewMethodNotFound(sdk.AgentMethodSessionSetConfigOption)
}

// Cancel cancels the prompts of a session.
func (w *connection) Cancel(ctx context.Context, p sdk.CancelNotification) error {
	s, err := w.agent.session(pawl.SessionID(p.SessionId))
	if err == nil {
		err = s.cancel(ctx)
	}
	if err != nil {
		fmt.Fprintf(w.agent.Log, "pawl: cancel: %v\n", err) // a notification has no response
	}
	return failure(err)
}

// Prompt runs a prompt until its turn ends. It ignores the cancellation of the
// request's context: the turn's end reports a cancel.
func (w *connection) Prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	ctx = context.WithoutCancel(ctx)
	s, err := w.agent.session(pawl.SessionID(p.SessionId))
	var e *entry
	if err == nil {
		e = s.enqueue()
	}
	w.queued <- struct{}{}
	if err != nil {
		return sdk.PromptResponse{}, failure(err)
	}
	end, err := s.prompt(ctx, e, blocks(p.Prompt), w.agent.Expand)
	if err == nil {
		var stop sdk.StopReason
		if stop, err = stopReason(end); err == nil {
			return sdk.PromptResponse{StopReason: stop}, nil
		}
	}
	return sdk.PromptResponse{}, failure(err)
}

func (w *connection) modes(c sessionSettings) *sdk.SessionModeState {
	state := &sdk.SessionModeState{CurrentModeId: sdk.SessionModeId(c.mode)}
	for _, m := range modes {
		if slices.Contains(w.agent.modes(), m.id) {
			state.AvailableModes = append(state.AvailableModes, sdk.SessionMode{Id: sdk.SessionModeId(m.id), Name: m.name, Description: sdk.Ptr(m.about)})
		}
	}
	return state
}

func (w *connection) reads() bool { return w.canRead.Load() }

func (w *connection) read(ctx context.Context, id pawl.SessionID, path string, lines int) (string, error) {
	r, err := w.conn.ReadTextFile(ctx, sdk.ReadTextFileRequest{SessionId: sdk.SessionId(id), Path: path, Limit: optional(lines)})
	return r.Content, err
}

func (w *connection) choose(ctx context.Context, id pawl.SessionID, q choice) (string, error) {
	c := q.call
	request := sdk.RequestPermissionRequest{SessionId: sdk.SessionId(id), ToolCall: sdk.ToolCallUpdate{
		ToolCallId: sdk.ToolCallId(c.id), Title: sdk.Ptr(c.title), Kind: optional(sdk.ToolKind(c.kind)), Status: sdk.Ptr(sdk.ToolCallStatusPending),
		Content: contents(c.content), Locations: locations(c.locations), RawInput: raw(c.input),
	}}
	for _, o := range q.options {
		request.Options = append(request.Options, sdk.PermissionOption{OptionId: sdk.PermissionOptionId(o.id), Name: o.name, Kind: sdk.PermissionOptionKind(o.kind)})
	}
	r, err := w.conn.RequestPermission(ctx, request)
	if err != nil || r.Outcome.Selected == nil {
		return "", err
	}
	return string(r.Outcome.Selected.OptionId), nil
}

func (w *connection) show(ctx context.Context, id pawl.SessionID, u update) error {
	return w.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: sdk.SessionId(id), Update: toUpdate(u)})
}
