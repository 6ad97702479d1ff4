package export_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript/export"
)

// hostile is a session whose every text is the same one: a model's, a tool's, a
// file's name, and what an imported log may say where pawl has its own words.
func hostile(text string) export.Document {
	quoted, _ := json.Marshal(map[string]string{text: text})
	words := pawl.Parts{pawl.Text{Text: text}}
	file := pawl.File{Name: text, MediaType: text, Data: png}
	d := document(events(
		pawl.SessionCreated{Dir: "/d", Forked: &pawl.Origin{Session: pawl.SessionID(text), At: 2}},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: text}, file, pawl.File{Name: text, MediaType: "image/png", Data: png}}},
		pawl.TurnStarted{Prompt: 2},
		pawl.Retried{Retry: pawl.Retry{Kind: pawl.ErrorKind(text), Message: text}},
		pawl.Replied{Parts: pawl.Parts{pawl.Reasoning{Text: text}, pawl.Text{Text: text}, pawl.ToolCall{ID: "c", Name: text, Input: quoted}, pawl.ToolCall{ID: "d", Name: text, Input: []byte(text)}}},
		pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskKind(text), Text: text, Questions: []pawl.Question{{Header: text, Question: text, Options: []pawl.Option{{Label: text, Description: text}}}}}},
		pawl.Answered{Ask: 6, Answer: pawl.Answer{Outcome: pawl.OutcomeAnswered, Answers: [][]string{{text}}, Text: text}},
		pawl.Asked{Ask: pawl.Ask{Kind: pawl.AskPlan, Text: text}},
		pawl.Answered{Ask: 8, Answer: pawl.Answer{Outcome: pawl.Outcome(text)}},
		pawl.CallFinished{Call: "c", Status: pawl.CallStatus(text), Result: pawl.Result{
			Content: text, Files: []pawl.File{file}, Display: pawl.Parts{pawl.Patch{Path: text, Diff: "+" + text}, pawl.Text{Text: text}, pawl.ToolResult{Content: text}},
		}},
		pawl.TodosSet{Todos: []pawl.Todo{{Content: text, Status: pawl.TodoStatus(text)}}},
		pawl.ModeChanged{Mode: text},
		pawl.Spawned{Subagent: pawl.SessionID(text), Agent: text, Title: text},
		pawl.Injected{Source: text, Text: text},
		pawl.TurnFinished{Reason: pawl.Reason(text), Message: text},
		pawl.SessionSummarized{Summary: text},
		pawl.CompactionAsked{Instructions: text},
		pawl.Compacted{Keep: 1, Text: text, Message: text},
		pawl.UndoAsked{Undo: pawl.Undo{To: 19, Scope: pawl.Scope(text)}},
		pawl.Undone{Asked: 19, Changed: []string{text}},
		pawl.UndoAsked{Undo: pawl.Undo{To: 3}},
		pawl.Undone{Asked: 21, Refused: text},
		pawl.ShellAsked{Command: text},
		pawl.ShellRan{Asked: 23, Status: pawl.CallStatus(text), Result: pawl.Result{Content: text}},
		pawl.ShellAsked{Command: text},
		pawl.Prompted{Parts: words},
	))
	s := &d.Session
	s.ID, s.Parent, s.Dir, s.Title, s.Model = pawl.SessionID(text), pawl.SessionID(text), text, text, text
	return d
}

// nasty are pieces of texts that would break out of a document.
var nasty = []string{
	"</pre>", "</summary>", "</details>", "</title>", "</style>", "</main>", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
	"<svg/onload=alert(1)>", "<iframe src=//evil>", "<a href=\"javascript:alert(1)\">", "<!--", "-->", "<![CDATA[", "]]>", "<base href=//evil>",
	"<meta http-equiv=refresh content=0>", "<style>*{}</style>", "\" onmouseover=\"alert(1)", "' x='", "{{.}}", "{{template \"end\"}}", "&lt;script&gt;", "&#60;",
	"```", "````", "`", "``", "~~~", "\n```\n", "\n````\n# Turn 9\n", "\n## Turn 9\n", "\n---\n", "\n> ", "\n- ", "\n\n", "\n", "\r", "\r\n", "[x](javascript:alert(1))", "![](http://evil/x)",
	"<http://evil>", "*", "**", "_", "\\", "|", "\x00", "\x1b[31m", "\x1b]8;;http://evil\x07", "\u202e", "\u2066", "\u200b", "\u2028", "\u2029", "\u0085", "\ufeff", "\U000e0041", "\xff", "\xc3",
	" ", "\t", "+", "-", "@@", "word", "data:text/html,<script>alert(1)</script>", "image/svg+xml",
}

// No text becomes a part of the page: it has the elements, and the attributes,
// that it has with a harmless text.
func TestNothingEscapes(t *testing.T) {
	t.Parallel()
	wantPage, wantText := skeletonHTML(t, render(t, export.HTML, hostile("xword"))), skeletonMarkdown(t, render(t, export.Markdown, hostile("xword")))
	try := func(t rapid.TB, text string) {
		d := hostile("x" + text)
		page, md := render(t, export.HTML, d), render(t, export.Markdown, d)
		if diff := cmp.Diff(wantPage, skeletonHTML(t, page)); diff != "" {
			t.Fatalf("%q changes the page: %s", text, diff)
		}
		if diff := cmp.Diff(wantText, skeletonMarkdown(t, md)); diff != "" {
			t.Fatalf("%q changes the text: %s", text, diff)
		}
		for _, out := range []string{page, md} {
			for _, r := range out {
				if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029') {
					t.Fatalf("%q brings %U into the document", text, r)
				}
			}
		}
	}
	for _, text := range nasty {
		try(t, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		try(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(nasty), 1, 12).Draw(t, "text"), ""))
	})
}

func FuzzDocument(f *testing.F) {
	for _, text := range nasty {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			return // what is cut is cut elsewhere
		}
		want := skeletonHTML(t, render(t, export.HTML, hostile("xword")))
		if diff := cmp.Diff(want, skeletonHTML(t, render(t, export.HTML, hostile("x"+text)))); diff != "" {
			t.Fatalf("%q changes the page: %s", text, diff)
		}
	})
}

var (
	elements   = strings.Fields("html head meta title style body header h1 dl dt dd main h2 h3 h4 p time section pre details summary span figure img figcaption")
	attributes = strings.Fields("lang charset http-equiv content name class src alt")
	pictures   = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$`)
)

// skeletonHTML is the page's elements, each with its attributes' names, without
// texts. The lines of a diff count as one.
func skeletonHTML(t rapid.TB, page string) []string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			if n.Type == html.CommentNode {
				t.Fatalf("the page has a comment: %q", n.Data)
			}
			continue
		}
		if !slices.Contains(elements, n.Data) {
			t.Fatalf("the page has an element %s", n.Data)
		}
		name := n.Data
		for _, a := range n.Attr {
			if !slices.Contains(attributes, a.Key) || a.Key == "src" && !pictures.MatchString(a.Val) {
				t.Fatalf("the page has %s %s=%q", n.Data, a.Key, a.Val)
			}
			name += " " + a.Key
			if a.Key == "class" && n.Data != "span" || n.Data == "meta" {
				name += "=" + a.Val
			}
		}
		if n.Data != "span" || len(list) == 0 || list[len(list)-1] != name {
			list = append(list, name)
		}
	}
	return list
}

var (
	opens   = regexp.MustCompile("^(`{3,}|~{3,})([a-z]*)$")
	summary = regexp.MustCompile(`^<details><summary>([^<>]*)</summary>$`)
)

// skeletonMarkdown returns the lines outside code fences, as CommonMark parses them, with placeholders for code spans
// and summaries.
func skeletonMarkdown(t rapid.TB, text string) []string {
	t.Helper()
	var list []string
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		if fence != "" {
			bare := strings.TrimRight(strings.TrimLeft(line, " "), " \t")
			indent := len(line) - len(strings.TrimLeft(line, " "))
			if indent < 4 && len(bare) >= len(fence) && strings.Trim(bare, fence[:1]) == "" {
				fence = ""
				list = append(list, "fence")
			}
			continue
		}
		if m := opens.FindStringSubmatch(line); m != nil {
			fence = m[1]
			continue
		}
		if summary.MatchString(line) {
			line = "<fold>"
		}
		list = append(list, withoutSpans(line))
	}
	if fence != "" {
		t.Fatal("a fence stays open")
	}
	return list
}

var ticks = regexp.MustCompile("`+")

// withoutSpans replaces the code spans of a line.
func withoutSpans(line string) string {
	runs := ticks.FindAllStringIndex(line, -1)
	for i, open := range runs {
		for _, end := range runs[i+1:] {
			if end[1]-end[0] == open[1]-open[0] {
				return line[:open[0]] + "<code>" + withoutSpans(line[end[1]:])
			}
		}
	}
	return line
}

// The page says itself what it must not do.
func TestPolicy(t *testing.T) {
	t.Parallel()
	page := render(t, export.HTML, document(sample()))
	const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">`
	if at := strings.Index(page, policy); at < 0 || at > strings.Index(page, "<title>") {
		t.Error("the policy is missing, or comes too late")
	}
	for _, never := range []string{"http:", "https:", "url(", "@import", "<link", "<script", "href"} {
		if strings.Contains(strings.ToLower(page), never) {
			t.Errorf("the page has %q", never)
		}
	}
}

// A picture is what its type says, and its type is one of a few.
func TestPictures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		media string
		shown bool
	}{
		{"image/png", true}, {"image/jpeg", true}, {"image/gif", true}, {"image/webp", true},
		{"image/svg+xml", false}, {"text/html", false}, {"image/png;base64,x\" onerror=\"", false}, {"IMAGE/PNG", false}, {"", false},
	} {
		d := document(events(pawl.SessionCreated{Dir: "/d"}, pawl.CallFinished{Result: pawl.Result{Files: []pawl.File{{Name: "f", MediaType: test.media, Data: png}}}}))
		if got := strings.Contains(render(t, export.HTML, d), "<img "); got != test.shown {
			t.Errorf("%q: shown is %v", test.media, got)
		}
		if strings.Contains(render(t, export.Markdown, d), "![") {
			t.Errorf("%q: Markdown has a picture", test.media)
		}
	}
}
