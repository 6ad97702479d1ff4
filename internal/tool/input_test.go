package tool

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// complete is an input of each tool with every field.
var complete = map[string]fields{
	"read":      {"path": "x", "offset": 1, "limit": 1, "column": 1},
	"list":      {"path": ".", "depth": 1},
	"write":     {"path": "x", "content": "x"},
	"edit":      {"path": "x", "old": "x", "new": "y", "all": true},
	"todowrite": {"items": []fields{{"id": "1", "content": "x", "status": "pending", "priority": "low"}}},
	"question":  {"questions": []fields{{"header": "x", "question": "x?", "options": []fields{{"label": "a", "description": "b"}}, "multiple": true}}},
	"task":      {"agent": "explore", "prompt": "x", "description": "x", "background": true},
	"plan_exit": {"plan": "x"},
	"bash":      {"command": "true", "timeout": 1, "workdir": ".", "background": true, "network": []string{"example.com"}, "unsandboxed": true, "description": "x"},

	"bash_output": {"id": "job_1", "wait": 1},
	"bash_kill":   {"id": "job_1"},
	"webfetch":    {"url": "https://example.org/", "format": "text", "timeout": 1},
	"websearch":   {"query": "x", "count": 1},
	"codesearch":  {"query": "x", "repo": "a/b", "lang": "go", "count": 1},
	"diagnostics": {"path": "x"},
	"apply_patch": {"patch": "*** Begin Patch\n*** Add File: x\n*** End Patch"},
}

// unmet are the tools whose input is right and that still deny it: there is no
// such job, and no search service is configured.
var unmet = []string{"bash_kill", "websearch", "codesearch"}

// schemaOf is what the tests need of a tool's schema.
func schemaOf(t *testing.T, spec toolapi.Spec) (properties, required []string) {
	t.Helper()
	var s struct {
		Properties map[string]struct{ Description string }
		Required   []string
	}
	if err := json.Unmarshal(spec.Schema, &s); err != nil {
		t.Fatal(err)
	}
	for name, p := range s.Properties {
		if p.Description == "" {
			t.Errorf("%s: the model is not told what %s is", spec.Name, name)
		}
		properties = append(properties, name)
	}
	slices.Sort(properties)
	return properties, s.Required
}

// refused fails the test unless neither Access nor Run takes the input, and both say why.
func refused(t *testing.T, tool toolapi.Tool, in string, says ...string) {
	t.Helper()
	c := call(t.TempDir(), in)
	_, accessErr := tool.Access(t.Context(), c)
	_, runErr := tool.Run(t.Context(), c)
	for _, err := range []error{accessErr, runErr} {
		if err == nil {
			t.Errorf("%s took %s", tool.Name, in)
			continue
		}
		for _, word := range append(says, "wrong input for "+tool.Name) {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s, given %s, says %q, which does not name %q", tool.Name, in, err, word)
			}
		}
	}
}

// with is the complete input with one key replaced by another key and value; "" adds or removes.
func with(t *testing.T, tool, remove, key string, value any) string {
	t.Helper()
	in := fields{}
	for k, v := range complete[tool] {
		if k != remove {
			in[k] = v
		}
	}
	if key != "" {
		in[key] = value
	}
	return input(t, in)
}

func TestStrictInput(t *testing.T) {
	t.Parallel()
	tools := builtin(t)
	for _, spec := range tools.Specs() {
		t.Run(spec.Name, func(t *testing.T) {
			tool, _ := tools.Tool(spec.Name)
			properties, required := schemaOf(t, spec)
			for _, name := range properties {
				whole, ok := complete[spec.Name][name]
				if !ok {
					t.Fatalf("the test's complete input has no %s", name)
				}
				refused(t, tool, with(t, spec.Name, name, strings.ToUpper(name), whole), strings.ToUpper(name))
				refused(t, tool, with(t, spec.Name, "", strings.ToUpper(name[:1])+name[1:], whole), strings.ToUpper(name[:1])+name[1:])
				refused(t, tool, strings.Replace(with(t, spec.Name, "", "", nil), "{", `{"`+name+`":`+input(t, whole)+",", 1), name, "duplicate")
				refused(t, tool, with(t, spec.Name, "", name, fields{"a": 1}), name)
				if _, list := whole.([]string); !list {
					refused(t, tool, with(t, spec.Name, "", name, []string{"x"}), name)
				}
				if _, text := whole.(string); text {
					refused(t, tool, with(t, spec.Name, "", name, 7), name, "string")
				} else {
					refused(t, tool, with(t, spec.Name, "", name, "7"), name)
				}
			}
			for _, name := range required {
				refused(t, tool, with(t, spec.Name, name, "", nil), name, "missing")
				refused(t, tool, with(t, spec.Name, "", name, nil), name, "missing")
			}
			refused(t, tool, with(t, spec.Name, "", "recursive", true), "recursive")
			for _, in := range []string{"", "null", "[]", `"x"`, "7", "true", "{", `{"path"`, "{} {}", `{"path": `} {
				refused(t, tool, in, "not a JSON object")
			}
			if _, err := tool.Access(t.Context(), call(t.TempDir(), with(t, spec.Name, "", "", nil))); err != nil && !slices.Contains(unmet, spec.Name) {
				t.Errorf("the complete input is refused: %v", err)
			}
		})
	}
}

// Some models spell a field that they leave out.
func TestNullIsLeftOut(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"x": "text\n"})
	got, err := try(t.Context(), Read(nil), call(dir, `{"path":"x","offset":null,"limit":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(knows(pawl.Result{Content: "     1\ttext\n"}, "x", "text\n"), got); diff != "" {
		t.Error(diff)
	}
}

func TestAccess(t *testing.T) {
	t.Parallel()
	read, write := pawl.AccessRead, pawl.AccessWrite
	tests := []struct {
		tool, in string
		want     []pawl.Access
	}{
		{"read", `{"path":"./a/../b"}`, []pawl.Access{{Kind: read, Target: "b"}}},
		{"read", `{"path":"/project/b"}`, []pawl.Access{{Kind: read, Target: "b"}}},
		{"read", `{"path":"blob:x"}`, nil},
		{"list", `{}`, []pawl.Access{{Kind: read, Target: "."}}},
		{"list", `{"path":"a/"}`, []pawl.Access{{Kind: read, Target: "a"}}},
		{"write", `{"path":"a","content":""}`, []pawl.Access{{Kind: write, Target: "a"}}},
		{"edit", `{"path":"a","old":"x","new":""}`, []pawl.Access{{Kind: write, Target: "a"}, {Kind: read, Target: "a"}}},
		{"bash_output", `{"id":"job_1"}`, nil},
		{"bash", `{"command":"ls"}`, []pawl.Access{{Kind: pawl.AccessExec, Target: "ls"}}},
		{"bash", `{"command":"ls","network":["a.test","b.test:8443"],"unsandboxed":true}`, []pawl.Access{
			{Kind: pawl.AccessExec, Target: "ls"}, {Kind: pawl.AccessEscape, Target: "ls"}, {Kind: pawl.AccessNet, Target: "a.test"}, {Kind: pawl.AccessNet, Target: "b.test:8443"},
		}},
	}
	tools := builtin(t)
	for _, test := range tests {
		tool, _ := tools.Tool(test.tool)
		got, err := tool.Access(t.Context(), call("/project", test.in))
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s %s: %s", test.tool, test.in, diff)
		}
	}
}
