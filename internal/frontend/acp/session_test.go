//go:build e2e

package acp_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// rewrite gives a scripted model other replies.
func rewrite(t testing.TB, model string, script ...string) {
	t.Helper()
	if err := os.WriteFile(strings.TrimPrefix(model, "script:"), []byte(strings.Join(script, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// settings are those of a session's prompts.
func settings(events []pawl.Event) (list []pawl.Settings) {
	for _, e := range events {
		if p, ok := e.Body.(pawl.Prompted); ok {
			list = append(list, p.Settings)
		}
	}
	return list
}

// TestModes: a mode that is set holds for the next prompt, one that the work
// changes is reported, and yolo is to be had only by the flag.
func TestModes(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t,
		`{"calls":[{"name":"plan_exit","input":{"plan":"1. write"}}]}`,
		`{"calls":[{"name":"write","input":{"path":"a.txt","content":"x"}}]}`,
		`{"text":"Done."}`)
	e := start(t, b, "--model", model, "--mode", "ask")
	e.decide = choose(t, "Begin, and ask", "Allow once")
	r := e.newSession(b.Dir)
	var ids []string
	for _, m := range r.Modes.AvailableModes {
		ids = append(ids, string(m.Id))
	}
	if diff := cmp.Diff([]string{"plan", "ask", "guard", "auto"}, ids); diff != "" || r.Modes.CurrentModeId != "ask" {
		t.Errorf("modes, at %s:\n%s", r.Modes.CurrentModeId, diff)
	}
	if _, err := e.conn.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: r.SessionId, ModeId: "yolo"}); err == nil || !strings.Contains(words(err), "--mode yolo") {
		t.Errorf("yolo: %v", err)
	}
	if _, err := e.conn.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: r.SessionId, ModeId: "plan"}); err != nil {
		t.Fatal(err)
	}
	if stop := e.prompt(r.SessionId, sdk.TextBlock("go")); stop != "end_turn" {
		t.Errorf("it ended with %q", stop)
	}
	if got := settings(b.Export(t, string(r.SessionId))); len(got) != 1 || got[0].Mode != "plan" {
		t.Errorf("prompted with %+v", got)
	}
	if !strings.Contains(e.transcript(r.SessionId), "mode: ask") || b.Read(t, "a.txt") != "x" {
		t.Errorf("the plan was not left:\n%s", e.transcript(r.SessionId))
	}
	updated := slices.ContainsFunc(e.updates(r.SessionId), func(u sdk.SessionUpdate) bool {
		return u.ConfigOptionUpdate != nil && option(t, u.ConfigOptionUpdate.ConfigOptions, "mode").CurrentValue == "ask"
	})
	if !updated {
		t.Error("the option was not updated")
	}

	yolo := start(t, b, "--model", model, "--mode", "yolo").newSession(b.Dir)
	if n := len(yolo.Modes.AvailableModes); n != 5 || yolo.Modes.CurrentModeId != "yolo" {
		t.Errorf("with the flag: %+v", yolo.Modes)
	}
}

// option returns an option of a session.
func option(t testing.TB, list []sdk.SessionConfigOption, id sdk.SessionConfigId) sdk.SessionConfigOptionSelect {
	t.Helper()
	for _, o := range list {
		if o.Select != nil && o.Select.Id == id {
			return *o.Select
		}
	}
	t.Fatalf("no option %q in %+v", id, list)
	return sdk.SessionConfigOptionSelect{}
}

// TestModel: a model that is set works on the next prompt.
func TestModel(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"text":"One."}`)
	_, other := newWorkdir(t, `{"text":"Two."}`)
	e := start(t, b, "--model", model)
	r := e.newSession(b.Dir)
	if got := option(t, r.ConfigOptions, "model"); string(got.CurrentValue) != model {
		t.Errorf("the model is %+v", got)
	}
	set, err := e.conn.SetSessionConfigOption(t.Context(), sdk.SetSessionConfigOptionRequest{ValueId: &sdk.SetSessionConfigOptionValueId{SessionId: r.SessionId, ConfigId: "model", Value: sdk.SessionConfigValueId(other)}})
	if err != nil {
		t.Fatal(err)
	}
	if got := option(t, set.ConfigOptions, "model"); string(got.CurrentValue) != other {
		t.Errorf("the model is %+v", got)
	}
	e.prompt(r.SessionId, sdk.TextBlock("go"))
	if got := e.text(r.SessionId); got != "Two." {
		t.Errorf("shown %q", got)
	}
}

// TestNoModel: without a model a session is refused, with what to do about it.
func TestNoModel(t *testing.T) {
	t.Parallel()
	b, _ := newWorkdir(t)
	home := t.TempDir()
	b.Env = append(b.Env, "PAWL_MODEL=", "HOME="+home, "XDG_CONFIG_HOME="+home, "PAWL_CONFIG="+filepath.Join(home, "none.json"))
	if err := os.WriteFile(filepath.Join(home, "none.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := start(t, b)
	_, err := e.conn.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: b.Dir, McpServers: []sdk.McpServer{}})
	if err == nil || !strings.Contains(words(err), "no model configured") {
		t.Errorf("session/new: %v", err)
	}
	if _, err := e.conn.Authenticate(t.Context(), sdk.AuthenticateRequest{MethodId: "any"}); err == nil || !strings.Contains(words(err), "no model configured") {
		t.Errorf("authenticate: %v", err)
	}
}

// TestPromptParts: words, links, what the editor embeds and images come to one
// prompt, with a file as the editor has it.
func TestPromptParts(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"text":"Done."}`)
	unsaved, missing := filepath.Join(b.Dir, "un saved.go"), filepath.Join(b.Dir, "gone.go")
	e := start(t, b, "--model", model)
	e.files = map[string]string{unsaved: "package unsaved\n"}
	id := e.session(b.Dir)
	image := []byte("\x89PNG not really")
	e.prompt(id,
		sdk.TextBlock("Look at "), sdk.ResourceLinkBlock("un saved.go", "file://"+filepath.Join(b.Dir, "un%20saved.go")),
		sdk.TextBlock(" and "), sdk.ResourceLinkBlock("gone.go", "file://"+missing),
		sdk.TextBlock(" and "), sdk.ResourceBlock(sdk.EmbeddedResourceResource{TextResourceContents: &sdk.TextResourceContents{Uri: "file://" + unsaved + "#L1:2", Text: "```"}}),
		sdk.TextBlock(" and "), sdk.ResourceLinkBlock("page", "https://example.com/x"),
		sdk.ImageBlock(base64.StdEncoding.EncodeToString(image), "image/png"))
	var got pawl.Parts
	for _, ev := range b.Export(t, string(id)) {
		if p, ok := ev.Body.(pawl.Prompted); ok {
			got = p.Parts
		}
	}
	want := pawl.Parts{
		pawl.Text{Text: "Look at un saved.go and gone.go and un saved.go#L1:2 and https://example.com/x"},
		pawl.Text{Text: "\n\nun saved.go, as it is in the editor now:\n```\npackage unsaved\n```\n"},
		pawl.Text{Text: "\n\nun saved.go#L1:2, as it is in the editor now:\n````\n```\n````\n"},
		pawl.File{Name: "attachment", MediaType: "image/png", Data: image},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("prompted (-want):\n%s", diff)
	}
	for name, bad := range map[string]sdk.ContentBlock{
		"audio/wav":    sdk.AudioBlock("AAAA", "audio/wav"),
		"not valid":    sdk.ImageBlock("%%%", "image/png"),
		"is empty":     sdk.TextBlock("  "),
		"attach image": sdk.ResourceBlock(sdk.EmbeddedResourceResource{BlobResourceContents: &sdk.BlobResourceContents{Uri: "file:///x.zip", Blob: "AAAA", MimeType: sdk.Ptr("application/zip")}}),
	} {
		if stop := e.prompt(id, bad); !strings.Contains(stop, name) {
			t.Errorf("%s: %q", name, stop)
		}
	}
}

// TestSessions: sessions are listed, refused where they do not belong, resumed
// without their past, and closed.
func TestSessions(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"text":"One."}`, `{"text":"Two."}`)
	e := start(t, b, "--model", model)
	id := e.session(b.Dir)
	e.prompt(id, sdk.TextBlock("the first words"))
	list, err := e.conn.ListSessions(t.Context(), sdk.ListSessionsRequest{Cwd: &b.Dir})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionId != id || *list.Sessions[0].Title != "the first words" || list.Sessions[0].Cwd != b.Dir {
		t.Errorf("listed %+v, %v", list, err)
	}
	other := t.TempDir()
	if list, err := e.conn.ListSessions(t.Context(), sdk.ListSessionsRequest{Cwd: &other}); err != nil || len(list.Sessions) != 0 {
		t.Errorf("elsewhere: %+v, %v", list, err)
	}
	for want, r := range map[string]sdk.LoadSessionRequest{
		"Open that directory":                    {SessionId: id, Cwd: other},
		"is not a directory":                     {SessionId: id, Cwd: filepath.Join(other, "none")},
		"is not absolute":                        {SessionId: id, Cwd: "x"},
		"none is not a directory":                {SessionId: id, Cwd: b.Dir, AdditionalDirectories: []string{filepath.Join(other, "none")}},
		`"more" is not absolute`:                 {SessionId: id, Cwd: b.Dir, AdditionalDirectories: []string{"more"}},
		"01ARZ3NDEKTSV4RRFFQ69G5FAV\" not found": {SessionId: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Cwd: b.Dir},
		`session "../../etc" not found`:          {SessionId: "../../etc", Cwd: b.Dir},
	} {
		r.McpServers = []sdk.McpServer{}
		if _, err := e.conn.LoadSession(t.Context(), r); err == nil || !strings.Contains(words(err), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := e.conn.CloseSession(t.Context(), sdk.CloseSessionRequest{SessionId: id}); err != nil {
		t.Error(err)
	}
	if stop := e.prompt(id, sdk.TextBlock("x")); !strings.Contains(stop, "is not open") {
		t.Errorf("closed: %q", stop)
	}
	before := len(e.updates(id))
	if _, err := e.conn.ResumeSession(t.Context(), sdk.ResumeSessionRequest{SessionId: id, Cwd: b.Dir}); err != nil {
		t.Fatal(err)
	}
	if stop := e.prompt(id, sdk.TextBlock("x")); stop != "end_turn" || e.text(id) != "One.Two." || len(e.updates(id)) != before+1 {
		t.Errorf("resumed: %q\n%s", stop, e.transcript(id))
	}
}

// TestCommands: the directory's commands are offered, and one that is called is what
// the prompt says.
func TestCommands(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"expect":"Greet Ada kindly","text":"Done."}`)
	dir := filepath.Join(b.Dir, ".pawl", "commands")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "greet.md"), []byte("---\ndescription: Greets\nargument-hint: name\n---\nGreet $ARGUMENTS kindly\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := start(t, b, "--model", model, "--trust")
	id := e.session(b.Dir)
	e.await("the commands", func() bool {
		for _, u := range e.updates(id) {
			if c := u.AvailableCommandsUpdate; c != nil {
				return len(c.AvailableCommands) == 1 && c.AvailableCommands[0].Name == "greet" && c.AvailableCommands[0].Description == "Greets"
			}
		}
		return false
	})
	if stop := e.prompt(id, sdk.TextBlock("/greet Ada")); stop != "end_turn" {
		t.Errorf("it ended with %q", stop)
	}
	if stop := e.prompt(id, sdk.TextBlock("/none")); !strings.Contains(stop, `unknown command "/none"`) {
		t.Errorf("unknown: %q", stop)
	}
}

// TestGarbage: lines that are no messages are answered or passed over, and the
// connection goes on.
func TestGarbage(t *testing.T) {
	t.Parallel()
	b, model := newWorkdir(t, `{"text":"Done."}`)
	e := start(t, b, "--model", model)
	id := e.session(b.Dir)
	for line, want := range map[string]string{
		"not json": `"code":-32700`,
		"{\"id\":": `"code":-32700`,
		"[1,2]":    `"code":-32600`,
		"\x00\xff": `"code":-32700`,
		`{"jsonrpc":"2.0","id":"u1","method":"no/such"}`:                                                         `"code":-32601`,
		`{"jsonrpc":"2.0","id":"u2","method":"session/prompt","params":7}`:                                       `"code":-32602`,
		`{"jsonrpc":"2.0","id":"u3","method":"session/prompt","params":{"sessionId":"x"}}`:                       `"code":-32602`,
		`{"jsonrpc":"2.0","id":"u4","method":"session/prompt","params":{"sessionId":"x","prompt":[]}}`:           `"code":-32002`,
		`{"jsonrpc":"2.0","id":"u5","method":"session/new","params":{"cwd":"/","mcpServers":[{"type":"what"}]}}`: `"id":"u5"`,
		`{"x":"` + strings.Repeat("y", 9<<20) + `"}`:                                                             `is larger than`,
	} {
		before := len(e.written())
		if _, err := e.in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		e.await(want+" for "+line[:min(60, len(line))], func() bool { return strings.Contains(e.written()[before:], want) })
	}
	for _, line := range []string{"", "   ", "{}", `{"jsonrpc":5,"id":1,"method":"session/prompt","params":{"sessionId":"x","prompt":[]}}`, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"x"}}`, `{"id":77,"result":{}}`} {
		if _, err := e.in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	if stop := e.prompt(id, sdk.TextBlock("go")); stop != "end_turn" {
		t.Errorf("then it ended with %q", stop)
	}
}
