package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/lsp"
)

// checked is a Checker with a prepared answer.
type checked struct {
	report lsp.Report
	err    error
	paths  *[]string // what it was asked about
}

func (c checked) Check(_ context.Context, _ string, paths []string) (lsp.Report, error) {
	if c.paths != nil {
		*c.paths = paths
	}
	return c.report, c.err
}

// slow is a Checker that answers when its time is over.
type slow struct{}

func (slow) Check(ctx context.Context, _ string, _ []string) (lsp.Report, error) {
	<-ctx.Done()
	return lsp.Report{Notes: []lsp.Note{{Kind: lsp.Waiting, Text: "gopls is still loading"}}}, nil
}

// What is wrong with a file says what is in it.
func TestDiagnosticsOfUnreadable(t *testing.T) {
	t.Parallel()
	var asked []string
	c := call(folder(t, map[string]string{"a.go": "", "secret.go": ""}), `{"path":"."}`)
	c.Reads = func(path string) bool { return path != "secret.go" }
	if _, err := try(t.Context(), Diagnostics(checked{paths: &asked}), c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.go"}, asked); diff != "" {
		t.Error(diff)
	}
}

func init() {
	complete["diagnostics"] = fields{"path": "x"}
	limits["FileFaults"] = func(t *testing.T) {
		for _, n := range []int{FileFaults, FileFaults + 1, FileFaults + 15} {
			f := lsp.File{Path: "a.go", Asked: true, Errors: 10, Warnings: 1000}
			for i := range n {
				f.Faults = append(f.Faults, lsp.Fault{Line: i + 1, Column: 1, Error: i < 10, Message: "m", New: true})
			}
			for _, text := range texts(t, lsp.Report{Files: []lsp.File{f}}) {
				if got := strings.Count(text, ": m\n"); got != FileFaults || strings.Count(text, ": error: m") != 10 {
					t.Errorf("%d faults are shown", got)
				}
				if !strings.HasSuffix(text, fmt.Sprintf("(and in a.go: %d warnings)\n", 1010-FileFaults)) {
					t.Errorf("it does not say what was left out: %s", text)
				}
			}
		}
	}
	limits["FaultFiles"] = func(t *testing.T) {
		for _, n := range []int{FaultFiles, FaultFiles + 1, FaultFiles + 7} {
			var r lsp.Report
			for i := range n {
				f := lsp.File{Path: fmt.Sprintf("%02d.go", i), Asked: true, Warnings: 1, Faults: []lsp.Fault{{Message: "m"}}}
				if i == n-1 {
					f.Warnings, f.Errors, f.Faults[0].Error = 0, 1, true
				}
				r.Files = append(r.Files, f)
			}
			for _, text := range texts(t, r) {
				if got := strings.Count(text, ": m\n"); got != FaultFiles || !strings.Contains(text, fmt.Sprintf("\n%02d.go:0:0: error: m\n", n-1)) {
					t.Errorf("%d files are shown, or not the worst", got)
				}
				note := map[int]string{FaultFiles + 1: "(and 1 more file)\n", FaultFiles + 7: "(and 7 more files)\n"}[n]
				if !strings.HasSuffix(text, note) || note == "" && strings.Contains(text, "more") {
					t.Errorf("it does not say what was left out: %s", text)
				}
			}
		}
	}
	limits["EditFaultsTime"] = func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			got := NewDiagnoser(slow{}).After(t.Context(), "/project", []string{"a.go"})
			if took := time.Since(began); took != EditFaultsTime || got != "diagnostics: gopls is still loading\n" {
				t.Errorf("%q after %s", got, took)
			}
		})
	}
	limits["FaultsTimeout"] = func(t *testing.T) {
		dir := folder(t, map[string]string{"x": ""})
		for _, in := range []string{`{}`, `{"path":"x"}`} {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				got, err := try(t.Context(), Diagnostics(slow{}), call(dir, in))
				checkError(t, err, "")
				if took := time.Since(began); took != FaultsTimeout || got.Content != "gopls is still loading\n" {
					t.Errorf("%q after %s", got.Content, took)
				}
			})
		}
	}
}

// texts is what the model reads of a report: of the tool, and after an edit.
func texts(t *testing.T, r lsp.Report) []string {
	t.Helper()
	got, err := try(t.Context(), Diagnostics(checked{report: r}), call(t.TempDir(), "{}"))
	checkError(t, err, "")
	return []string{got.Content, NewDiagnoser(checked{report: r}).After(t.Context(), "/project", []string{"x"})}
}

func problem(line int, text string) lsp.Fault {
	return lsp.Fault{Line: line, Column: 5, Error: !strings.HasPrefix(text, "w"), Message: text, Source: "compiler"}
}

func newFault(line int, text string) lsp.Fault {
	f := problem(line, text)
	f.New = true
	return f
}

func TestDiagnostics(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.go": "", "sub/b.go": "", "sub/c.go": "", "sub/deep/d.go": ""})
	edited := lsp.File{Path: "a.go", Asked: true, Errors: 1, Warnings: 1, Faults: []lsp.Fault{newFault(3, "e1"), problem(1, "w1")}}
	other := lsp.File{Path: "sub/b.go", Errors: 1, Warnings: 1, Faults: []lsp.Fault{problem(3, "e2"), problem(1, "w2")}}
	odd := lsp.File{Path: "o\n.go", Warnings: 1, Faults: []lsp.Fault{{Line: 1, Column: 2, Message: "w3"}}}
	deep := lsp.File{Path: "sub/deep/d.go", Errors: 1, Faults: []lsp.Fault{problem(1, "e4")}}
	outside := edited
	outside.Asked = false
	note := []lsp.Note{{Kind: lsp.Unserved, Text: "no language server is known for x"}}
	tests := []struct {
		name, in string
		report   lsp.Report
		want     string
		paths    []string
	}{
		{"nothing", `{}`, lsp.Report{}, "no errors or warnings in the files checked so far\n", nil},
		{"nothing in a file", `{"path":"a.go"}`, lsp.Report{}, "no errors or warnings in a.go\n", []string{"a.go"}},
		{
			"all", `{}`,
			lsp.Report{Files: []lsp.File{odd, edited, other}, Notes: []lsp.Note{{Kind: lsp.Waiting, Text: "gopls is still loading"}}},
			"2 errors, 3 warnings\n" +
				"a.go:3:5: error: e1 (compiler)\na.go:1:5: warning: w1 (compiler)\n" +
				"sub/b.go:3:5: error: e2 (compiler)\nsub/b.go:1:5: warning: w2 (compiler)\n" +
				"\"o\\n.go\":1:2: warning: w3\n(gopls is still loading)\n", nil,
		},
		{
			"one file", `{"path":"./a.go"}`, lsp.Report{Files: []lsp.File{edited, other, odd}},
			"1 error, 1 warning\na.go:3:5: error: e1 (compiler)\na.go:1:5: warning: w1 (compiler)\n(1 other file has errors: leave out path to see all)\n", []string{"a.go"},
		},
		{
			"others only", `{"path":"a.go"}`, lsp.Report{Files: []lsp.File{other, deep}},
			"no errors or warnings in a.go\n(2 other files have errors: leave out path to see all)\n", []string{"a.go"},
		},
		{
			"a folder", `{"path":"sub"}`, lsp.Report{Files: []lsp.File{outside, other, deep}, Notes: note},
			"2 errors, 1 warning\nsub/b.go:3:5: error: e2 (compiler)\nsub/b.go:1:5: warning: w2 (compiler)\nsub/deep/d.go:1:5: error: e4 (compiler)\n" +
				"(1 other file has errors: leave out path to see all)\n", []string{"sub/b.go", "sub/c.go"},
		},
		{
			"the whole folder", `{"path":"."}`, lsp.Report{Files: []lsp.File{deep}},
			"1 error\nsub/deep/d.go:1:5: error: e4 (compiler)\n", []string{"a.go"},
		},
		{"no server", `{"path":"a.go"}`, lsp.Report{Notes: note}, "no language server is known for x\n", []string{"a.go"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var paths []string
			got, err := try(t.Context(), Diagnostics(checked{report: test.report, paths: &paths}), call(dir, test.in))
			checkError(t, err, "")
			if diff := cmp.Diff(pawl.Result{Content: test.want}, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.paths, paths); diff != "" {
				t.Errorf("it asked about others: %s", diff)
			}
		})
	}
	for in, says := range map[string]string{
		`{"path":"nope.go"}`: "nope.go", `{"path":"../a.go"}`: "outside the workspace", `{"path":"a.go"}`: "why",
	} {
		_, err := try(t.Context(), Diagnostics(checked{err: errors.New("why")}), call(dir, in))
		checkError(t, err, says)
	}
}

func TestDiagnosticsAfterAnEdit(t *testing.T) {
	t.Parallel()
	edited := lsp.File{Path: "a.go", Asked: true, Errors: 1, Warnings: 1, Faults: []lsp.Fault{problem(3, "e1"), problem(1, "w1")}}
	broken := lsp.File{Path: "b.go", Errors: 12, Warnings: 1, Faults: []lsp.Fault{
		problem(1, "e0"), newFault(2, "e1"), newFault(3, "e2"), newFault(4, "e3"), newFault(5, "e4"), problem(1, "w2"),
	}}
	before := lsp.File{Path: "c.go", Errors: 1, Faults: []lsp.Fault{problem(1, "e0")}}
	warned := lsp.File{Path: "d.go", Warnings: 1, Faults: []lsp.Fault{problem(1, "w4")}}
	wait := lsp.Note{Kind: lsp.Waiting, Text: "gopls is still loading"}
	tests := []struct {
		name   string
		report lsp.Report
		err    error
		want   string
	}{
		{"nothing", lsp.Report{}, nil, ""},
		{"an error", lsp.Report{Files: []lsp.File{edited}}, errors.New("why"), ""},
		{"no server", lsp.Report{Notes: []lsp.Note{{Kind: lsp.Missing, Text: "x"}, {Kind: lsp.Unserved, Text: "x"}, {Kind: lsp.Failed, Text: "x"}, {Kind: lsp.Off, Text: "x"}, {Kind: lsp.Left, Text: "x"}}}, nil, ""},
		{"what was wrong before", lsp.Report{Files: []lsp.File{before, warned}}, nil, ""},
		{"still loading", lsp.Report{Notes: []lsp.Note{wait}}, nil, "diagnostics: gopls is still loading\n"},
		{
			"the edited file", lsp.Report{Files: []lsp.File{edited, before, warned}}, nil,
			"diagnostics: 1 error, 1 warning\na.go:3:5: error: e1 (compiler)\na.go:1:5: warning: w1 (compiler)\n(1 other file has errors, as before)\n",
		},
		{
			"another file", lsp.Report{Files: []lsp.File{broken}, Notes: []lsp.Note{wait}}, nil,
			"diagnostics: 11 errors\nb.go:2:5: error: e1 (compiler)\nb.go:3:5: error: e2 (compiler)\nb.go:4:5: error: e3 (compiler)\n(and in b.go: 8 errors)\n(gopls is still loading)\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := NewDiagnoser(checked{report: test.report, err: test.err}).After(t.Context(), "/project", []string{"a.go"})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// All tools together must stay small; this one most of all.
func TestDiagnosticsSpecIsShort(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(Diagnostics(checked{}).Spec)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 350 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	refused(t, Diagnostics(checked{}), `{"Path":"x"}`, "Path")
}

// A whole story with a real server.
func TestDiagnosticsOfGo(t *testing.T) {
	t.Parallel()
	servers := &lsp.Servers{Path: os.Getenv("PAWL_TEST_LSP_PATH") + ":" + os.Getenv("PATH")}
	t.Cleanup(servers.Close)
	dir := folder(t, map[string]string{"go.mod": "module x\n\ngo 1.26\n", "a.go": "package x\n\nvar A = B\n"})
	got, err := try(t.Context(), Diagnostics(servers), call(dir, `{"path":"a.go"}`))
	checkError(t, err, "")
	if got.Content != "1 error\na.go:3:9: error: undefined: B (compiler)\n" {
		t.Fatalf("got %q; are the servers installed? make tools", got.Content)
	}
	got, err = try(t.Context(), Write(NewDiagnoser(servers)), call(dir, input(t, fields{"path": "a.go", "content": "package x\n\nvar A = C\n"})))
	checkError(t, err, "")
	_, after, _ := strings.Cut(got.Content, "+var A = C\n")
	if diff := cmp.Diff("\ndiagnostics: 1 error\na.go:3:9: error: undefined: C (compiler)\n", after); diff != "" {
		t.Errorf("the edit does not show it: %s", diff)
	}
}

func TestContract_R14_DiagnosticsIsCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	servers := new(lsp.Servers)
	t.Cleanup(servers.Close)
	_, err := try(ctx, Diagnostics(servers), call(folder(t, map[string]string{"a.go": ""}), `{"path":"a.go"}`))
	checkError(t, err, "context canceled")
}
