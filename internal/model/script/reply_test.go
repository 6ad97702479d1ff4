package script_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// A reader of its own faults says which it knows; times is for those who count.
func TestOpenFor(t *testing.T) { //nolint:paralleltest // it changes the working directory
	known := func(k script.Kind) error {
		if k != "flood" {
			return fmt.Errorf("fault %q: want flood", k)
		}
		return nil
	}
	for _, tt := range []struct{ line, want string }{
		{`{"fault":"flood","times":2,"text":"wet"}`, ""},
		{`{"fault":"drop","times":1}`, ""},
		{`{"fault":"fire"}`, `open script: main.jsonl:1: fault "fire": want flood`},
		{`{"times":1}`, "open script: main.jsonl:1: times needs a fault"},
		{`{"fault":"drop","times":-1}`, "open script: main.jsonl:1: times must not be negative"},
	} {
		in(t, map[string]string{"main.jsonl": tt.line})
		got := ""
		if _, err := script.OpenFor("main.jsonl", known); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.line, got, tt.want)
		}
	}
	in(t, map[string]string{"main.jsonl": `{"fault":"drop","times":1}`})
	if _, err := script.Open("main.jsonl"); err == nil || !strings.Contains(err.Error(), "times works only with the fake provider") {
		t.Errorf("got %v", err)
	}
}

// Reply is what Stream yields, whole, with its fault for the caller to act.
func TestReply(t *testing.T) { //nolint:paralleltest // it changes the working directory
	m := open(t, `{}`, `{"text":"a","reasoning":"b","calls":[{"name":"read"}],"usage":{"input":1},"deltas":2,"delay_ms":3,"fault":"garbage"}`)
	got, err := m.Reply(model.Request{Replies: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := script.Reply{
		Text: "a", Reasoning: "b", Calls: []pawl.ToolCall{{ID: "call_2_1", Name: "read", Input: []byte("{}")}},
		Usage: pawl.Usage{Input: 1}, Deltas: 2, Delay: 3 * time.Millisecond, Fault: script.KindGarbage,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var fault *script.Fault
	if _, err := m.Reply(model.Request{Replies: 2}); !errors.As(err, &fault) || fault.Kind != script.KindMisfit {
		t.Errorf("got %v, want a misfit", err)
	}
}
