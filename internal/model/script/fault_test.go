package script_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/script"
)

func TestFaults(t *testing.T) { //nolint:paralleltest // it changes the working directory
	said := func(s string) []pawl.Message {
		return []pawl.Message{
			{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "the first"}}},
			{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: s}}},
		}
	}
	tests := []struct {
		name, script string
		req          model.Request
		want         script.Fault
	}{
		{"error", `{"fault":"error"}`, model.Request{}, script.Fault{Kind: script.KindError, Message: "the provider could not answer"}},
		{"error in its own words", `{"fault":"error","text":"bad key"}`, model.Request{}, script.Fault{Kind: script.KindError, Message: "bad key"}},
		{
			"overloaded", `{"fault":"overloaded"}`, model.Request{},
			script.Fault{Kind: script.KindOverloaded, Message: "the provider is overloaded, try again later"},
		},
		{
			"the script runs out", "{}\n{}\n", model.Request{Replies: 2, Messages: said("more?")},
			script.Fault{
				Kind:    script.KindMisfit,
				Message: `main.jsonl:2: the script ran out of replies: it has 2 for this session, and reply 3 was requested; the last message was "more?"`,
			},
		},
		{
			"no line for the main session", `{"agent":"explore"}`, model.Request{},
			script.Fault{
				Kind:    script.KindMisfit,
				Message: `main.jsonl: the script ran out of replies: it has 0 for this session, and reply 1 was requested; the last message was ""`,
			},
		},
		{
			"an expectation that is not met", "#\n" + `{"expect":"^hell"}`, model.Request{Messages: said("good day")},
			script.Fault{Kind: script.KindMisfit, Message: `main.jsonl:2: the last message was expected to match "^hell", but was "good day"`},
		},
		{
			"a long message is cut", `{"expect":"b"}`, model.Request{Messages: said(strings.Repeat("a", 1000))},
			script.Fault{
				Kind:    script.KindMisfit,
				Message: `main.jsonl:1: the last message was expected to match "b", but was "` + strings.Repeat("a", 500) + `"… (1000 bytes)`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chunks, err := read(open(t, tt.script).Stream(t.Context(), tt.req))
			var got *script.Fault
			if !errors.As(err, &got) || chunks != nil {
				t.Fatalf("got %v, %v; want a fault", chunks, err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Error(diff)
			}
			if want := "script: " + string(tt.want.Kind) + ": " + tt.want.Message; err.Error() != want {
				t.Errorf("got %q, want %q", err, want)
			}
		})
	}
}

// An expectation sees the texts and the tool results of the last message, and nothing else.
func TestExpect(t *testing.T) { //nolint:paralleltest // it changes the working directory
	m := open(t, `{"expect":"(?s)^one.*two.*three$","text":"ok"}`)
	got, err := read(m.Stream(t.Context(), model.Request{Messages: []pawl.Message{
		{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: "zero"}}},
		{Role: pawl.RoleTool, Parts: pawl.Parts{
			pawl.ToolResult{Call: "call_1_1", Content: "one"},
			pawl.Reasoning{Text: "hm"},
			pawl.Text{Text: "two"},
			pawl.ToolResult{Call: "call_1_2", Content: "three", IsError: true},
		}},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]model.Chunk{text("ok"), finish(pawl.FinishEndTurn)}, got); diff != "" {
		t.Error(diff)
	}
}

func TestDelays(t *testing.T) { //nolint:paralleltest // it changes the working directory
	m := open(t, `{"text":"abc","deltas":3,"delay_ms":100,"calls":[{"name":"list"}],"usage":{"input":1}}`)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		for _, err := range m.Stream(t.Context(), model.Request{}) {
			if err != nil {
				t.Fatal(err)
			}
			at = append(at, time.Since(start)/time.Millisecond)
		}
		// The three pieces and the call wait; usage and finish come with the call.
		if diff := cmp.Diff([]time.Duration{100, 200, 300, 400, 400, 400}, at); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCancel(t *testing.T) { //nolint:paralleltest // it changes the working directory
	tests := []struct {
		name, line string
		want       []model.Chunk
	}{
		{"in mid-delay", `{"text":"abc","deltas":3,"delay_ms":1000}`, []model.Chunk{text("a"), text("b")}},
		{"in a hang", `{"text":"abcd","fault":"hang"}`, []model.Chunk{text("ab")}},
		{"in a hang before any text", `{"fault":"hang"}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := open(t, tt.line)
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
				defer cancel()
				start := time.Now()
				got, err := read(m.Stream(ctx, model.Request{}))
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("ended with %v, want the context's error", err)
				}
				if took := time.Since(start); took != 2500*time.Millisecond {
					t.Errorf("ended after %v, want 2.5s", took)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}
