package review

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// changed is a file with two hunks: line 3 is new, lines went after line 12.
func changed(t *testing.T) []File {
	t.Helper()
	files, err := Parse([]byte("diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n" +
		"@@ -1,3 +1,4 @@\n one\n two\n+\tthree()\n four\n" +
		"@@ -10,5 +11,3 @@\n eleven\n twelve\n-gone\n-gone too\n thirteen\n" +
		"diff --git a/old.go b/old.go\ndeleted file mode 100644\n--- a/old.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCheck: a finding is where the change is, or it is less or nothing.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		path       string
		start, end int
		severity   Severity
		want       []Finding // with the place and severity alone
		dropped    Dropped
	}{
		"a new line":               {"x.go", 3, 3, Error, []Finding{{StartLine: 3, EndLine: 3, Severity: Error}}, Dropped{}},
		"a range around it":        {"x.go", 2, 4, Error, []Finding{{StartLine: 2, EndLine: 4, Severity: Error}}, Dropped{}},
		"one that goes too far":    {"x.go", 3, 9, Error, []Finding{{StartLine: 3, EndLine: 4, Severity: Error}}, Dropped{}},
		"an end before the start":  {"x.go", 3, 1, Error, []Finding{{StartLine: 3, EndLine: 3, Severity: Error}}, Dropped{}},
		"over both hunks":          {"x.go", 1, 100, Error, []Finding{{StartLine: 1, EndLine: 4, Severity: Error}}, Dropped{}},
		"beside the change":        {"x.go", 1, 1, Error, []Finding{{StartLine: 1, EndLine: 1, Severity: Note}}, Dropped{Lowered: 1}},
		"a note beside it":         {"x.go", 4, 4, Note, []Finding{{StartLine: 4, EndLine: 4, Severity: Note}}, Dropped{}},
		"before what is gone":      {"x.go", 12, 12, Warning, []Finding{{StartLine: 12, EndLine: 12, Severity: Warning}}, Dropped{}},
		"after what is gone":       {"x.go", 13, 13, Warning, []Finding{{StartLine: 13, EndLine: 13, Severity: Warning}}, Dropped{}},
		"further from it":          {"x.go", 11, 11, Warning, []Finding{{StartLine: 11, EndLine: 11, Severity: Note}}, Dropped{Lowered: 1}},
		"between the hunks":        {"x.go", 7, 8, Error, []Finding{}, Dropped{Outside: 1}},
		"beyond the file":          {"x.go", 900, 900, Error, []Finding{}, Dropped{Outside: 1}},
		"another file":             {"y.go", 3, 3, Error, []Finding{}, Dropped{Outside: 1}},
		"another spelling":         {"./x.go", 3, 3, Error, []Finding{}, Dropped{Outside: 1}},
		"a file that was deleted":  {"old.go", 1, 1, Error, []Finding{{Severity: Error}}, Dropped{}},
		"up to a hunk, from above": {"x.go", 7, 12, Error, []Finding{{StartLine: 11, EndLine: 12, Severity: Error}}, Dropped{}},
	} {
		got, dropped := Check([]Finding{{Path: test.path, StartLine: test.start, EndLine: test.end, Severity: test.severity}}, changed(t), 10)
		for i := range got {
			got[i] = Finding{StartLine: got[i].StartLine, EndLine: got[i].EndLine, Severity: got[i].Severity}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if dropped != test.dropped {
			t.Errorf("%s: %+v", name, dropped)
		}
	}
}

// TestCheckOrder: the worst first, none twice, and the least go when they are too many.
func TestCheckOrder(t *testing.T) {
	t.Parallel()
	at := func(s Severity, title string) Finding {
		return Finding{Path: "x.go", StartLine: 3, EndLine: 3, Severity: s, Title: title}
	}
	got, dropped := Check([]Finding{at(Note, "n"), at(Error, "e"), at(Warning, "w"), at(Error, "e"), at(Error, "f")}, changed(t), 3)
	var titles []string
	prints := map[string]bool{}
	for _, f := range got {
		titles = append(titles, f.Title)
		prints[f.Fingerprint] = true
	}
	if diff := cmp.Diff([]string{"e", "f", "w"}, titles); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Dropped{Twice: 1, Beyond: 1}, dropped); diff != "" || len(prints) != 3 {
		t.Error(diff, prints)
	}
}

// TestCheckOddNames: a file's name does not keep findings away from it.
func TestCheckOddNames(t *testing.T) {
	t.Parallel()
	files := changed(t)[:1]
	files[0].Path = "x\n\u200b.go"
	for _, path := range []string{files[0].Path, `x\n\u{200b}.go`} {
		got, dropped := Check([]Finding{{Path: path, StartLine: 3, EndLine: 3, Severity: Error}}, files, 1)
		if len(got) != 1 || got[0].Path != files[0].Path || dropped != (Dropped{}) {
			t.Errorf("%q: %+v, %+v", path, got, dropped)
		}
	}
}

// TestLeftOut: only what is a picture or a font by its name is no more than a note.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	var got []Severity
	for _, f := range LeftOut([]Left{{"a.PNG", whyBinary}, {"run.sh", whyBinary}, {"png", whyBinary}, {"b.png", "it is large"}}) {
		got = append(got, f.Severity)
	}
	if diff := cmp.Diff([]Severity{Note, Warning, Warning, Warning}, got); diff != "" {
		t.Error(diff)
	}
}

// TestFingerprint: it follows the rule, the file and the line's text, and nothing else.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	print := func(change func(*Finding, *File)) string {
		f, file := Finding{Path: "x.go", StartLine: 3, Rule: "security", Title: "t", Message: "m"}, changed(t)[0]
		change(&f, &file)
		return fingerprint(f, file)
	}
	same := print(func(*Finding, *File) {})
	for name, test := range map[string]struct {
		change func(*Finding, *File)
		same   bool
	}{
		"other words":   {func(f *Finding, _ *File) { f.Title, f.Message, f.Severity = "T", "M", Note }, true},
		"other indents": {func(_ *Finding, file *File) { file.Hunks[0].Rows[2].Text = "  three() " }, true},
		"moved":         {func(f *Finding, file *File) { f.StartLine, file.Hunks[0].Rows[2].Line = 30, 30 }, true},
		"another rule":  {func(f *Finding, _ *File) { f.Rule = "errors" }, false},
		"another file":  {func(f *Finding, _ *File) { f.Path = "y.go" }, false},
		"another text":  {func(_ *Finding, file *File) { file.Hunks[0].Rows[2].Text = "four()" }, false},
	} {
		if got := print(test.change); (got == same) != test.same {
			t.Errorf("%s: %s, and it was %s", name, got, same)
		}
	}
}

// TestSchema: it takes what a review is, and refuses what is none.
func TestSchema(t *testing.T) {
	t.Parallel()
	rules, err := Schema(5).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	finding := func(change string, value any) string {
		f := map[string]any{"path": "x", "start_line": 1, "end_line": 1, "severity": "note", "rule": "docs", "title": "t", "message": "m"}
		f[change] = value
		if value == nil {
			delete(f, change)
		}
		text, err := json.Marshal(map[string]any{"summary": "s", "findings": []any{f}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for text, ok := range map[string]bool{
		`{"summary":"s","findings":[]}`:            true,
		finding("suggestion", "x"):                 true,
		`{"findings":[]}`:                          false,
		`{"summary":"s","findings":[],"x":1}`:      false,
		finding("start_line", 0):                   false,
		finding("start_line", 1.5):                 false,
		finding("severity", "fatal"):               false,
		finding("rule", notReviewed):               false,
		finding("rule", "my-own"):                  false,
		finding("path", nil):                       false,
		finding("approved", true):                  false,
		finding("title", strings.Repeat("x", 201)): false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := rules.Validate(v); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestAsk: the change and the names of what is left out are marked as untrusted.
func TestAsk(t *testing.T) {
	t.Parallel()
	untrusted := func(source, text string) string { return "<" + source + ">\n" + text + "</" + source + ">" }
	text := Ask(changed(t), []Left{{"big\n.go", "it is large"}}, "Mind the gap.", untrusted)
	for _, want := range []string{"Mind the gap.", "<the change>\nmodified x.go\n", "+     3| \tthree()\n", "deleted old.go\n", "<files that are not shown>\nbig\\n.go: it is large\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in %s", want, text)
		}
	}
	if strings.Contains(Ask(changed(t), nil, "", untrusted), "not shown") {
		t.Error("nothing is left out, and it says so")
	}
}
