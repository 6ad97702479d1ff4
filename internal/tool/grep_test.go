package tool

import (
	"context"
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/search"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

func init() {
	complete["grep"] = fields{
		"pattern": "x", "path": ".", "include": "*", "mode": "files", "context": 1, "literal": true, "ignore_case": true,
	}
	complete["glob"] = fields{"pattern": "x", "path": "."}
}

// greps are the tool with each engine.
func greps(t *testing.T) map[string]toolapi.Tool {
	t.Helper()
	program, err := exec.LookPath("rg")
	if err != nil {
		t.Fatalf("nothing shows that both engines give the same answer: %v", err)
	}
	return map[string]toolapi.Tool{"rg": Grep(search.Ripgrep(program)), "own": Grep(search.Own()), "default": Grep(search.Default())}
}

func TestGrep(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"a.go":        "package a\n\nfunc A() {}\n\nfunc AA() {\n\treturn\n}\n",
		"sub/b.go":    "package b\r\n\r\nfunc B(x interface{}) {}\r\n",
		"sub/c.txt":   "func C\n",
		"x.log":       "func X\n",
		".gitignore":  "*.log\n",
		"odd\nname":   "func N\n",
		".git/config": "func G\n",
		"out":         "->/etc",
	})
	tests := []struct {
		name  string
		in    fields
		want  string
		error string
	}{
		{
			"lines by file", fields{"pattern": "^func [A-Z]"},
			"a.go\n3:func A() {}\n5:func AA() {\n\n\"odd\\nname\"\n1:func N\n\nsub/b.go\n3:func B(x interface{}) {}\n\nsub/c.txt\n1:func C\n", "",
		},
		{
			"with context", fields{"pattern": "AA|C", "context": 1, "include": "*.{go,txt}"},
			"a.go\n4-\n5:func AA() {\n6-\treturn\n\nsub/c.txt\n1:func C\n", "",
		},
		{"with gaps", fields{"pattern": "package|return", "context": 1, "path": "a.go"}, "a.go\n1:package a\n2-\n--\n5-func AA() {\n6:\treturn\n7-}\n", ""},
		{"files", fields{"pattern": "func", "mode": "files", "path": "sub"}, "sub/b.go\nsub/c.txt\n", ""},
		{"counts", fields{"pattern": "func", "mode": "count"}, "a.go: 2\n\"odd\\nname\": 1\nsub/b.go: 1\nsub/c.txt: 1\n(5 lines in 4 files)\n", ""},
		{"literal", fields{"pattern": "interface{}", "literal": true}, "sub/b.go\n3:func B(x interface{}) {}\n", ""},
		{"any case", fields{"pattern": "FUNC aa", "ignore_case": true}, "a.go\n5:func AA() {\n", ""},
		{"an absolute path", fields{"pattern": "func", "path": dir + "/sub/c.txt", "mode": "content"}, "sub/c.txt\n1:func C\n", ""},
		{"an ignored file that is named", fields{"pattern": "func", "path": "x.log"}, "x.log\n1:func X\n", ""},
		{"no match", fields{"pattern": "nowhere"}, "(no match in 5 files; what .gitignore names is left out unless it is the path)\n", ""},
		{"no file", fields{"pattern": "func", "include": "*.rs"}, "(no match in 0 files; what .gitignore names is left out unless it is the path)\n", ""},
		{"no match in one", fields{"pattern": "nowhere", "path": "a.go"}, "(no match in 1 file; what .gitignore names is left out unless it is the path)\n", ""},
		{"an empty pattern", fields{"pattern": ""}, "", "the pattern is empty"},
		{"a wrong pattern", fields{"pattern": "foo("}, "", "missing closing ): foo(: put a \\ before special characters, or set literal"},
		{"a wrong mode", fields{"pattern": "x", "mode": "lines"}, "", `mode is "lines" and must be content, files or count`},
		{"a wrong include", fields{"pattern": "x", "include": "{a"}, "", "include: the pattern {a is malformed"},
		{"a link that leads out", fields{"pattern": "x", "path": "out"}, "", "grep: out leads outside the workspace"},
		{"below it", fields{"pattern": "x", "path": "out/passwd"}, "", "leads outside the workspace"},
		{"missing", fields{"pattern": "x", "path": "nope"}, "", "no such file"},
		{"outside", fields{"pattern": "x", "path": "../x"}, "", "../x is outside the workspace"},
	}
	for name, grep := range greps(t) {
		for _, test := range tests {
			t.Run(name+"/"+test.name, func(t *testing.T) {
				got, err := try(t.Context(), grep, call(dir, input(t, test.in)))
				checkError(t, err, test.error)
				if diff := cmp.Diff(pawl.Result{Content: test.want}, got); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestContract_R14_GrepAndGlobAreCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := folder(t, map[string]string{"a": "x"})
	for _, grep := range greps(t) {
		_, err := try(ctx, grep, call(dir, `{"pattern":"x"}`))
		checkError(t, err, "context canceled")
	}
	_, err := try(ctx, Glob(), call(dir, `{"pattern":"*"}`))
	checkError(t, err, "context canceled")
}

func TestGlob(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"a.go": "x", "sub/b.go": "x", "sub/deep/c.ts": "x", "gen/d.go": "x", ".gitignore": "gen/\n", "out": "->/etc", "odd\nname": "x",
	})
	tests := []struct {
		name  string
		in    fields
		want  string
		error string
	}{
		{"in any folder", fields{"pattern": "b.go"}, "sub/b.go\n", ""},
		{"in a folder", fields{"pattern": "*.ts", "path": "sub"}, "sub/deep/c.ts\n", ""},
		{"below a folder", fields{"pattern": "deep/*.{ts,js}", "path": "sub"}, "sub/deep/c.ts\n", ""},
		{"absolute", fields{"pattern": dir + "/sub/**/*.ts"}, "sub/deep/c.ts\n", ""},
		{"ignored, but named", fields{"pattern": "gen/*"}, "gen/d.go\n", ""},
		{"a link", fields{"pattern": "ou?"}, "out\n", ""},
		{"an odd name", fields{"pattern": "odd*"}, "\"odd\\nname\"\n", ""},
		{"none", fields{"pattern": "*.rs"}, "(no file matches; what .gitignore names is left out unless it is the path)\n", ""},
		{"empty", fields{"pattern": ""}, "", "pattern is empty"},
		{"malformed", fields{"pattern": "[a"}, "", "the pattern [a is malformed"},
		{"leads out", fields{"pattern": "../*"}, "", ".. is outside the workspace"},
		{"is outside", fields{"pattern": "/etc/*"}, "", "/etc is outside the workspace"},
		{"leads out by a link", fields{"pattern": "out/*"}, "", "path escapes from parent"},
		{"in a file", fields{"pattern": "*", "path": "a.go"}, "", "glob: a.go is not a directory"},
		{"in a missing folder", fields{"pattern": "nope/*.go"}, "", "no such file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := try(t.Context(), Glob(), call(dir, input(t, test.in)))
			checkError(t, err, test.error)
			if diff := cmp.Diff(pawl.Result{Content: test.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSearchAccess(t *testing.T) {
	t.Parallel()
	tests := []struct {
		tool   toolapi.Tool
		in     string
		target string
	}{
		{Grep(search.Own()), `{"pattern":"x"}`, "."},
		{Grep(search.Own()), `{"pattern":"x","path":"/project/a/"}`, "a"},
		{Glob(), `{"pattern":"*.go"}`, "."},
		{Glob(), `{"pattern":"*.go","path":"a"}`, "a"},
		{Glob(), `{"pattern":"b/c/*.go","path":"a"}`, "a/b/c"},
		{Glob(), `{"pattern":"/project/b/*.go","path":"a"}`, "b"},
		{List(), `{"path":"./a/../b"}`, "b"},
	}
	for _, test := range tests {
		got, err := test.tool.Access(t.Context(), call("/project", test.in))
		checkError(t, err, "")
		if diff := cmp.Diff([]pawl.Access{{Kind: pawl.AccessRead, Target: test.target}}, got); diff != "" || test.tool.Risk != toolapi.RiskSafe {
			t.Errorf("%s %s: %s %s", test.tool.Name, test.in, test.tool.Risk, diff)
		}
	}
}

// Every request has the specs in it, so they are to be short.
func TestSearchSpecs(t *testing.T) {
	t.Parallel()
	const most = 1100
	size := 0
	for _, tool := range []toolapi.Tool{Grep(search.Own()), Glob(), List()} {
		text, err := json.Marshal(tool.Spec)
		if err != nil {
			t.Fatal(err)
		}
		size += len(text)
	}
	t.Logf("%d bytes", size)
	if size > most {
		t.Errorf("the specs are %d bytes, at most %d", size, most)
	}
}
