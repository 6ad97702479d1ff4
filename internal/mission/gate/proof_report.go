package gate

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxSurvivors bounds the survivors that a report for people lists.
const maxSurvivors = 10

// Summary returns the verdict with what it is based on, in one line.
func (p Proof) Summary() string {
	var parts []string
	checks := map[string]bool{}
	for _, r := range p.Runs {
		if r.On == "candidate" {
			checks[r.Check] = true
		}
	}
	parts = append(parts, humanize.Plural(len(checks), "check"))
	if p.Holding > 0 {
		verb := " hold"
		if p.Holding == 1 {
			verb = " holds"
		}
		parts = append(parts, humanize.Plural(p.Holding, "base test")+verb)
	}
	if p.New > 0 {
		parts = append(parts, humanize.Plural(p.New, "new test"))
	}
	if p.Mutants.Total > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s killed", p.Mutants.Killed, humanize.Plural(p.Mutants.Total, "mutant")))
	}
	v := string(p.Verdict)
	return fmt.Sprintf("%s: %s (%.12s)", strings.ToUpper(v[:1])+v[1:], strings.Join(parts, ", "), p.Candidate)
}

// Text returns the report for people. CI systems find no commands in it.
func (p Proof) Text() string {
	var b strings.Builder
	for _, f := range p.Findings {
		fmt.Fprintf(&b, "%s: %s: %s\n", f.Kind, f.Rule, sanitize.Text(f.Text))
		if f.Approve != "" {
			fmt.Fprintf(&b, "  approve: --allow-test '%s'\n", sanitize.Line(f.Approve))
		}
	}
	for i, s := range p.Mutants.Survived {
		if i == maxSurvivors {
			fmt.Fprintf(&b, "survivor: %d more\n", len(p.Mutants.Survived)-i)
			break
		}
		fmt.Fprintf(&b, "survivor: %s:%d: %s: %s\n", sanitize.Line(s.Path), s.Line, s.Operator, sanitize.Line(strings.TrimSpace(s.After)))
	}
	b.WriteString(p.Summary() + "\n")
	return sanitize.CILog(b.String())
}

// Markdown returns the report for a comment on a pull request.
func (p Proof) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n", sanitize.Line(p.Summary()))
	for _, section := range proofSections {
		if !p.Has(section.Kind) {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", section.Title)
		for _, f := range p.Findings {
			if f.Kind == section.Kind {
				first, _, _ := strings.Cut(f.Text, "\n")
				fmt.Fprintf(&b, "- `%s` %s\n", f.Rule, sanitize.Line(first))
			}
		}
	}
	if len(p.Mutants.Survived) > 0 {
		b.WriteString("\n## Survivors\n\n| line | mistake | with it |\n|---|---|---|\n")
		for _, s := range p.Mutants.Survived {
			fmt.Fprintf(&b, "| %s:%d | %s | `%s` |\n", cell(s.Path), s.Line, cell(s.Operator), cell(strings.TrimSpace(s.After)))
		}
	}
	b.WriteString("\n## Runs\n\n| check | on | result | tests | took |\n|---|---|---|---|---|\n")
	for _, r := range p.Runs {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(r.Check), cell(r.On), result(r), tests(r.Tests), took(r))
	}
	return sanitize.CILog(b.String())
}

// Statement returns the proof as an in-toto statement about the candidate's commit and tree, with the test result
// predicate, version 0.1.
func (p Proof) Statement(f pawl.Criteria) ([]byte, error) {
	result := map[experiment.Verdict]string{experiment.Failed: "FAILED", experiment.Proven: "PASSED", experiment.NoCode: "PASSED", experiment.Checked: "WARNED"}[p.Verdict]
	configuration := []map[string]any{{"name": "checks", "digest": map[string]string{"sha256": strings.TrimPrefix(p.Criteria, "sha256:")}}}
	for _, c := range f.Checks {
		configuration = append(configuration, map[string]any{"name": c.ID, "annotations": map[string]any{"args": c.Args, "program": f.Tools[c.Args[0]]}})
	}
	var passed, failed []string
	for _, r := range p.Runs {
		switch {
		case r.On != "candidate":
		case r.OK():
			passed = append(passed, r.Check)
		default:
			failed = append(failed, r.Check)
		}
	}
	return json.MarshalIndent(map[string]any{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       []map[string]any{{"name": "candidate", "digest": map[string]string{"gitCommit": p.Candidate, "gitTree": p.Tree}}},
		"predicateType": "https://in-toto.io/attestation/test-result/v0.1",
		"predicate": map[string]any{
			"result": result, "configuration": configuration, "passedTests": passed, "failedTests": failed,
			"annotations": map[string]any{"verdict": p.Verdict, "mutants": map[string]int{"killed": p.Mutants.Killed, "total": p.Mutants.Total}},
		},
	}, "", "  ")
}
