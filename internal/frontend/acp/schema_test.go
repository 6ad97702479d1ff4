//go:build e2e

package acp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// fullCapabilities are those of an editor that supports everything that pawl uses.
var fullCapabilities = object{
	"fs":          object{"readTextFile": true},
	"auth":        object{"terminal": true},
	"elicitation": object{"form": object{}},
	"session":     object{"configOptions": object{"boolean": object{}}},
}

// field returns a value in nested objects and arrays, by keys and the id of elements.
func field(v any, path ...string) any {
	for _, key := range path {
		switch at := v.(type) {
		case object:
			v = at[key]
		case []any:
			i := slices.IndexFunc(at, func(e any) bool { return field(e, "id") == key || field(e, "value") == key || field(e, "name") == key })
			if i < 0 {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// answers answers the requests of pawl: it allows calls, fills in forms and hands over
// files as they are on disk.
func answers(t testing.TB, filled object) func(method string, params object) any {
	return func(method string, params object) any {
		switch method {
		case "session/request_permission":
			options, _ := params["options"].([]any)
			return object{"outcome": object{"outcome": "selected", "optionId": field(options[0], "optionId")}}
		case "elicitation/create":
			return object{"action": "accept", "content": filled}
		case "fs/read_text_file":
			path, _ := params["path"].(string)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			return object{"content": string(text)}
		default:
			t.Errorf("pawl used %s", method)
			return object{}
		}
	}
}

const questions = `{"calls":[{"name":"question","input":{"questions":[` +
	`{"header":"Name","question":"What name?","options":[]},` +
	`{"header":"Color","question":"Which?","options":[{"label":"red"},{"label":"blue","description":"like the sea"}]},` +
	`{"header":"Parts","question":"Which parts?","multiple":true,"options":[{"label":"a"},{"label":"b"},{"label":"c"}]}]}}]}`

// TestSchema plays an editor that uses every feature, and validates every message in
// both directions against the published schema.
func TestSchema(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t,
		`{"window":{"context":100000,"output":1000}}`,
		questions,
		`{"reasoning":"Hm.","text":"Look:","deltas":3,"usage":{"input":900,"output":100,"cost":2500000},"calls":[{"name":"todowrite","input":{"items":[{"content":"look","status":"in_progress"}]}},{"name":"read","input":{"path":"old.txt"}},{"name":"bash","input":{"command":"echo out"}}]}`,
		`{"text":"One.","usage":{"input":1900,"output":100,"cost":2500000}}`,
		`{"text":"Two.","usage":{"input":1900,"output":100}}`)
	lib := t.TempDir()
	b.Write(t, "old.txt", "a\n")
	if err := os.MkdirAll(filepath.Join(b.Dir, ".pawl", "agents"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.Write(t, ".pawl/agents/tester.md", "---\ndescription: Tests.\nmode: primary\ncolor: green\n---\nYou test.")
	e, pawlCan := startWire(t, b, fullCapabilities, "--model", model, "--trust")
	e.answer = answers(t, object{"0": "Ann", "1": "1", "2": []string{"0", "2"}})
	if method := field(pawlCan, "authMethods", "terminal-login"); field(method, "type") != "terminal" || len(field(method, "args").([]any)) != 1 {
		t.Errorf("the login is %v", method)
	}

	opened := e.call("session/new", object{"cwd": b.Dir, "additionalDirectories": []string{lib}, "mcpServers": []object{}})
	id, _ := opened["sessionId"].(string)
	options := opened["configOptions"]
	if field(options, "model", "currentValue") != model || field(options, "model", "category") != "model" || field(options, "mode", "currentValue") != field(opened, "modes", "currentModeId") {
		t.Errorf("the options are %v", options)
	}
	want := object{"name": "tester", "description": "Tests.", "origin": "project", "mode": "primary", "color": "green"}
	if diff := cmp.Diff(any(want), field(options, "agent", "_meta", "pawl", "agents", "tester")); diff != "" {
		t.Errorf("the agent (-want):\n%s", diff)
	}
	if field(options, "agent", "currentValue") != "build" || field(options, "agent", "options", "tester") == nil || field(options, "agent", "options", "explore") != nil {
		t.Errorf("the agents are %v", field(options, "agent"))
	}
	for option, value := range map[string]string{"mode": "ask", "agent": "tester"} {
		r := e.call("session/set_config_option", object{"sessionId": id, "configId": option, "value": value})
		if field(r, "configOptions", option, "currentValue") != value {
			t.Errorf("%s is %v", option, field(r, "configOptions", option))
		}
	}
	e.call("session/set_mode", object{"sessionId": id, "modeId": "guard"})

	if stop := e.prompt(id, "go"); stop != "end_turn" {
		t.Errorf("it ended with %v", stop)
	}
	if text, thought := e.text(id, "agent_message_chunk"), e.text(id, "agent_thought_chunk"); text != "Look:One." || !strings.HasPrefix(thought, "Hm.") {
		t.Errorf("shown %q, %q", text, thought)
	}
	first, last := e.shown(id, "agent_message_chunk")[0]["messageId"], e.await(id, "agent_message_chunk")["messageId"]
	if first == nil || first == last {
		t.Errorf("the messages are %v and %v", first, last)
	}
	if usage := e.await(id, "usage_update"); usage["used"] != 2000.0 || usage["size"] != 100000.0 || field(usage, "cost", "amount") != 0.005 || field(usage, "cost", "currency") != "USD" {
		t.Errorf("the usage is %v", usage)
	}
	e.await(id, "plan")
	for _, event := range b.Export(t, id) {
		switch body := event.Body.(type) {
		case pawl.Prompted:
			if body.Agent != "tester" || body.Mode != "guard" || !slices.Equal(body.AddDirs, []string{lib}) {
				t.Errorf("prompted with %+v", body.Settings)
			}
		case pawl.Answered:
			if diff := cmp.Diff([][]string{{"Ann"}, {"blue"}, {"a", "c"}}, body.Answers); diff != "" {
				t.Errorf("answered (-want):\n%s", diff)
			}
		default:
		}
	}
	for _, method := range []string{"elicitation/create", "fs/read_text_file"} {
		if !slices.Contains(e.asked, method) {
			t.Errorf("pawl did not use %s", method)
		}
	}
	e.testSessions(b.Dir, id)
}

// testSessions opens and deletes sessions in every way.
func (e *wireEditor) testSessions(dir, id string) {
	t := e.t
	fork := e.call("session/fork", object{"sessionId": id, "cwd": dir, "mcpServers": []object{}})["sessionId"].(string)
	if fork == id || len(e.shown(fork, "agent_message_chunk")) != 0 {
		t.Errorf("the fork is %s", fork)
	}
	if stop := e.prompt(fork, "more"); stop != "end_turn" || e.text(fork, "agent_message_chunk") != "Two." {
		t.Errorf("the fork ended with %v: %q", stop, e.text(fork, "agent_message_chunk"))
	}
	e.call("session/close", object{"sessionId": fork})
	e.call("session/resume", object{"sessionId": fork, "cwd": dir, "mcpServers": []object{}})
	e.call("session/close", object{"sessionId": fork})
	r := e.call("session/load", object{"sessionId": fork, "cwd": dir, "mcpServers": []object{}})
	if field(r, "configOptions", "mode", "currentValue") != "guard" || e.text(fork, "agent_message_chunk") != "Two.Look:One.Two." || e.text(fork, "user_message_chunk") != "gomore" {
		t.Errorf("loaded %v: %q", r, e.text(fork, "agent_message_chunk"))
	}
	if list := e.call("session/list", object{"cwd": dir})["sessions"].([]any); len(list) != 2 {
		t.Errorf("listed %v", list)
	}
	for range 2 { // a session that does not exist is not an error
		e.call("session/delete", object{"sessionId": fork})
	}
	if list := e.call("session/list", object{"cwd": dir})["sessions"].([]any); len(list) != 1 || field(list[0], "sessionId") != id {
		t.Errorf("listed %v", list)
	}
	e.send(message{Method: "session/cancel", Params: raw(t, object{"sessionId": id})})
	if code, text := e.fails("session/set_config_option", object{"sessionId": id, "configId": "color", "value": "red"}); code != -32602 || !strings.Contains(text, "unknown option") {
		t.Errorf("%d %s", code, text)
	}
	if code, _ := e.fails("logout", object{}); code != -32601 {
		t.Errorf("logout: %d", code)
	}
}

// TestCapabilities checks that pawl uses nothing that an editor has not announced.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"calls":[{"name":"question","input":{"questions":[{"header":"Color","question":"Which?","options":[{"label":"red"}]}]}},{"name":"read","input":{"path":"a.txt"}}]}`, `{"text":"Done."}`)
	b.Write(t, "a.txt", "a\n")
	e, pawlCan := startWire(t, b, object{"elicitation": object{"form": nil}}, "--model", model)
	e.answer = answers(t, nil)
	if methods := field(pawlCan, "authMethods").([]any); len(methods) != 0 {
		t.Errorf("logins: %v", methods)
	}
	id, _ := e.call("session/new", object{"cwd": b.Dir, "mcpServers": []object{}})["sessionId"].(string)
	if stop := e.prompt(id, "go"); stop != "end_turn" {
		t.Errorf("it ended with %v", stop)
	}
	if diff := cmp.Diff([]string{"session/request_permission"}, e.asked); diff != "" {
		t.Errorf("pawl used (-want):\n%s", diff)
	}
	if list := e.shown(id, "usage_update"); len(list) != 0 { // the size of the window is unknown
		t.Errorf("usage: %v", list)
	}
}

// TestLogin checks that an editor learns that a login is needed, that the login in a
// terminal works, and that a session can be created then.
func TestLogin(t *testing.T) {
	t.Parallel()
	b, _ := newWorkdir(t)
	home := t.TempDir()
	b.Env = append(b.Env, "PAWL_MODEL=", "HOME="+home, "XDG_CONFIG_HOME="+home, "PAWL_CONFIG="+filepath.Join(home, "config.json"), "DBUS_SESSION_BUS_ADDRESS=") // no keyring
	e, pawlCan := startWire(t, b, object{"auth": object{"terminal": true}})
	session := object{"cwd": b.Dir, "mcpServers": []object{}}
	if code, text := e.fails("session/new", session); code != -32000 || !strings.Contains(text, "no model configured") {
		t.Errorf("%d %s", code, text)
	}
	args := []string{"acp"}
	for _, arg := range field(pawlCan, "authMethods", "terminal-login", "args").([]any) {
		args = append(args, arg.(string))
	}
	login := b.Command(args...)
	login.Stdin = strings.NewReader("anthropic\nsk-ant-" + "api03-Zq7Xw2Lk9PbVn4Rt6Ym1\n")
	if out, err := login.CombinedOutput(); err != nil {
		t.Fatalf("login: %v\n%s", err, out)
	}
	again, _ := startWire(t, b, object{})
	opened := again.call("session/new", session)
	options := opened["configOptions"]
	if current, _ := field(options, "model", "currentValue").(string); !strings.HasPrefix(current, "anthropic/") || field(options, "model", "options", current, "name") == current {
		t.Errorf("the model is %v", field(options, "model", "currentValue"))
	}
	if level := field(options, "effort"); field(level, "category") != "thought_level" || field(level, "currentValue") != "default" {
		t.Errorf("the effort is %v", level)
	}
	for _, level := range []string{"high", "default"} {
		set := again.call("session/set_config_option", object{"sessionId": opened["sessionId"], "configId": "effort", "value": level})
		if got := field(set, "configOptions", "effort", "currentValue"); got != level {
			t.Errorf("the effort is %v, want %s", got, level)
		}
	}
}

// TestBrokenMessages checks that the validation of messages finds mistakes.
func TestBrokenMessages(t *testing.T) {
	t.Parallel()
	p := readProtocol(t)
	for name, c := range map[string]struct{ method, kind, value string }{
		"a missing field":   {"session/update", "Notification", `{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":1}}`},
		"an unknown update": {"session/update", "Notification", `{"sessionId":"s","update":{"sessionUpdate":"usage","used":1,"size":2}}`},
		"an unknown field":  {"session/update", "Notification", `{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":1,"size":2,"price":3}}`},
		"a wrong type":      {"session/new", "Response", `{"sessionId":"s","configOptions":[{"id":"x","name":"x","type":"select","currentValue":1,"options":[]}]}`},
		"a deep field":      {"elicitation/create", "Request", `{"sessionId":"s","mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","oneOf":[{"const":"1"}]}}}}`},
	} {
		if err := p.check(c.method, c.kind, json.RawMessage(c.value)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestDeleteRunning checks that a session can be deleted while it works, and that its
// prompt gets a response.
func TestDeleteRunning(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"text":"one two","deltas":2,"fault":"hang"}`)
	e, _ := startWire(t, b, object{}, "--model", model)
	id, _ := e.call("session/new", object{"cwd": b.Dir, "mcpServers": []object{}})["sessionId"].(string)
	prompted := e.request("session/prompt", object{"sessionId": id, "prompt": []object{{"type": "text", "text": "go"}}})
	e.await(id, "agent_message_chunk")
	e.call("session/delete", object{"sessionId": id})
	if r := e.result("session/prompt", prompted); r["stopReason"] != string(sdk.StopReasonCancelled) {
		t.Errorf("it ended with %v", r)
	}
	if list := e.call("session/list", object{"cwd": b.Dir})["sessions"].([]any); len(list) != 0 {
		t.Errorf("listed %v", list)
	}
}
