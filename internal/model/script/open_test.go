package script_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/model/script"
)

func TestOpenRefuses(t *testing.T) { //nolint:paralleltest // it changes the working directory
	tests := []struct{ name, script, want string }{
		{"an empty file", "", "main.jsonl: the script has no replies"},
		{"comments only", "# nothing\n\n// at all\n", "main.jsonl: the script has no replies"},
		{"no JSON", "{}\n\nhello", "main.jsonl:3: invalid character 'h' looking for beginning of value"},
		{"trailing data", `{"text":"a"} {}`, "main.jsonl:1: invalid character '{' after top-level value"},
		{"an unknown key", "# 1\n" + `{"txt":"a"}`, `main.jsonl:2: unknown key "txt"`},
		{"a duplicate key", `{"text":"a","text":"b"}`, `main.jsonl:1: duplicate key "text"`},
		{"a key in the wrong case", `{"Text":"a"}`, `main.jsonl:1: unknown key "Text"`},
		{"an unknown finish", `{"finish":"canceled"}`, `main.jsonl:1: finish "canceled": use end_turn, tool_use or max_tokens`},
		{"an unknown fault", `{"fault":"misfit"}`, `main.jsonl:1: fault "misfit": use error, overloaded, drop, hang or garbage`},
		{"a bad regexp", `{"expect":"("}`, "main.jsonl:1: expect: error parsing regexp: missing closing ): `(`"},
		{"negative deltas", `{"deltas":-1}`, "main.jsonl:1: deltas must not be negative"},
		{"a negative delay", `{"delay_ms":-1}`, "main.jsonl:1: delay_ms must not be negative"},
		{"tool call without a name", `{"calls":[{"name":"a"},{"input":{}}]}`, "main.jsonl:1: call 2 has no name"},
		{
			"a child's script that is not there", `{"calls":[{"name":"task","script":"gone.jsonl"}]}`,
			"main.jsonl:1: script of call 1: open gone.jsonl: no such file or directory",
		},
		{
			"a child's script outside of the directory", `{"calls":[{"name":"task","script":"../main.jsonl"}]}`,
			"main.jsonl:1: script of call 1: open ../main.jsonl: no such file or directory",
		},
		{
			"a child's script that is any file", `{"calls":[{"name":"task","script":"/etc/passwd"}]}`,
			"main.jsonl:1: script of call 1: it must be in the directory of the main script, or below",
		},
		{
			"a child's script that is wrong", `{"calls":[{"name":"task","script":"wrong.jsonl"}]}`,
			`main.jsonl:1: script of call 1: wrong.jsonl:2: unknown key "no"`,
		},
		{
			"a child's script with agents", `{"calls":[{"name":"task","script":"agents.jsonl"}]}`,
			`main.jsonl:1: script of call 1: agents.jsonl:1: agent "explore" is not allowed in a subagent's script`,
		},
		{
			"a child's script that names one", `{"calls":[{"name":"task","script":"main.jsonl"}]}`,
			`main.jsonl:1: script of call 1: main.jsonl:1: script "main.jsonl": only calls of the main session can name a script`,
		},
		{
			"an agent's line that names a script", `{"agent":"a","calls":[{"name":"task","script":"x.jsonl"}]}`,
			`main.jsonl:1: script "x.jsonl": only calls of the main session can name a script`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, map[string]string{
				"main.jsonl":   tt.script,
				"wrong.jsonl":  "{}\n" + `{"no":1}`,
				"agents.jsonl": `{"agent":"explore"}`,
			})
			m, err := script.Open("main.jsonl")
			if err == nil {
				t.Fatalf("opened %v, want an error", m)
			}
			if diff := cmp.Diff("open script: "+tt.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOpenRefusesAFileWithoutEnd(t *testing.T) { //nolint:paralleltest // it changes the working directory
	in(t, map[string]string{"main.jsonl": strings.Repeat("\n", 33<<20)})
	_, err := script.Open("main.jsonl")
	if err == nil || err.Error() != "open script: main.jsonl: the script is larger than 33554432 bytes" {
		t.Errorf("got %v", err)
	}
}

func TestOpenWithoutFile(t *testing.T) { //nolint:paralleltest // it changes the working directory
	in(t, nil)
	_, err := script.Open("gone.jsonl")
	if err == nil || err.Error() != "open script: open gone.jsonl: no such file or directory" {
		t.Errorf("got %v", err)
	}
}
