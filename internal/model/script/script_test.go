package script_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// in makes an empty directory with these files the current one, so that errors show plain names.
func in(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// open opens a script of these lines.
func open(t *testing.T, lines ...string) *script.Model {
	t.Helper()
	in(t, map[string]string{"main.jsonl": strings.Join(lines, "\n")})
	m, err := script.Open("main.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// read drains a stream: its chunks, and the error that ended it, if one did.
func read(seq iter.Seq2[model.Chunk, error]) (chunks []model.Chunk, err error) {
	for c, err := range seq {
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

func text(s string) model.Chunk      { return model.Chunk{Kind: model.ChunkText, Text: s} }
func reasoning(s string) model.Chunk { return model.Chunk{Kind: model.ChunkReasoning, Text: s} }
func finish(f pawl.Finish) model.Chunk {
	return model.Chunk{Kind: model.ChunkFinish, Finish: f}
}
func call(id pawl.CallID, name, input string) model.Chunk {
	return model.Chunk{Kind: model.ChunkCall, Call: pawl.ToolCall{ID: id, Name: name, Input: []byte(input)}}
}

func TestReplies(t *testing.T) { //nolint:paralleltest // it changes the working directory
	tests := []struct {
		name, line string
		want       []model.Chunk
	}{
		{"text", `{"text":"hello"}`, []model.Chunk{text("hello"), finish(pawl.FinishEndTurn)}},
		{"nothing", `{}`, []model.Chunk{finish(pawl.FinishEndTurn)}},
		{"a finish of its own", `{"text":"cut","finish":"max_tokens"}`, []model.Chunk{text("cut"), finish(pawl.FinishMaxTokens)}},
		{"tool_use without calls", `{"finish":"tool_use"}`, []model.Chunk{finish(pawl.FinishToolUse)}},
		{
			"everything, in order",
			`{"text":"ok","reasoning":"hm","calls":[{"name":"read","input":{"path":"a"}},{"name":"list"}],"usage":{"input":10,"output":5}}`,
			[]model.Chunk{
				reasoning("hm"), text("ok"), call("call_1_1", "read", `{"path":"a"}`), call("call_1_2", "list", `{}`),
				{Kind: model.ChunkUsage, Usage: pawl.Usage{Input: 10, Output: 5}}, finish(pawl.FinishToolUse),
			},
		},
		{
			"deltas cut text and reasoning", `{"text":"abcde","reasoning":"xyz","deltas":2}`,
			[]model.Chunk{reasoning("x"), reasoning("yz"), text("ab"), text("cde"), finish(pawl.FinishEndTurn)},
		},
		{
			"deltas cut between runes", `{"text":"é€😀","deltas":9}`,
			[]model.Chunk{text("é"), text("€"), text("😀"), finish(pawl.FinishEndTurn)},
		},
		{
			"drop keeps half of the text", `{"text":"abcd","calls":[{"name":"read"}],"fault":"drop"}`,
			[]model.Chunk{text("ab")},
		},
		{"drop of half the deltas", `{"text":"abcd","deltas":4,"fault":"drop"}`, []model.Chunk{text("a"), text("b")}},
		{"drop without a text", `{"fault":"drop"}`, nil},
		{
			"garbage without calls", `{"fault":"garbage"}`,
			[]model.Chunk{call("call_1_1", "read", `{"path": `), finish(pawl.FinishToolUse)},
		},
		{
			"garbage cuts the last call", `{"calls":[{"name":"read","input":{"path":"a"}},{"name":"write","input":{"path":"b"}}],"fault":"garbage"}`,
			[]model.Chunk{
				call("call_1_1", "read", `{"path":"a"}`), call("call_1_2", "write", `{"path": `), finish(pawl.FinishToolUse),
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(open(t, tt.line).Stream(t.Context(), model.Request{}))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A script is read by position, so that a resumed run goes on where it stopped.
func TestPosition(t *testing.T) { //nolint:paralleltest // it changes the working directory
	in(t, map[string]string{"main.jsonl": "// a comment\n\n" + `{"text":"one"}` + "\r\n# another\n" + `{"calls":[{"name":"list"}]}` + "\n" + `{"text":"three"}`})
	want := [][]model.Chunk{
		{text("one"), finish(pawl.FinishEndTurn)},
		{call("call_2_1", "list", `{}`), finish(pawl.FinishToolUse)},
		{text("three"), finish(pawl.FinishEndTurn)},
	}
	for position := range want {
		m, err := script.Open("main.jsonl") // a new process each time
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(m.Stream(t.Context(), model.Request{Replies: position}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[position], got); diff != "" {
			t.Errorf("position %d: %s", position, diff)
		}
	}
}

func TestStreamStopsWhenTheCallerBreaksOff(t *testing.T) { //nolint:paralleltest // it changes the working directory
	m := open(t, `{"text":"abc","reasoning":"xyz","deltas":3,"calls":[{"name":"list"}],"usage":{"input":1}}`)
	whole, err := read(m.Stream(t.Context(), model.Request{}))
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		var got []model.Chunk
		for c, err := range m.Stream(t.Context(), model.Request{}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c)
			if len(got) == n+1 {
				break
			}
		}
		if diff := cmp.Diff(whole[:n+1], got); diff != "" {
			t.Errorf("broken off after %d: %s", n+1, diff)
		}
	}
}

func TestEndedContext(t *testing.T) { //nolint:paralleltest // it changes the working directory
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := read(open(t, `{"text":"late"}`).Stream(ctx, model.Request{}))
	if !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("got %v, %v; want nothing but context.Canceled", got, err)
	}
}
