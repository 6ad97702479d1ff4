package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// running is a call that a server is working on.
type running struct {
	token    string
	call     toolapi.Call
	done     <-chan struct{} // the Done channel of its context
	progress int
	asked    bool // the server has used its only question to the user
}

// ChangedMark is the suffix of the access target of a tool whose description
// has changed since the model got it. It makes the permission check ask,
// whatever the rules say.
const ChangedMark = "!changed"

// access returns the access of a call: the tool's name and the fingerprint of
// its description, so that a saved answer covers only that description.
func (l *link) access(call toolapi.Call, name string) ([]pawl.Access, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, err := l.current(name)
	if err != nil {
		return nil, err
	}
	target := now.target + "@" + now.print
	if l.known[name].print != now.print {
		target += ChangedMark
		if len(l.named) >= maxNamed {
			clear(l.named) // their calls ask for permission again
		}
		l.named[callKey{call.Session, call.ID}] = now.print
	}
	return []pawl.Access{{Kind: pawl.AccessMCP, Target: target}}, nil
}

// maxNamed is the maximum number of calls of changed tools that wait for
// permission.
const maxNamed = 256

// current returns the current version of a tool. The caller holds mu.
func (l *link) current(name string) (*remote, error) {
	for _, t := range l.tools {
		if t.raw == name && l.known[name] != nil {
			return t, nil
		}
	}
	if l.session == nil {
		return nil, fmt.Errorf("MCP server %s is not ready (%s)%s", l.server.Name, l.state, because(l.why))
	}
	return nil, fmt.Errorf("MCP server %s no longer offers this tool", l.server.Name)
}

// recordAllowed records that a call was allowed. If the tool has changed, the user
// saw the change, so the model gets the new description from now on.
func (l *link) recordAllowed(call toolapi.Call, name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := callKey{call.Session, call.ID}
	print := l.named[key]
	delete(l.named, key)
	now, err := l.current(name)
	switch {
	case err != nil:
		return err
	case l.known[name].print == now.print:
		return nil
	case print != now.print:
		return errors.New("the MCP server has changed what it says of this tool since the call was permitted: nothing was done; call it again")
	}
	l.known[name] = now
	return nil
}

// preview returns the change of a tool's description and the input; "" if the
// description has not changed.
func (l *link) preview(name string, input json.RawMessage) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, err := l.current(name)
	if err != nil {
		return "", err
	}
	old := l.known[name]
	if old.print == now.print {
		return "", nil
	}
	return udiff.Unified(now.public+" before", now.public+" now", old.page(), now.page()) +
		"\ncalled with\n" + string(input) + "\n", nil
}

// page returns the full description of a tool.
func (r *remote) page() string {
	text := r.description + "\n"
	var tree any
	if json.Unmarshal(r.schema, &tree) == nil {
		if pretty, err := json.MarshalIndent(tree, "", "  "); err == nil {
			return text + string(pretty) + "\n"
		}
	}
	return text + string(r.schema) + "\n"
}

var lastToken atomic.Int64

// call sends a tool call to the server and waits for its result.
func (l *link) call(ctx context.Context, call toolapi.Call, name string, input json.RawMessage) (pawl.Result, error) {
	if err := l.recordAllowed(call, name); err != nil {
		return pawl.Result{}, err
	}
	s, err := l.ready()
	if err != nil {
		return pawl.Result{}, err
	}
	var arguments map[string]any
	if err := json.Unmarshal(input, &arguments); err != nil || arguments == nil {
		return pawl.Result{}, errors.New("wrong input: it is not a JSON object")
	}
	errTimeout := fmt.Errorf("%s did not answer within %s", l.server.Name, l.server.timeout())
	ctx, cancel := context.WithTimeoutCause(ctx, l.server.timeout(), errTimeout)
	defer cancel()
	r := &running{token: strconv.FormatInt(lastToken.Add(1), 10), call: call, done: ctx.Done()}
	defer l.begin(r)()
	params := &sdk.CallToolParams{Name: name, Arguments: input, Meta: sdk.Meta{"progressToken": r.token}}
	result, err := s.callTool(context.WithValue(ctx, runningKey{}, r), params)
	switch {
	case err != nil && ctx.Err() != nil:
		return pawl.Result{}, context.Cause(ctx)
	case err != nil:
		return pawl.Result{}, l.failure(s, err)
	}
	return resultOf(l.server.Name, name, result), nil
}

// callGrace is how long a call may take to return after its context has ended.
const callGrace = 500 * time.Millisecond

var errDeaf = errors.New("the server does not read its input")

// callTool returns when its context has ended, even if the server does not
// read the request; such a server is disconnected.
func (s *session) callTool(ctx context.Context, params *sdk.CallToolParams) (*sdk.CallToolResult, error) {
	type outcome struct {
		result *sdk.CallToolResult
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := s.client.CallTool(ctx, params)
		done <- outcome{r, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o.result, o.err
	case <-time.After(callGrace):
		s.fail(errDeaf)
		return nil, context.Cause(ctx)
	}
}

// runningKey is the context key of the running call.
type runningKey struct{}

// begin registers a running call until the returned function is called.
func (l *link) begin(r *running) (finish func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = append(l.running, r)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.running = slices.DeleteFunc(l.running, func(other *running) bool { return other == r })
	}
}

// codeRejected is the SDK's error code for a request that could not be sent.
const codeRejected = -32005

// failure converts the error of a request to the message for the model.
func (l *link) failure(s *session, err error) error {
	var wire *jsonrpc.Error
	switch {
	case errors.Is(err, errLogin):
		s.fail(errLogin)
		return fmt.Errorf("the MCP server %s wants a login: ask the user to run 'pawl mcp login %[1]s'", l.server.Name)
	case errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		select {
		case <-s.closed:
			err = s.reason()
		case <-time.After(endGrace):
		}
		return fmt.Errorf("the MCP server %s went away (%s): the outcome of the call is unknown", l.server.Name, line(err.Error(), whyChars))
	case errors.As(err, &wire) && wire.Code != codeRejected:
		said := outside(l.server.Name, pawl.Result{Content: short(shown(short(wire.Message, 8*whyChars)), 8*whyChars)})
		return fmt.Errorf("%s: %s", l.server.Name, said.Content)
	}
	return fmt.Errorf("%s: %s", l.server.Name, line(err.Error(), whyChars))
}

// progress forwards a progress notification of a call.
func (l *link) progress(p *sdk.ProgressNotificationParams) {
	token, ok := p.ProgressToken.(string)
	if !ok {
		return
	}
	l.mu.Lock()
	i := slices.IndexFunc(l.running, func(r *running) bool { return r.token == token })
	if i < 0 || l.running[i].progress >= progressTexts {
		l.mu.Unlock()
		return
	}
	r := l.running[i]
	r.progress++
	l.mu.Unlock()
	text := strconv.FormatFloat(p.Progress, 'g', -1, 64)
	if p.Total > 0 {
		text += " of " + strconv.FormatFloat(p.Total, 'g', -1, 64)
	}
	if p.Message != "" {
		text += ": " + line(p.Message, progressChars)
	}
	if r.call.Progress != nil {
		r.call.Progress(strings.TrimSpace(text) + "\n")
	}
}
