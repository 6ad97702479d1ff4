package gate

import (
	_ "embed" // the page
	"html/template"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript/export"
)

//go:embed proof.html
var proofText string

var proofPage = export.Page(proofText, template.FuncMap{"line": sanitize.Line, "words": sanitize.Text, "trim": strings.TrimSpace, "result": result, "tests": tests, "took": took})

// proofSections are the kinds of findings with their titles, by weight.
var proofSections = []struct {
	Kind  experiment.Kind
	Title string
}{{experiment.Failure, "Failures"}, {experiment.Question, "Questions"}, {experiment.Gap, "What the tests do not show"}, {experiment.Note, "Notes"}}

// HTML returns the proof as a page without scripts, links or external resources.
func (p Proof) HTML(f pawl.Criteria) string { return p.render("page", f) }

// Section returns the proof as a part of another HTML page.
func (p Proof) Section(f pawl.Criteria) template.HTML {
	return template.HTML(p.render("section", f)) //nolint:gosec // a template has made it
}

func (p Proof) render(name string, f pawl.Criteria) string {
	type section struct {
		Title    string
		Findings []experiment.Finding
	}
	view := struct {
		Proof

		Rules    pawl.Criteria
		Sections []section
	}{Proof: p, Rules: f}
	for _, s := range proofSections {
		found := section{Title: s.Title}
		for _, f := range p.Findings {
			if f.Kind == s.Kind {
				found.Findings = append(found.Findings, f)
			}
		}
		if len(found.Findings) > 0 {
			view.Sections = append(view.Sections, found)
		}
	}
	var b strings.Builder
	if err := proofPage.ExecuteTemplate(&b, name, view); err != nil { // the template and the view are both ours
		panic(err)
	}
	return strings.TrimSpace(b.String()) + "\n"
}
