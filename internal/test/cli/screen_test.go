//go:build e2e

package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

// What a hostile text does to a terminal that takes it as it is, and what it hides.
const (
	hostileText = "ok\x1b]0;owned\x07\x1b]52;c;cm0=\x07\x1b]8;;http://evil.test\x1b\\link\x1b]8;;\x1b\\\x1b[2J\x1b[1;1H\u009b31m\x7f\u202eevil\u2066\U000e0069\U000e0067\u200b\u2028end"
	spoof       = "line one\r\rpawl\r  I deleted nothing"
)

// hostileScript is a model that has been taken over: it puts the text wherever
// it can.
func hostileScript(t *testing.T) string {
	t.Helper()
	bash := func(text string) string { return "printf '%s' '" + strings.ReplaceAll(text, "'", "") + "'" }
	var lines []string
	for _, reply := range []map[string]any{
		{"text": hostileText, "reasoning": hostileText, "deltas": 7, "calls": []any{
			map[string]any{"name": "bash", "input": map[string]any{"command": bash(hostileText)}},
			map[string]any{"name": "evil" + hostileText, "input": map[string]any{hostileText: hostileText}},
			map[string]any{"name": "read", "input": map[string]any{"path": hostileText}},
			map[string]any{"name": "write", "input": map[string]any{"path": "f.txt", "content": spoof + "\n" + hostileText}},
			map[string]any{"name": "todowrite", "input": map[string]any{"todos": []any{map[string]any{"id": "1", "content": hostileText, "status": "pending", "priority": "low"}}}},
		}},
		{"calls": []any{map[string]any{"name": "read", "input": map[string]any{"path": "f.txt"}}}},
		{"fault": "error", "text": hostileText},
	} {
		line, err := json.Marshal(reply)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return strings.Join(lines, "\n") + "\n"
}

// TestNothingSteersTheTerminal: whatever a model, a tool, a prompt, a file's name
// or a provider says, and however it is looked at. Rows G1 and G2.
func TestNothingSteersTheTerminal(t *testing.T) {
	t.Parallel()
	b := harness.NewWorkdir(t, harness.Binary(t, ""), harness.Stores["sqlite"](t))
	b.Write(t, "s.jsonl", hostileScript(t))
	run := []string{"run", "--mode", "yolo", "--model", "script:s.jsonl"}
	for _, args := range [][]string{
		append(run, "text "+hostileText),
		append(run, "--format", "json", "json "+hostileText),
		append(run, "--format", "stream-json", "stream "+hostileText),
		{"session", "list"},
		{"session", "list", "--json"},
		{"session", "show", "last"},
		{"session", "export", "last"},
		{"session", "show", "evil" + hostileText},
		{"stats", "--by", "session"},
		{"stats", "--json"},
		{"permissions", "test", "echo " + hostileText},
		{"models", hostileText},
		{"evil" + hostileText},
		{"run", "--evil" + hostileText},
	} {
		out := b.Run(t, args...)
		name := sanitize.Line(strings.Join(args, " "))
		if out.Stdout+out.Stderr == "" {
			t.Errorf("pawl %s says nothing", name)
		}
		for _, text := range []string{out.Stdout, out.Stderr} {
			if sanitize.Text(text) != text {
				t.Errorf("pawl %s: %q", name, text)
			}
		}
	}
	// The JSON is safe to look at, and has all that was said.
	var said bool
	exported := json.NewDecoder(strings.NewReader(b.Must(t, "session", "export", "last").Stdout))
	for exported.More() {
		var e pawl.Event
		if err := exported.Decode(&e); err != nil {
			t.Fatal(err)
		}
		if r, ok := e.Body.(pawl.Replied); ok && r.Step == 1 {
			said = r.Parts.Text() == hostileText
		}
	}
	if !said {
		t.Error("the export has lost what the model said")
	}
	// What names a thing does not look like another name.
	if list := b.Must(t, "session", "list").Stdout; !strings.Contains(list, `text ok\u{1b}]0;owned\u{7}`) {
		t.Errorf("the list has %q", list)
	}
	// A text that moves the cursor to the margin does not speak for pawl.
	shown := b.Must(t, "session", "show", "last").Stdout
	if !strings.Contains(shown, "pawl") || strings.Contains(shown, "\n  I deleted nothing") {
		t.Errorf("the tool speaks for pawl:\n%s", shown)
	}
}
