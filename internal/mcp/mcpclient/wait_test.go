package mcpclient

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// A tool that a model asks for while its server starts is there once it has.
func TestWaitsForStart(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(w *env) string{
		"search": func(w *env) string {
			search, _ := w.Tool(t.Context(), w.dir, SearchTool, nil)
			r, err := search.Run(t.Context(), w.input(`{"query":"echo"}`))
			if err != nil {
				t.Fatal(err)
			}
			return r.Content
		},
		"by its name": func(w *env) string {
			tool, _ := w.Tool(t.Context(), w.dir, "mcp__fake__echo", nil)
			return tool.Name + ": Call them by their names."
		},
		"through mcp_call": func(w *env) string {
			call, _ := w.Tool(t.Context(), w.dir, CallTool, nil)
			tool, input, err := call.Means(t.Context(), []byte(`{"tool":"mcp__fake__echo","input":{"a":1}}`))
			if err != nil {
				t.Fatal(err)
			}
			return tool.Name + ": Call them by their names." + string(input)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, quick, Stdio, "good")
			if got := ask(w); !strings.HasPrefix(got, "mcp__fake__echo: ") || !strings.Contains(got, "Call them by their names.") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// A search ends with its turn, though a server never answers.
func TestSearchEnds(t *testing.T) {
	t.Parallel()
	w := newEnv(t, times{start: time.Hour, wait: time.Hour, pause: time.Hour, steady: time.Hour, refresh: time.Hour}, Stdio, "mute")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	search := w.Tools(w.dir, nil)[0]
	if _, err := search.Run(ctx, w.input(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := w.Await(ctx, w.dir, "fake"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A server that fails is reported once, and is in the answer of each search.
func TestFailureIsReported(t *testing.T) {
	t.Parallel()
	w := newEnv(t, times{start: 30 * time.Second, wait: time.Minute, pause: time.Hour, steady: time.Hour, refresh: time.Hour}, Stdio, "good")
	w.server.Command, w.server.Args = "/nowhere/at-all", nil
	if err := w.Start(w.dir, []Server{w.server}); err != nil {
		t.Fatal(err)
	}
	err := w.Await(t.Context(), w.dir, "fake")
	if pawl.CodeOf(err) != pawl.CodeUnavailable || !strings.Contains(err.Error(), "/nowhere/at-all") {
		t.Errorf("got %v", err)
	}
	notes := w.Notes(w.dir)
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "MCP server fake is not ready (failed): ") || !strings.HasSuffix(notes[0], "; retrying") {
		t.Errorf("got %q", notes)
	}
	if again := w.Notes(w.dir); again != nil {
		t.Errorf("it is told again: %q", again)
	}
	if got := w.Tools(w.dir, nil); got != nil {
		t.Errorf("offered: %v", names(got))
	}
	search, _ := w.Tool(t.Context(), w.dir, SearchTool, nil)
	r, err := search.Run(t.Context(), w.input(`{"query":"echo"}`))
	if err != nil || !strings.HasPrefix(r.Content, "No tool has a word of \"echo\".\nThe MCP server fake is not ready: failed: ") {
		t.Errorf("%q, %v", r.Content, err)
	}
	if err := w.Await(t.Context(), w.dir, "nobody"); pawl.CodeOf(err) != pawl.CodeNotFound {
		t.Errorf("got %v", err)
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	p := Prompt{Server: "hub", Name: "re view", Arguments: []Argument{{Name: "file", Required: true}, {Name: "why"}}}
	if got := p.Command(); got != "mcp__hub__re_view" {
		t.Errorf("got %s", got)
	}
	for words, want := range map[string]map[string]string{
		"":              nil,
		"a.go":          {"file": "a.go"},
		"a.go too long": {"file": "a.go", "why": "too long"},
	} {
		got, err := p.Fill(strings.Fields(words))
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (want != nil) {
			t.Errorf("%q: %v\n%s", words, err, diff)
		}
	}
	if _, err := (Prompt{Name: "x"}).Fill([]string{"a"}); err == nil {
		t.Error("words were taken that go nowhere")
	}
}
