package script_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// family opens a script in another directory, whose children have scripts of
// their own or blocks of lines by agent.
func family(t *testing.T) *script.Model {
	t.Helper()
	in(t, nil)
	if err := os.Mkdir("scripts", 0o700); err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs("scripts/absolute.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"scripts/main.jsonl": `{"calls":[{"name":"read"},{"name":"task","script":"child.jsonl"}]}
{"agent":"explore","text":"explored"}
{"calls":[{"name":"task"},{"name":"task","script":` + fmt.Sprintf("%q", abs) + `},{"name":"task","script":"child.jsonl"}]}
{"agent":"build","text":"built"}
{"agent":"explore","text":"explored more"}`,
		"scripts/child.jsonl":    `{"text":"child one"}` + "\n" + `{"text":"child two"}`,
		"scripts/absolute.jsonl": `{"text":"absolute"}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := script.Open("scripts/main.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestChildren(t *testing.T) { //nolint:paralleltest // it changes the working directory
	tests := []struct {
		name string
		req  model.Request
		want string // the text, or the fault
	}{
		{"its call's script", model.Request{ParentCall: "call_1_2", Agent: "explore"}, "child one"},
		{"its call's script, later", model.Request{ParentCall: "call_1_2", Agent: "explore", Replies: 1}, "child two"},
		{"the same script for another call", model.Request{ParentCall: "call_2_3"}, "child one"},
		{"a script by its absolute path", model.Request{ParentCall: "call_2_2"}, "absolute"},
		{"its agent's block", model.Request{ParentCall: "call_2_1", Agent: "explore"}, "explored"},
		{"its agent's block, later", model.Request{ParentCall: "call_2_1", Agent: "explore", Replies: 1}, "explored more"},
		{"another agent's block", model.Request{ParentCall: "call_2_1", Agent: "build"}, "built"},
		{"a call that the script did not make", model.Request{ParentCall: "toolu_1", Agent: "build"}, "built"},
		{
			"no block", model.Request{ParentCall: "call_2_1", Agent: "review"},
			`script: misfit: scripts/main.jsonl:3: call call_2_1 names no script for its subagent, and no line has agent "review" (lines exist for: build, explore)`,
		},
		{
			"no block for a call that the script did not make", model.Request{ParentCall: "toolu_1"},
			`script: misfit: scripts/main.jsonl: call toolu_1 names no script for its subagent, and no line has agent "" (lines exist for: build, explore)`,
		},
		{
			"a child's script that runs out", model.Request{ParentCall: "call_1_2", Replies: 2},
			`script: misfit: scripts/child.jsonl:2: the script ran out of replies: it has 2 for this session, and reply 3 was requested; the last message was ""`,
		},
		{
			"an agent's block that runs out", model.Request{ParentCall: "call_2_1", Agent: "build", Replies: 1},
			`script: misfit: scripts/main.jsonl:4: the script ran out of replies: it has 1 for this session, and reply 2 was requested; the last message was ""`,
		},
	}
	m := family(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chunks, err := read(m.Stream(t.Context(), tt.req))
			got := ""
			if err != nil {
				got = err.Error()
			}
			for _, c := range chunks {
				got += c.Text
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestChildOfAScriptWithoutAgents(t *testing.T) { //nolint:paralleltest // it changes the working directory
	_, err := read(open(t, `{"calls":[{"name":"task"}]}`).Stream(t.Context(), model.Request{ParentCall: "call_1_1", Agent: "explore"}))
	want := `script: misfit: main.jsonl:1: call call_1_1 names no script for its subagent, and no line has agent "explore" (lines exist for: none)`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestManySessionsAtOnce(t *testing.T) { //nolint:paralleltest // it changes the working directory
	m := family(t)
	requests := []model.Request{
		{},
		{Replies: 1},
		{ParentCall: "call_1_2"},
		{ParentCall: "call_2_1", Agent: "explore", Replies: 1},
	}
	var want [][]model.Chunk
	for _, req := range requests {
		chunks, err := read(m.Stream(t.Context(), req))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, chunks)
	}
	errs := make([]error, 1000)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for j, req := range requests {
				got, err := read(m.Stream(t.Context(), req))
				if diff := cmp.Diff(want[j], got); diff != "" {
					err = errors.Join(err, errors.New(diff))
				}
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

func TestBeside(t *testing.T) { //nolint:paralleltest // it changes the working directory
	m := open(t, `{"window":{"context":100,"output":20}}`, `{"text":"main"}`, `{"agent":"title","text":"one"}`, `{"agent":"title","text":"two"}`)
	long := []pawl.Message{{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: string(make([]byte, 400))}}}}
	tests := []struct {
		name string
		req  model.Request
		want string // the text, or the fault
	}{
		{"the conversation", model.Request{}, "main"},
		{"the first", model.Request{Agent: model.AgentTitle}, "one"},
		{"the second, in a child", model.Request{Agent: model.AgentTitle, ParentCall: "call_1_1", Replies: 1}, "two"},
		{"the last stands for all after it", model.Request{Agent: model.AgentTitle, Replies: 9}, "two"},
		{"another one", model.Request{Agent: model.AgentSummary}, `script: misfit: main.jsonl: no line has agent "summary"`},
		{"too large", model.Request{Messages: long}, "context overflow: the request has 100 tokens: the context window is 100, of which 20 are reserved for the reply"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chunks, err := read(m.Stream(t.Context(), tt.req))
			got := ""
			if err != nil {
				got = err.Error()
			}
			for _, c := range chunks {
				got += c.Text
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
