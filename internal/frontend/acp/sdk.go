package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
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
	w.conn = sdk.NewConnection(w.handle, w.out, &messageReader{in: bufio.NewReaderSize(gatedReader{in, w.ready}, 64<<10), reject: w.out.reject, afterMessage: w.awaitQueued})
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

// connection translates between the protocol's messages and this package's types.
type connection struct {
	agent  *agent
	conn   *sdk.Connection
	out    *messageWriter
	ready  chan struct{}
	queued chan struct{} // receives a value for each prompt that has been queued

	canRead, canFill, canLogin atomic.Bool // capabilities of the editor
}

var _ editor = (*connection)(nil)

// handler handles a request or a notification.
type handler func(ctx context.Context, params json.RawMessage) (any, error)

// method returns a handler that decodes and checks the parameters.
func method[P, R any](f func(context.Context, P) (R, error)) handler {
	return func(ctx context.Context, params json.RawMessage) (any, error) {
		var p P
		err := json.Unmarshal(params, &p)
		if v, ok := any(&p).(interface{ Validate() error }); ok && err == nil {
			err = v.Validate()
		}
		if err != nil {
			return nil, &sdk.RequestError{Code: codeInvalidParams, Message: "invalid parameters: " + err.Error()}
		}
		return f(ctx, p)
	}
}

// handle handles a message. Its errors are those of the protocol.
func (w *connection) handle(ctx context.Context, name string, params json.RawMessage) (any, *sdk.RequestError) {
	h, ok := map[string]handler{
		sdk.AgentMethodInitialize:             method(w.initialize),
		sdk.AgentMethodAuthenticate:           method(w.authenticate),
		sdk.AgentMethodSessionNew:             method(w.newSession),
		sdk.AgentMethodSessionLoad:            method(w.loadSession),
		sdk.AgentMethodSessionResume:          method(w.resumeSession),
		sdk.AgentMethodSessionFork:            method(w.forkSession),
		sdk.AgentMethodSessionList:            method(w.listSessions),
		sdk.AgentMethodSessionClose:           method(w.closeSession),
		methodSessionDelete:                   method(w.deleteSession),
		sdk.AgentMethodSessionSetMode:         method(w.setMode),
		sdk.AgentMethodSessionSetConfigOption: method(w.setOption),
		sdk.AgentMethodSessionPrompt:          method(w.prompt),
		sdk.AgentMethodSessionCancel:          method(w.cancel),
	}[name]
	if !ok {
		return nil, sdk.NewMethodNotFound(name)
	}
	r, err := h(ctx, params)
	return r, w.failure(err)
}

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
		return // prompt will not be called
	}
	<-w.queued
}

// initialize exchanges capabilities.
func (w *connection) initialize(_ context.Context, p initializeRequest) (initializeResponse, error) {
	can := p.ClientCapabilities
	w.canRead.Store(can.Fs.ReadTextFile)
	w.canFill.Store(can.Elicitation.Form != nil)
	w.canLogin.Store(can.Auth.Terminal && len(w.agent.Login) > 0)
	r := initializeResponse{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		AgentInfo:       implementation{Name: "pawl", Title: "Pawl", Version: w.agent.Version},
		AuthMethods:     []authMethod{},
	}
	has := &r.AgentCapabilities
	has.LoadSession = true
	has.PromptCapabilities.Image, has.PromptCapabilities.EmbeddedContext = true, true
	has.MCPCapabilities.HTTP, has.MCPCapabilities.SSE = true, true
	if w.canLogin.Load() {
		r.AuthMethods = append(r.AuthMethods, authMethod{
			ID: "terminal-login", Name: "Add an API key", Description: "Save the API key of a model provider and choose a model", Type: "terminal", Args: w.agent.Login,
		})
	}
	return r, nil
}

// authenticate does nothing, because pawl has its own keys; it fails if one is missing.
func (w *connection) authenticate(ctx context.Context, _ sdk.AuthenticateRequest) (none, error) {
	if w.agent.Settings.Model == "" {
		if _, err := w.agent.Model(ctx); err != nil {
			return none{}, err
		}
	}
	return none{}, nil
}

// newSession creates a session.
func (w *connection) newSession(ctx context.Context, p sdk.NewSessionRequest) (sessionResponse, error) {
	s, err := w.agent.createSession(ctx, setup{p.Cwd, p.AdditionalDirectories, toServers(p.McpServers)})
	if err != nil {
		return sessionResponse{}, err
	}
	return w.introduce(ctx, s, newRenderer(s))
}

// introduce returns the state of a new session, and follows it once the editor knows
// its id.
func (w *connection) introduce(ctx context.Context, s *session, r *renderer) (sessionResponse, error) {
	state, err := w.agent.state(ctx, s)
	if err != nil {
		s.close(err)
		return state, err
	}
	state.SessionID = string(s.id)
	known := w.out.written(`"sessionId":"` + state.SessionID + `"`)
	w.agent.running.Go(func() {
		ctx, cancel := w.agent.newContext()
		defer cancel()
		select {
		case <-known:
			w.agent.showCommands(ctx, s)
			w.agent.follow(s, r)
		case <-ctx.Done():
			s.close(errDisconnected)
		}
	})
	return state, nil
}

// loadSession opens a session and replays it.
func (w *connection) loadSession(ctx context.Context, p sdk.LoadSessionRequest) (sessionResponse, error) {
	return w.open(ctx, p.SessionId, setup{p.Cwd, p.AdditionalDirectories, toServers(p.McpServers)}, false)
}

// resumeSession opens a session without replaying it.
func (w *connection) resumeSession(ctx context.Context, p sdk.ResumeSessionRequest) (sessionResponse, error) {
	return w.open(ctx, p.SessionId, setup{p.Cwd, p.AdditionalDirectories, toServers(p.McpServers)}, true)
}

func (w *connection) open(ctx context.Context, id sdk.SessionId, u setup, quiet bool) (sessionResponse, error) {
	s, err := w.agent.loadSession(ctx, pawl.SessionID(id), u, quiet)
	if err != nil {
		return sessionResponse{}, err
	}
	return w.agent.state(ctx, s)
}

// forkSession creates a session with the conversation of another one. Its request has the fields of a resume.
func (w *connection) forkSession(ctx context.Context, p sdk.ResumeSessionRequest) (sessionResponse, error) {
	s, r, err := w.agent.forkSession(ctx, pawl.SessionID(p.SessionId), setup{p.Cwd, p.AdditionalDirectories, toServers(p.McpServers)})
	if err != nil {
		return sessionResponse{}, err
	}
	return w.introduce(ctx, s, r)
}

// closeSession cancels the session's work and closes it; its log stays.
func (w *connection) closeSession(ctx context.Context, p sdk.CloseSessionRequest) (none, error) {
	return none{}, w.agent.closeSession(ctx, pawl.SessionID(p.SessionId))
}

// deleteSession deletes a session.
func (w *connection) deleteSession(ctx context.Context, p sessionRequest) (none, error) {
	return none{}, w.agent.deleteSession(ctx, pawl.SessionID(p.SessionID))
}

// listSessions lists sessions, newest first.
func (w *connection) listSessions(ctx context.Context, p sdk.ListSessionsRequest) (sdk.ListSessionsResponse, error) {
	page, next, err := w.agent.listSessions(ctx, deref(p.Cwd), deref(p.Cursor))
	if err != nil {
		return sdk.ListSessionsResponse{}, err
	}
	r := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{}, NextCursor: optional(next)}
	for _, s := range page {
		r.Sessions = append(r.Sessions, sdk.SessionInfo{
			SessionId: sdk.SessionId(s.ID), Cwd: s.Dir, Title: sdk.Ptr(line(s.Name())), UpdatedAt: sdk.Ptr(s.Updated.UTC().Format(time.RFC3339)),
		})
	}
	return r, nil
}

// setMode sets the permission mode of the next prompt.
func (w *connection) setMode(_ context.Context, p sdk.SetSessionModeRequest) (none, error) {
	s, err := w.agent.session(pawl.SessionID(p.SessionId))
	if err != nil {
		return none{}, err
	}
	return none{}, w.agent.setMode(s, string(p.ModeId))
}

// setOption sets an option and returns all of them: one can depend on another.
func (w *connection) setOption(ctx context.Context, p setOptionRequest) (optionsResponse, error) {
	s, err := w.agent.session(pawl.SessionID(p.SessionID))
	if err != nil {
		return optionsResponse{}, err
	}
	value, ok := p.Value.(string)
	if !ok {
		return optionsResponse{}, fault.New(pawl.ErrInvalid, "the value of the option %q must be a string", p.ConfigID)
	}
	if err := w.agent.setOption(ctx, s, p.ConfigID, value); err != nil {
		return optionsResponse{}, err
	}
	options, err := s.options(ctx)
	return optionsResponse{options}, err
}

// cancel cancels the prompts of a session.
func (w *connection) cancel(ctx context.Context, p sdk.CancelNotification) (none, error) {
	s, err := w.agent.session(pawl.SessionID(p.SessionId))
	if err == nil {
		err = s.cancel(ctx)
	}
	if err != nil {
		fmt.Fprintf(w.agent.Log, "pawl: cancel: %v\n", err) // a notification has no response
	}
	return none{}, err
}

// prompt runs a prompt until its turn ends. It ignores the cancellation of the
// request's context: the turn's end reports a cancel.
func (w *connection) prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	ctx = context.WithoutCancel(ctx)
	s, err := w.agent.session(pawl.SessionID(p.SessionId))
	var e *entry
	if err == nil {
		e = s.enqueue()
	}
	w.queued <- struct{}{}
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	end, err := s.prompt(ctx, e, blocks(p.Prompt))
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	stop, err := stopReason(end)
	return sdk.PromptResponse{StopReason: stop}, err
}

// request sends a request to the editor and waits for its response.
func request[R any](ctx context.Context, w *connection, method string, params any) (R, error) {
	return sdk.SendRequest[R](w.conn, ctx, method, params)
}

func (w *connection) reads() bool { return w.canRead.Load() }
func (w *connection) forms() bool { return w.canFill.Load() }

func (w *connection) read(ctx context.Context, id pawl.SessionID, path string, lines int) (string, error) {
	r, err := request[sdk.ReadTextFileResponse](ctx, w, sdk.ClientMethodFsReadTextFile, sdk.ReadTextFileRequest{SessionId: sdk.SessionId(id), Path: path, Limit: optional(lines)})
	return r.Content, err
}

func (w *connection) choose(ctx context.Context, id pawl.SessionID, q choice) (string, error) {
	c := q.call
	p := sdk.RequestPermissionRequest{SessionId: sdk.SessionId(id), ToolCall: sdk.ToolCallUpdate{
		ToolCallId: sdk.ToolCallId(c.id), Title: sdk.Ptr(c.title), Kind: optional(sdk.ToolKind(c.kind)), Status: sdk.Ptr(sdk.ToolCallStatusPending),
		Content: contents(c.content), Locations: locations(c.locations), RawInput: raw(c.input),
	}}
	for _, o := range q.options {
		p.Options = append(p.Options, sdk.PermissionOption{OptionId: sdk.PermissionOptionId(o.id), Name: o.name, Kind: sdk.PermissionOptionKind(o.kind)})
	}
	r, err := request[sdk.RequestPermissionResponse](ctx, w, sdk.ClientMethodSessionRequestPermission, p)
	if err != nil || r.Outcome.Selected == nil {
		return "", err
	}
	return string(r.Outcome.Selected.OptionId), nil
}

func (w *connection) show(ctx context.Context, id pawl.SessionID, u update) error {
	return w.conn.SendNotification(ctx, sdk.ClientMethodSessionUpdate, notification{string(id), toUpdate(u)})
}
