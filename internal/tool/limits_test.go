package tool

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
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
				if more := strings.HasSuffix(got.Content, fmt.Sprintf("(more lines follow: continue with offset %d)\n", ReadLines+1)); more != test.more {
					t.Errorf("%d lines: …%q", test.lines, got.Content[len(got.Content)-60:])
				}
			}
		}
	},
	"ReadBytes": func(t *testing.T) {
		dir := folder(t, map[string]string{"f": strings.Repeat(strings.Repeat("x", 999)+"\n", 200)})
		got, err := try(t.Context(), Read(nil), call(dir, `{"path":"f"}`))
		checkError(t, err, "")
		text, note, ok := strings.Cut(got.Content, "(more lines follow: continue with offset 51)\n")
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
			shown, note, cut := strings.Cut(first, "… (line truncated: continue with column 2001)")
			if cut != test.cut || note != "" || rest != "     2\tnext\n" || cut && utf8.RuneCountInString(shown) != ReadLineChars {
				t.Errorf("%.10q…: cut %v, %d shown, then %q", test.line, cut, utf8.RuneCountInString(shown), rest)
			}
		}
	},
	"ReadFileBytes": func(t *testing.T) {
		const png = "\x89PNG\r\n\x1a\n\x00"
		for size, says := range map[int]string{ReadFileBytes: "", ReadFileBytes + 1: "it has 5242881 bytes, more than the 5242880"} {
			dir := folder(t, map[string]string{"f": png + strings.Repeat("x", size-len(png))})
			got, err := try(t.Context(), Read(nil), call(dir, `{"path":"f"}`))
			checkError(t, err, says)
			if err == nil && len(got.Files[0].Data) != size {
				t.Errorf("%d of %d bytes", len(got.Files[0].Data), size)
			}
		}
	},
	"DiffBytes": func(t *testing.T) {
		line := strings.Repeat("x", 98) + "\n" // 100 with its sign
		for n, left := range map[int]int{199: 0, 200: 1, 10_000: 10_000 - 199} {
			got, err := try(t.Context(), Write(nil), call(folder(t, nil), input(t, fields{"path": "f", "content": strings.Repeat(line, n)})))
			checkError(t, err, "")
			shown, note, cut := strings.Cut(got.Content, "(")
			if len(shown) > DiffBytes || cut != (left > 0) || cut && note != fmt.Sprintf("%d more lines of this diff, %d bytes, are left out)\n", left, left*100) {
				t.Errorf("%d lines: %d bytes, then %q", n, len(shown), note)
			}
		}
	},
	"Questions":      func(t *testing.T) { checkQuestions(t, Questions, 1, 1) },
	"QuestionHeader": func(t *testing.T) { checkQuestions(t, 1, QuestionHeader, 1) },
	"QuestionChoice": func(t *testing.T) { checkQuestions(t, 1, 1, QuestionChoice) },
	"QuestionTimeout": func(t *testing.T) {
		for _, test := range []struct {
			tool toolapi.Tool
			name string
			wait time.Duration
		}{{Question(), "question", QuestionTimeout}, {PlanExit(), "plan_exit", 0}} { // a plan waits until it is read
			c := call(t.TempDir(), with(t, test.name, "", "", nil))
			d := &fakeSession{answer: pawl.Answer{Outcome: pawl.OutcomeTimeout}}
			c.Caller = d
			got, err := try(t.Context(), test.tool, c)
			checkError(t, err, "")
			if d.asked.Timeout != test.wait || !strings.Contains(got.Content, "null (no answer in time") {
				t.Errorf("%s: asked %+v, answers %q", test.name, d.asked, got.Content)
			}
		}
	},
	"Todos": func(t *testing.T) {
		for n, says := range map[int]string{Todos: "", Todos + 1: "101 items are more than 100"} {
			items := make([]fields, n)
			for i := range items {
				items[i] = fields{"content": "x", "status": "pending"}
			}
			_, err := try(t.Context(), TodoWrite(), call(t.TempDir(), input(t, fields{"items": items})))
			checkError(t, err, says)
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
			_, err := change(t.Context(), call(dir, ""), test.path, nil, func(file) (string, error) { return test.text, nil })
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
			_, err := replace(file{text: test.text, exists: true}, test.in)
			checkError(t, err, test.error)
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

// checkQuestions holds a question call to its bounds: so many are taken, one more is not.
func checkQuestions(t *testing.T, questions, header, options int) {
	t.Helper()
	ask := func(questions, header, options int) error {
		list := make([]fields, questions)
		for i := range list {
			choice := make([]fields, options)
			for j := range choice {
				choice[j] = fields{"label": fmt.Sprint(j)}
			}
			list[i] = fields{"header": strings.Repeat("é", header), "question": "x", "options": choice}
		}
		_, err := Question().Access(t.Context(), call(t.TempDir(), input(t, fields{"questions": list})))
		return err
	}
	checkError(t, ask(questions, header, options), "")
	for _, over := range [][3]int{{Questions + 1, 1, 1}, {1, QuestionHeader + 1, 1}, {1, 1, QuestionChoice + 1}, {0, 1, 1}} {
		if err := ask(over[0], over[1], over[2]); err == nil {
			t.Errorf("%v was taken", over)
		}
	}
}

func TestLimits(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for name, test := range limits {
		t.Run(name, test)
	}
}

func TestEveryLimitIsTested(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("limits.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for _, name := range spec.Names {
				if !slices.ContainsFunc(Limits, func(l Limit) bool { return l.Name == name.Name && l.What != "" }) {
					t.Errorf("limits.go names %s and people are not shown it: add it to Limits", name.Name)
				}
				if limits[name.Name] == nil {
					t.Errorf("limits.go names %s and no test holds it: an untested bound is a bound in name only", name.Name)
				}
			}
		}
		return true
	})
}
