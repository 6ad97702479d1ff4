//go:build linux

// Package browser drives Chromium in tests, through the DevTools protocol over a pipe.
package browser

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/internal/test/wait"
)

// Page is a tab of a browser that runs until the end of the test.
type Page struct {
	t       testing.TB
	session string

	commands *os.File
	answers  *bufio.Reader // and events
	mu       sync.Mutex
	n        int // number of the last command
}

// message is a command, an answer or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// Open starts Chromium with an empty page.
func Open(t testing.TB) *Page {
	t.Helper()
	toBrowser, commands, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	//nolint:gosec // the arguments are constants and a temporary directory
	cmd := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	if err := cmd.Start(); err != nil {
		t.Fatalf("chromium does not start: %v; install it with: apt-get install chromium", err)
	}
	_ = toBrowser.Close()   // the browser has them
	_ = fromBrowser.Close() // the browser has them
	p := &Page{t: t, commands: commands, answers: bufio.NewReader(answers)}
	t.Cleanup(func() {
		_ = commands.Close() // Chromium ends with the pipe
		_ = cmd.Wait()
		_ = answers.Close()
	})
	var target struct{ TargetID string }
	p.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	p.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p.session = attached.SessionID
	return p
}

// call sends a command and reads its result.
func (p *Page) call(method string, params, out any) {
	p.t.Helper()
	if err := p.try(method, params, out); err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
}

func (p *Page) try(method string, params, out any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	text, err := json.Marshal(message{ID: p.n, Session: p.session, Method: method, Params: params})
	if err != nil {
		return err
	}
	if _, err := p.commands.Write(append(text, 0)); err != nil {
		return err
	}
	for {
		text, err := p.answers.ReadBytes(0)
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
			return err
		}
		if m.ID != p.n {
			continue // an event
		}
		if m.Error != nil {
			return fmt.Errorf("%s", m.Error)
		}
		return json.Unmarshal(m.Result, out)
	}
}

// Go opens an address, and waits until the page is loaded.
func (p *Page) Go(url string) {
	p.t.Helper()
	var got struct{ ErrorText string }
	p.call("Page.navigate", map[string]any{"url": url}, &got)
	if got.ErrorText != "" {
		p.t.Fatalf("open %s: %s", url, got.ErrorText)
	}
	p.Until("the page "+url+" is loaded", "document.readyState === 'complete'")
}

// Eval evaluates an expression, which can be a promise, and reads its value into out.
func (p *Page) Eval(expression string, out any) {
	p.t.Helper()
	if err := p.eval(expression, out); err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
}

func (p *Page) eval(expression string, out any) error {
	var got struct {
		Result struct {
			Value json.RawMessage
		}
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := p.try("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &got); err != nil {
		return err
	}
	if e := got.ExceptionDetails; e != nil {
		return fmt.Errorf("%s %s", e.Text, e.Exception.Description)
	}
	if out == nil || len(got.Result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(got.Result.Value, out)
}

// Until waits until an expression is true.
func (p *Page) Until(what, expression string) {
	p.t.Helper()
	wait.Until(p.t, what, func() bool {
		var yes bool
		return p.eval(expression, &yes) == nil && yes // while a page loads there may be nothing to evaluate in
	})
}

// Click clicks the first element that a selector finds and that has a text.
func (p *Page) Click(selector, text string) {
	p.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll(%q)].find(e => e.textContent.includes(%q))", selector, text)
	p.Until(fmt.Sprintf("there is %s with %q", selector, text), find+" !== undefined")
	p.Eval(find+".click()", nil)
}

// AddAuthenticator gives the browser a store of passkeys, which confirms each use.
func (p *Page) AddAuthenticator() {
	p.t.Helper()
	p.call("WebAuthn.enable", map[string]any{}, &struct{}{})
	p.call("WebAuthn.addVirtualAuthenticator", map[string]any{"options": map[string]any{
		"protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
		"isUserVerified": true, "automaticPresenceSimulation": true,
	}}, &struct{}{})
}

// Text returns the text of the page.
func (p *Page) Text() string {
	p.t.Helper()
	var text string
	p.Eval("document.body.innerText", &text)
	return strings.TrimSpace(text)
}
