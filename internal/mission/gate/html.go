package gate

import (
	_ "embed" // the page
	"html/template"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript/export"
)

//go:embed report.html
var reportText string

var reportPage = export.Page(reportText, template.FuncMap{
	"line": sanitize.Line, "words": sanitize.Text, "result": result, "tests": tests, "took": took, "output": output, "titled": func(title string, list any) titled { return titled{title, list} },
})

// titled is a list with a title.
type titled struct {
	Title string
	List  any
}

// HTML returns the evidence as a self-contained page with the content of Markdown.
func (o Outcome) HTML(f pawl.Criteria) string { return o.render("page", f) }

// Section returns the evidence as a part of another HTML page.
func (o Outcome) Section(f pawl.Criteria) template.HTML {
	return template.HTML(o.render("section", f)) //nolint:gosec // a template has made it
}

func (o Outcome) render(name string, f pawl.Criteria) string {
	var b strings.Builder
	view := struct {
		Outcome

		Rules        pawl.Criteria
		Word, Reason string
	}{Outcome: o, Rules: f}
	view.Word, view.Reason = o.word()
	if err := reportPage.ExecuteTemplate(&b, name, view); err != nil { // the template and the view are both ours
		panic(err)
	}
	return strings.TrimSpace(b.String()) + "\n"
}
