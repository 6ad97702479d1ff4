package tool

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// limits holds a test for every limit; see TestEveryLimitIsTested.
var limits = map[string]func(*testing.T){
	"ReadLines": func(t *testing.T) {
		for _, test := range []struct {
			lines int
			more  bool
		}{{ReadLines, false}, {ReadLines + 1, true}} {
			for _, in := range []string{`{"path":"f"}`, `{"path":"f","limit":1000000}`} {
				dir := folder(t, map[string]string{"f": strings.Repeat("x\n", test.lines)})
				got, err := try(t.Context(), Read(nil), call(dir, in))
				checkError(t, err, "")
				if more := strings.HasSuffix(got.Content, fmt.Sprintf("(more follows: go on with offset %d)\n", ReadLines+1)); more != test.more {
					t.Errorf("%d lines: …%q", test.lines, got.Content[len(got.Content)-60:])
				}
			}
		}
	},
	"ReadBytes": func(t *testing.T) {
		dir := folder(t, map[string]string{"f": strings.Repeat(strings.Repeat("x", 999)+"\n", 200)})
		got, err := try(t.Context(), Read(nil), call(dir, `{"path":"f"}`))
		checkError(t, err, "")
		text, note, ok := strings.Cut(got.Content, "(more follows: go on with offset 51)\n")
		if len(text) != 50*1007 || note != "" || !ok {
			t.Errorf("%d bytes, …%q", len(text), got.Content[len(got.Content)-60:])
		}
		if len(text) > ReadBytes || len(text)+1007 <= ReadBytes {
			t.Errorf("%d bytes were shown, the limit is %d", len(text), ReadBytes)
		}
	},
	"ReadLineChars": func(t *testing.T) {
		for _, test := range []struct {
			line string
			cut  bool
		}{
			{strings.Repeat("x", ReadLineChars), false},
			{strings.Repeat("x", ReadLineChars+1), true},
			{strings.Repeat("x", 1<<20), true},
			{strings.Repeat("日", ReadLineChars), false},
			{strings.Repeat("日", ReadLineChars+1), true},
			{strings.Repeat("\xff", 20000), false}, // one long mistake is shown as one
			{strings.Repeat("😀", 100_000), true},
		} {
			dir := folder(t, map[string]string{"f": test.line + "\nnext\n"})
			got, err := try(t.Context(), Read(nil), call(dir, `{"path":"f"}`))
			checkError(t, err, "")
			first, rest, _ := strings.Cut(strings.TrimPrefix(got.Content, "     1\t"), "\n")
			shown, note, cut := strings.Cut(first, "… (line cut)")
			if cut != test.cut || note != "" || rest != "     2\tnext\n" || cut && utf8.RuneCountInString(shown) != ReadLineChars {
				t.Errorf("%.10q…: cut %v, %d shown, then %q", test.line, cut, utf8.RuneCountInString(shown), rest)
			}
		}
	},
	"EditBytes": func(t *testing.T) {
		const says = "more than the 10485760 that can be edited"
		full := strings.Repeat("x", EditBytes)
		dir := folder(t, map[string]string{"full": full, "over": full + "x"})
		for _, test := range []struct{ path, text, error string }{
			{"new", full, ""},
			{"new-over", full + "x", says},
			{"full", "small", ""},
			{"over", "small", says},
		} {
			_, err := change(t.Context(), call(dir, ""), test.path, func(string, bool) (string, error) { return test.text, nil })
			checkError(t, err, test.error)
		}
		for _, test := range []struct {
			text  string
			in    editInput
			error string
		}{
			{full[1:], editInput{Old: full[1:], New: full}, ""},
			{full, editInput{Old: full, New: full + "x"}, says},
			{full, editInput{Old: "x", New: full, All: true}, says}, // would take 100 TB
		} {
			_, err := replace(test.text, test.in)
			checkError(t, err, test.error)
		}
	},
	"ListEntries": func(t *testing.T) {
		files := map[string]string{"d/": ""}
		for i := range ListEntries - 1 {
			files[fmt.Sprintf("f%d", i)] = ""
		}
		note := fmt.Sprintf("(more than %d entries: list a folder further down)\n", ListEntries)
		for _, more := range []bool{false, true} {
			if more {
				files["d/one-more"] = ""
			}
			got, err := try(t.Context(), List(), call(folder(t, files), "{}"))
			checkError(t, err, "")
			text, _, cut := strings.Cut(got.Content, note)
			if n := strings.Count(text, "\n"); n != ListEntries || cut != more {
				t.Errorf("%d entries are shown, cut %v, want %v", n, cut, more)
			}
		}
	},
	"BashTimeout": func(t *testing.T) {
		for seconds, want := range map[int]time.Duration{0: BashTimeout, 1: time.Second, 600: BashMaxTimeout} {
			if got := (bashInput{Timeout: seconds}).timeout(); got != want {
				t.Errorf("timeout %d is %s, want %s", seconds, got, want)
			}
		}
		if schema := string(Bash().Schema); !strings.Contains(schema, fmt.Sprintf("%.0f if left out, at most %.0f", BashTimeout.Seconds(), BashMaxTimeout.Seconds())) {
			t.Errorf("the model is told otherwise: %s", schema)
		}
	},
	"BashMaxTimeout": func(t *testing.T) {
		for seconds, says := range map[int]string{600: "", 601: "timeout must be between 0 and 600 seconds"} {
			_, err := Bash().Access(t.Context(), call("/project", fmt.Sprintf(`{"command":"true","timeout":%d}`, seconds)))
			checkError(t, err, says)
		}
	},
	"BashBytes": func(t *testing.T) {
		for _, extra := range []int{0, 1000} {
			in := fields{"command": fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x", BashBytes+extra)}
			got, err := try(t.Context(), Bash(), call(t.TempDir(), input(t, in)))
			checkError(t, err, "")
			want := strings.Repeat("x", BashBytes)
			if extra > 0 {
				want = want[:BashBytes/2] + dropMark(extra) + want[:BashBytes/2]
			}
			if got.Content != want {
				t.Errorf("%d bytes more: %d were kept", extra, len(got.Content))
			}
		}
	},
	"ResultBytes": func(t *testing.T) {
		for _, spec := range builtin(t).Specs() {
			if n := ContentBytes(spec.Name); spec.Name != "read" && n != ResultBytes {
				t.Errorf("%s: %d bytes", spec.Name, n)
			}
		}
		dir := folder(t, map[string]string{"f": strings.Repeat(strings.Repeat("日", ReadLineChars)+"\n", 100)})
		page, err := try(t.Context(), Read(nil), call(dir, `{"path":"f"}`))
		checkError(t, err, "")
		if n := len(page.Content); n > ContentBytes("read") {
			t.Errorf("a page of %d bytes would be cut at %d", n, ContentBytes("read"))
		}
	},
}

func TestLimits(t *testing.T) {
	for name, test := range limits {
		t.Run(name, test)
	}
}

func TestEveryLimitIsTested(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("limits.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for _, name := range spec.Names {
				if limits[name.Name] == nil {
					t.Errorf("limits.go names %s and no test holds it: an untested bound is a bound in name only", name.Name)
				}
			}
		}
		return true
	})
}
