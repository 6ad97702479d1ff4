package review

import (
	"slices"

	"github.com/pawl-dev/pawl/internal/mission/review/sarif"
)

// SARIF returns the report as SARIF 2.1.0, the format of code scanners.
func (r Report) SARIF(version string) any {
	out := sarif.Report{Version: version, Run: "pawl-review"}
	for _, s := range rules {
		out.Rules = append(out.Rules, sarif.Rule{ID: s.id, About: s.about, Help: "See `pawl review --help`."})
	}
	for _, f := range r.Findings {
		out.Results = append(out.Results, f.sarif())
	}
	return out.Document()
}

func (f Finding) sarif() sarif.Result {
	name := f.Rule
	if !slices.ContainsFunc(rules, func(s rule) bool { return s.id == name }) {
		name = rules[0].id
	}
	text := f.Title + "\n\n" + f.Message
	if f.Suggestion != "" {
		text += "\n\nInstead: " + f.Suggestion
	}
	return sarif.Result{Rule: name, Level: string(f.Severity), Message: text, Path: f.Path, StartLine: f.StartLine, EndLine: f.EndLine, Fingerprint: f.Fingerprint}
}
