package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
)

// serveArg makes the test binary a language server that behaves in the given
// way; pawlVar makes it a small pawl.
const (
	serveArg = "serve:"
	pawlVar  = "LSP_TEST_PAWL"
)

func TestMain(m *testing.M) {
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0") // or each fake takes a second to end
	if len(os.Args) == 2 && strings.HasPrefix(os.Args[1], serveArg) {
		f := &fake{way: strings.TrimPrefix(os.Args[1], serveArg), in: bufio.NewReader(os.Stdin), texts: map[string]string{}}
		f.serve()
		os.Exit(0)
	}
	if dir := os.Getenv(pawlVar); dir != "" {
		smallPawl(dir)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake is a server for files of lines: BAD is an error, WARN a warning, and
// "needs FILE" an error if FILE does not exist.
type fake struct {
	way   string
	in    *bufio.Reader
	texts map[string]string // by URI
	asked int

	answers string
}

// serve is the server's life. What a way does before it is greeted is done here.
func (f *fake) serve() {
	switch f.way {
	case "dies":
		fmt.Fprintln(os.Stderr, "\nfatal: no such toolchain\nmore")
		os.Exit(3)
	case "never":
		_, _ = io.Copy(io.Discard, f.in)
	case "garbage":
		fmt.Print("Hello! I am a language server.\n\n\n")
	case "header":
		fmt.Print("Content-Length: 1073741824\r\n\r\n{")
	case "endless":
		_, _ = io.Copy(os.Stdout, endless{})
	case "stubborn":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		cmd := exec.Command("setsid", "sleep", "1000")
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	}
	for {
		body, err := readMessage(f.in)
		if err != nil {
			if f.way == "stubborn" {
				time.Sleep(time.Hour) // it hangs; the runtime would report select {} as a deadlock
			}
			return
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil {
			panic(err)
		}
		f.handle(m)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func (f *fake) handle(m message) {
	switch m.Method {
	case "initialize":
		f.reply(m.ID, map[string]any{"capabilities": f.capabilities()})
	case "initialized":
		f.greeted()
	case "textDocument/didOpen", "textDocument/didChange":
		f.changed(m)
	case "textDocument/didClose":
		var p struct{ TextDocument textDocument }
		decode(m.Params, &p)
		delete(f.texts, p.TextDocument.URI)
		if !strings.HasPrefix(f.way, "pull") {
			f.publish(p.TextDocument.URI, nil, []diagnostic{})
		}
	case "workspace/didChangeWatchedFiles":
		if !strings.HasPrefix(f.way, "pull") {
			f.publishAll(nil)
		}
	case "textDocument/diagnostic":
		f.pull(m)
	case "shutdown":
		if f.way != "stubborn" {
			f.reply(m.ID, nil)
		}
	case "exit":
		if f.way != "stubborn" {
			os.Exit(0)
		}
	case "":
		f.answered(m)
	}
}

func (f *fake) capabilities() map[string]any {
	switch f.way {
	case "pull", "pull-refresh", "pull-cancel", "pull-works":
		return map[string]any{"textDocumentSync": 1, "diagnosticProvider": map[string]any{"interFileDependencies": true}}
	}
	return map[string]any{"textDocumentSync": map[string]any{"openClose": true, "change": 1, "save": map[string]any{"includeText": true}}}
}

// greeted is what a way does first of all.
func (f *fake) greeted() {
	switch f.way {
	case "pull-later":
		f.send(message{ID: []byte("1"), Method: "client/registerCapability", Params: raw(map[string]any{
			"registrations": []any{map[string]any{"id": "x", "method": "textDocument/diagnostic", "registerOptions": map[string]any{"interFileDependencies": true}}},
		})})
	case "asks":
		for i, r := range []message{
			{Method: "workspace/configuration", Params: raw(map[string]any{"items": []any{map[string]any{"section": "fake"}, map[string]any{"section": "x"}}})},
			{Method: "window/workDoneProgress/create", Params: raw(map[string]any{"token": "t"})},
			{Method: "workspace/applyEdit", Params: raw(map[string]any{})},
			{Method: "workspace/workspaceFolders"},
			{Method: "window/showDocument"},
		} {
			r.ID = raw(fmt.Sprint("q", i))
			f.send(r)
		}
	case "asks-much":
		for i := range 100_000 {
			f.send(message{ID: raw(i), Method: "workspace/configuration", Params: raw(map[string]any{"items": []any{}})})
		}
		time.Sleep(time.Hour) // it hangs; the runtime would report select {} as a deadlock
	case "deaf":
		time.Sleep(time.Hour) // it hangs; the runtime would report select {} as a deadlock
	case "works", "pull-works":
		f.progress("begin")
	}
}

// changed takes in a text and does with it what the way is.
func (f *fake) changed(m message) {
	var p struct {
		TextDocument   textItem
		ContentChanges []struct{ Text string }
	}
	decode(m.Params, &p)
	uri, text := p.TextDocument.URI, p.TextDocument.Text
	if m.Method == "textDocument/didChange" {
		text = p.ContentChanges[0].Text
	}
	f.texts[uri] = text
	switch f.way {
	case "mute":
	case "asks":
		f.publishAnswers()
	case "mute-later":
		if m.Method == "textDocument/didChange" {
			p.TextDocument.Version-- // and then nothing more
		}
		f.publish(uri, &p.TextDocument.Version, []diagnostic{bad(0, "BAD")})
	case "path":
		f.publish(uri, &p.TextDocument.Version, []diagnostic{bad(0, os.Getenv("PATH"))})
	case "variable":
		f.publish(uri, &p.TextDocument.Version, []diagnostic{bad(0, os.Getenv("OF_MINE"))})
	case "dies-later":
		os.Exit(4)
	case "dies-once":
		if _, err := os.Stat("died"); err != nil {
			_ = os.WriteFile("died", nil, 0o644)
			os.Exit(4)
		}
		f.publish(uri, &p.TextDocument.Version, f.faults(uri))
	case "garbage-later":
		fmt.Print("{}{}{}\n\n\n")
	case "not-json":
		fmt.Print("Content-Length: 3\r\n\r\n{]}")
	case "flood":
		f.flood(uri, p.TextDocument.Version)
	case "silent-when-clean":
		if list := f.faults(uri); len(list) > 0 {
			f.publish(uri, nil, list)
		}
	case "unversioned":
		f.publish(uri, nil, []diagnostic{}) // the quick part
		f.publish(uri, nil, f.faults(uri))
	case "stale":
		old := p.TextDocument.Version - 1
		f.publish(uri, &old, []diagnostic{bad(0, "of the version before")})
		f.publish(uri, &p.TextDocument.Version, f.faults(uri))
	case "works":
		f.publish(uri, nil, f.faults(uri))
		if strings.Contains(text, "END") {
			f.progress("end")
		}
	case "pull", "pull-later", "pull-refresh", "pull-cancel", "pull-works":
	default:
		f.publishAll(&p.TextDocument.Version)
	}
}

// flood is 100,000 faults of one file, and one fault each of 2,000 files.
func (f *fake) flood(uri string, version int) {
	for i := range 2000 {
		f.publish(fmt.Sprint(uri, i), nil, []diagnostic{bad(1, "x")})
	}
	warnings := strings.Repeat(`{"severity":2,"message":"not so bad"},`, 50_000)
	errors := strings.Repeat(`{"severity":1,"message":"very bad"},`, 49_999)
	last := `{"severity":1,"message":"the worst","range":{"start":{"line":-7}}}`
	body := fmt.Sprintf(`{"method":"textDocument/publishDiagnostics","params":{"uri":%q,"version":%d,"diagnostics":[%s%s%s]}}`,
		uri, version, warnings, errors, last)
	fmt.Printf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// publishAll publishes for every open file, with the version that was sent last.
func (f *fake) publishAll(version *int) {
	for _, uri := range slices.Sorted(maps.Keys(f.texts)) {
		f.publish(uri, version, f.faults(uri))
	}
}

func (f *fake) faults(uri string) []diagnostic {
	list := []diagnostic{}
	for i, line := range strings.Split(f.texts[uri], "\n") {
		name, needs := strings.CutPrefix(line, "needs ")
		_, err := os.Stat(name)
		switch {
		case needs && err != nil:
			list = append(list, bad(i, "there is no "+name))
		case strings.Contains(line, "BAD"):
			list = append(list, bad(i, line))
		case strings.Contains(line, "WARN"):
			d := bad(i, line)
			d.Severity = 2
			list = append(list, d)
		}
	}
	return list
}

func (f *fake) pull(m message) {
	var p struct{ TextDocument textDocument }
	decode(m.Params, &p)
	f.asked++
	switch {
	case f.way == "pull-refresh" && f.asked == 1: // before it has loaded
		f.reply(m.ID, map[string]any{"kind": "full", "items": []diagnostic{}})
		f.send(message{ID: []byte("7"), Method: "workspace/diagnostic/refresh"})
	case f.way == "pull-works" && f.asked == 1: // likewise
		f.reply(m.ID, map[string]any{"kind": "full", "items": []diagnostic{}})
		f.progress("end")
	case f.way == "pull-cancel" && f.asked < 3:
		f.send(message{ID: m.ID, Error: &rpcError{Code: codeServerCancelled, Message: "not now"}})
	default:
		f.reply(m.ID, map[string]any{"kind": "full", "items": f.faults(p.TextDocument.URI)})
	}
}

// answered makes a fault of each answer to a question of the server.
func (f *fake) answered(m message) {
	if f.way != "asks" {
		return
	}
	text := string(m.Result)
	if m.Error != nil {
		text = fmt.Sprint(m.Error.Code, " ", m.Error.Message)
	}
	f.answers += "BAD " + string(m.ID) + " " + text + "\n"
	f.publishAnswers()
}

// publishAnswers publishes all answers as diagnostics of the first document.
func (f *fake) publishAnswers() {
	if strings.Count(f.answers, "\n") < 5 || len(f.texts) == 0 {
		return
	}
	uri := slices.Sorted(maps.Keys(f.texts))[0]
	f.texts[uri] = f.answers
	f.publishAll(new(1))
}

func (f *fake) publish(uri string, version *int, list []diagnostic) {
	f.send(message{Method: "textDocument/publishDiagnostics", Params: raw(publishParams{uri, version, list})})
}

func (f *fake) progress(kind string) {
	f.send(message{Method: "$/progress", Params: raw(map[string]any{"token": 1, "value": map[string]any{"kind": kind}})})
}

func (f *fake) reply(id json.RawMessage, result any) { f.send(message{ID: id, Result: raw(result)}) }

func (f *fake) send(m message) {
	m.JSONRPC = "2.0"
	body := encode(m)
	fmt.Printf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

func bad(line int, text string) diagnostic {
	d := diagnostic{Severity: 1, Source: "fake", Message: text}
	d.Range.Start.Line = line
	return d
}

func raw(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func decode(params json.RawMessage, v any) {
	if err := json.Unmarshal(params, v); err != nil {
		panic(err)
	}
}

// smallPawl checks a file in the directory with gopls and TypeScript, prints its
// mark and waits to be killed.
func smallPawl(dir string) {
	m := &Servers{Path: os.Getenv("PATH")}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	report, err := m.Check(ctx, dir, []string{"a.go", "a.ts"})
	fmt.Printf("%s %d notes, %d files, %v\n", proc.Self().Mark, len(report.Notes), len(report.Files), err)
	time.Sleep(time.Hour) // it hangs; the runtime would report select {} as a deadlock
}
