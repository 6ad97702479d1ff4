package gate

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Markdown returns the evidence as Markdown.
func (o Outcome) Markdown(f pawl.Criteria) string {
	var b strings.Builder
	word, reason := o.word()
	fmt.Fprintf(&b, "# Gate\n\n**%s**: %s\n\nCandidate `%s` (tree `%s`), base `%s`, checks `%s`.\n", word, reason, o.Candidate, o.Tree, o.Base, o.Criteria)
	list(&b, "Findings", o.Faults)
	list(&b, "Suspicions", o.Suspicions)
	if len(f.Criteria) > 0 {
		b.WriteString("\n## Criteria\n\n")
		for _, c := range f.Criteria {
			tick := " "
			if o.Passed() {
				tick = "x"
			}
			fmt.Fprintf(&b, "- [%s] **%s**: %s\n", tick, cell(c.ID), cell(c.Text))
		}
	}
	b.WriteString("\n## Runs\n\n| Check | On | Result | Tests | Time | Output |\n|---|---|---|---|---|---|\n")
	for _, r := range o.Runs {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | `%s` |\n", cell(r.Check), r.On, cell(result(r)), tests(r.Tests), took(r), output(r))
	}
	names(&b, "Also failed on the base", o.Before)
	names(&b, "Flaky on the base", o.Flaky)
	b.WriteString("\n## Checks\n\n")
	for _, c := range f.Checks {
		fmt.Fprintf(&b, "- **%s** (%s): `%s`\n", cell(c.ID), c.Kind, sanitize.Line(c.String()))
	}
	return b.String()
}

// word returns the outcome in a word or two, and the reason.
func (o Outcome) word() (word, reason string) {
	if o.Passed() {
		return "Passed", o.passed()
	}
	return "Not passed", humanize.Plural(len(o.Faults), "finding") + "."
}

// passed describes what passed: "3 checks, 124 tests, none weakened."
func (o Outcome) passed() string {
	checks, tests := map[string]bool{}, map[string]int{}
	for _, r := range o.Runs {
		if r.On != "candidate" {
			continue
		}
		checks[r.Check] = true
		if r.Tests != nil {
			tests[r.Check] = r.Tests.Passed
		}
	}
	text, total := humanize.Plural(len(checks), "check"), 0
	for _, n := range tests {
		total += n
	}
	if total > 0 {
		text += ", " + humanize.Plural(total, "test") + ", none weakened"
	}
	return text + "."
}

func list(b *strings.Builder, title string, faults []pawl.GateFault) {
	if len(faults) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, f := range faults {
		first, rest, _ := strings.Cut(f.Text, "\n")
		fmt.Fprintf(b, "- **%s**: %s\n", f.Rule, sanitize.Line(first))
		if rest = strings.TrimSpace(rest); rest != "" {
			for line := range strings.Lines(rest) {
				fmt.Fprintf(b, "      %s\n", sanitize.Line(strings.TrimRight(line, "\r\n")))
			}
		}
	}
}

func names(b *strings.Builder, title string, tests []string) {
	if len(tests) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, name := range tests {
		fmt.Fprintf(b, "- %s\n", sanitize.Line(name))
	}
}

func cell(text string) string { return strings.ReplaceAll(sanitize.Line(text), "|", `\|`) }

func result(r pawl.CheckRun) string {
	switch {
	case r.Fault != "":
		return sanitize.Line(r.Fault)
	case r.Code == 0:
		return "passed"
	default:
		return fmt.Sprintf("exit %d", r.Code)
	}
}

func took(r pawl.CheckRun) string { return r.Duration.Round(time.Millisecond).String() }

// output returns a prefix of the output's hash that is enough to identify it.
func output(r pawl.CheckRun) string {
	return fmt.Sprintf("%.15s", strings.TrimPrefix(r.Output, "sha256:"))
}

func tests(c *pawl.TestCount) string {
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("%d passed", c.Passed)
	for _, more := range []struct {
		n    int
		word string
	}{{c.Failed, "failed"}, {c.Skipped, "skipped"}, {c.Broken, "broken"}} {
		if more.n > 0 {
			text += fmt.Sprintf(", %d %s", more.n, more.word)
		}
	}
	return text
}

// Statement returns the evidence as an in-toto statement about the candidate's commit and tree, with the test
// result predicate, version 0.1.
func (o Outcome) Statement(f pawl.Criteria) ([]byte, error) {
	result := "FAILED"
	if o.Passed() {
		result = "PASSED"
	}
	var passed, failed []string
	configuration := []map[string]any{{"name": "checks", "digest": map[string]string{"sha256": strings.TrimPrefix(o.Criteria, "sha256:")}}}
	for _, c := range f.Checks {
		configuration = append(configuration, map[string]any{"name": c.ID, "annotations": map[string]any{"args": c.Args, "program": f.Tools[c.Args[0]]}})
	}
	for _, r := range o.Runs {
		if r.On != "candidate" {
			continue
		}
		if r.OK() {
			passed = append(passed, r.Check)
		} else {
			failed = append(failed, r.Check)
		}
	}
	return json.MarshalIndent(map[string]any{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       []map[string]any{{"name": "candidate", "digest": map[string]string{"gitCommit": o.Candidate, "gitTree": o.Tree}}},
		"predicateType": "https://in-toto.io/attestation/test-result/v0.1",
		"predicate":     map[string]any{"result": result, "configuration": configuration, "passedTests": passed, "failedTests": failed},
	}, "", "  ")
}
