//go:build e2e

package acp_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

// object is a JSON object.
type object = map[string]any

// protocol validates messages against the published schema.
type protocol struct {
	stable, unstable object
	resolved         map[string]*jsonschema.Resolved
}

// unstableMethods are the methods whose messages have parts that are not stable yet.
var unstableMethods = map[string]bool{"initialize": true, "session/fork": true}

func readProtocol(t testing.TB) *protocol {
	t.Helper()
	read := func(name string) (schema object) {
		text, err := os.ReadFile(filepath.Join("testdata", "schema", name))
		if err == nil {
			err = json.Unmarshal(text, &schema)
		}
		if err != nil {
			t.Fatal(err)
		}
		forbidUnknown(schema)
		return schema
	}
	return &protocol{read("schema.json"), read("schema.unstable.json"), map[string]*jsonschema.Resolved{}}
}

// forbidUnknown makes a schema reject properties that it does not know, which the
// protocol allows.
func forbidUnknown(schema any) {
	switch s := schema.(type) {
	case []any:
		for _, v := range s {
			forbidUnknown(v)
		}
	case object:
		for key, v := range s {
			forbidUnknown(v)
			switch v, ok := v.(object); {
			case !ok:
			case key == "properties":
				for _, p := range v {
					closeObject(p)
				}
			case key == "items" || key == "additionalProperties":
				closeObject(v)
			}
		}
	}
}

func closeObject(schema any) {
	s, _ := schema.(object)
	for _, key := range []string{"$ref", "allOf", "anyOf", "oneOf"} {
		if s[key] != nil {
			s["unevaluatedProperties"] = false
		}
	}
}

// check validates the parameters or the result of a method. kind is Request, Response
// or Notification.
func (p *protocol) check(method, kind string, value json.RawMessage) error {
	schema := p.stable
	if unstableMethods[method] {
		schema = p.unstable
	}
	key := method + kind
	if p.resolved[key] == nil {
		r, err := resolve(schema, method, kind)
		if err != nil {
			return err
		}
		p.resolved[key] = r
	}
	return validate(p.resolved[key], value)
}

// resolve returns the definition of a message.
func resolve(schema object, method, kind string) (*jsonschema.Resolved, error) {
	defs, _ := schema["$defs"].(object)
	for name, def := range defs {
		if d, _ := def.(object); d["x-method"] == method && strings.HasSuffix(name, kind) || method == "" && name == kind {
			used := object{}
			addUsed(used, defs, object{"$ref": "#/$defs/" + name})
			text, err := json.Marshal(object{"$ref": "#/$defs/" + name, "$defs": used, "unevaluatedProperties": false})
			if err != nil {
				return nil, err
			}
			var s jsonschema.Schema
			if err := json.Unmarshal(text, &s); err != nil {
				return nil, err
			}
			return s.Resolve(nil)
		}
	}
	return nil, fmt.Errorf("the schema has no %s of the method %q", kind, method)
}

// addUsed adds the definitions that a schema refers to.
func addUsed(used, defs object, schema any) {
	switch s := schema.(type) {
	case []any:
		for _, v := range s {
			addUsed(used, defs, v)
		}
	case object:
		if ref, _ := s["$ref"].(string); ref != "" {
			if name := path.Base(ref); used[name] == nil {
				used[name] = defs[name]
				addUsed(used, defs, defs[name])
			}
		}
		for _, v := range s {
			addUsed(used, defs, v)
		}
	}
}

func validate(schema *jsonschema.Resolved, value json.RawMessage) error {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	return schema.Validate(v)
}

// message is a request, a response or a notification.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// wireEditor is an editor that validates every message in both directions.
type wireEditor struct {
	t        testing.TB
	in       io.Writer
	protocol *protocol
	answer   func(method string, params object) any // the response to a request of pawl; nil means an error

	mu      sync.Mutex
	last    int
	calls   map[string]string // methods of requests without a response, by sender and ID
	results map[string]chan message
	updates []object
	asked   []string // the methods that pawl has used
	changed chan struct{}
}

// startWire starts the program and initializes the connection with the capabilities of
// an editor.
func startWire(t testing.TB, b *harness.Workdir, capabilities object, args ...string) (e *wireEditor, agent object) {
	t.Helper()
	cmd := b.Command(append([]string{"acp"}, args...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e = &wireEditor{t: t, in: in, protocol: readProtocol(t), calls: map[string]string{}, results: map[string]chan message{}, changed: make(chan struct{}, 1)}
	read := make(chan struct{})
	go func() { defer close(read); e.read(out) }()
	t.Cleanup(func() {
		_ = in.Close()
		<-read
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("pawl ended with %v:\n%s", err, stderr.String())
		}
	})
	return e, e.call("initialize", object{"protocolVersion": 1, "clientInfo": object{"name": "test", "version": "1"}, "clientCapabilities": capabilities})
}

// read handles the messages of pawl until it ends.
func (e *wireEditor) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				e.t.Error(err)
			}
			return
		}
		e.receive(text)
	}
}

// receive handles a message of pawl.
func (e *wireEditor) receive(text []byte) {
	m, err := e.check("pawl", text)
	if err != nil {
		e.t.Errorf("pawl sent an invalid message: %v\n%s", err, text)
	}
	var params object
	_ = json.Unmarshal(m.Params, &params) // it was validated
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case m.Method == "": // a response
		if done := e.results[string(m.ID)]; done != nil {
			done <- m
		}
	case m.ID != nil:
		e.asked = append(e.asked, m.Method)
		go e.respond(m, params)
	case m.Method == "session/update":
		e.updates = append(e.updates, params)
	}
	select {
	case e.changed <- struct{}{}:
	default:
	}
}

// check validates a message.
func (e *wireEditor) check(sender string, text []byte) (m message, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return m, err
	}
	if m.JSONRPC != "2.0" {
		return m, errors.New("it is not JSON-RPC 2.0")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	other := map[string]string{"pawl": "editor", "editor": "pawl"}[sender]
	switch asked := other + string(m.ID); {
	case m.Method != "" && m.ID != nil:
		e.calls[sender+string(m.ID)] = m.Method
		return m, e.protocol.check(m.Method, "Request", m.Params)
	case m.Method != "":
		return m, e.protocol.check(m.Method, "Notification", m.Params)
	case m.Error != nil:
		return m, e.protocol.check("", "Error", m.Error)
	case e.calls[asked] == "":
		return m, errors.New("a response without a request")
	default:
		return m, e.protocol.check(e.calls[asked], "Response", m.Result)
	}
}

// send sends a message.
func (e *wireEditor) send(m message) {
	m.JSONRPC = "2.0"
	text, err := json.Marshal(m)
	if err == nil {
		_, err = e.check("editor", text)
	}
	if err != nil {
		e.t.Errorf("the editor sends an invalid message: %v\n%s", err, text)
	}
	if _, err := e.in.Write(append(text, '\n')); err != nil && !errors.Is(err, os.ErrClosed) {
		e.t.Error(err)
	}
}

// respond answers a request of pawl.
func (e *wireEditor) respond(m message, params object) {
	if e.answer == nil {
		e.t.Errorf("pawl used %s, which was not expected", m.Method)
		return
	}
	e.send(message{ID: m.ID, Result: raw(e.t, e.answer(m.Method, params))})
}

func raw(t testing.TB, v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		t.Error(err)
	}
	return text
}

// request sends a request and returns a channel with its response.
func (e *wireEditor) request(method string, params object) <-chan message {
	e.mu.Lock()
	e.last++
	id := fmt.Sprint(e.last)
	done := make(chan message, 1)
	e.results[id] = done
	e.mu.Unlock()
	e.send(message{ID: json.RawMessage(id), Method: method, Params: raw(e.t, params)})
	return done
}

// call sends a request and returns its result.
func (e *wireEditor) call(method string, params object) (result object) {
	e.t.Helper()
	return e.result(method, e.request(method, params))
}

// result waits for a response.
func (e *wireEditor) result(method string, done <-chan message) (result object) {
	e.t.Helper()
	select {
	case m := <-done:
		if m.Error != nil {
			e.t.Fatalf("%s: %s", method, m.Error)
		}
		_ = json.Unmarshal(m.Result, &result) // it was validated
	case <-time.After(patience):
		e.t.Fatalf("%s: no response", method)
	}
	return result
}

// fails sends a request and returns the code and the message of its error.
func (e *wireEditor) fails(method string, params object) (code int, text string) {
	e.t.Helper()
	m := <-e.request(method, params)
	var failure struct {
		Code    int
		Message string
	}
	if m.Error == nil || json.Unmarshal(m.Error, &failure) != nil {
		e.t.Errorf("%s: %s", method, m.Result)
	}
	return failure.Code, failure.Message
}

// prompt sends a prompt and returns why the turn ended.
func (e *wireEditor) prompt(session, text string) any {
	e.t.Helper()
	return e.call("session/prompt", object{"sessionId": session, "prompt": []object{{"type": "text", "text": text}}})["stopReason"]
}

// shown returns the updates of a kind.
func (e *wireEditor) shown(session, kind string) (list []object) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, u := range e.updates {
		if update, _ := u["update"].(object); update["sessionUpdate"] == kind && u["sessionId"] == session {
			list = append(list, update)
		}
	}
	return list
}

// await waits for an update of a kind and returns the last one.
func (e *wireEditor) await(session, kind string) object {
	e.t.Helper()
	for over := time.After(patience); ; {
		if list := e.shown(session, kind); len(list) > 0 {
			return list[len(list)-1]
		}
		select {
		case <-e.changed:
		case <-over:
			e.t.Fatalf("no %s", kind)
		}
	}
}

// text returns the text of the chunks of a kind.
func (e *wireEditor) text(session, kind string) string {
	var b strings.Builder
	for _, u := range e.shown(session, kind) {
		content, _ := u["content"].(object)
		text, _ := content["text"].(string)
		b.WriteString(text)
	}
	return b.String()
}
