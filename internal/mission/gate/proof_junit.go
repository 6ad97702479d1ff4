package gate

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`

		took time.Duration
	}
	junitCase struct {
		Class   string      `xml:"classname,attr"`
		Name    string      `xml:"name,attr"`
		File    string      `xml:"file,attr,omitempty"`
		Line    int         `xml:"line,attr,omitempty"`
		Time    string      `xml:"time,attr"`
		Failure *junitCause `xml:"failure"`
		Skipped *junitCause `xml:"skipped"`
	}
	junitCause struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit returns the proof as JUnit XML. Its test cases are the checks, the findings and the verdict, which passes if it is
// what is required. Findings that are no failures are skipped test cases.
func (p Proof) JUnit(passes bool) ([]byte, error) {
	all := junitSuites{Name: "pawl gate"}
	checks, findings, verdict := junitSuite{Name: "checks"}, junitSuite{Name: "experiments"}, junitSuite{Name: "verdict"}
	for _, r := range p.Runs {
		if r.On == "candidate" {
			checks.add(checkCase(r), r.Duration)
		}
	}
	for n, i := range p.issues() {
		findings.add(i.testCase(n+1), 0)
	}
	last := junitCase{Class: "pawl.verdict", Name: "verdict"}
	if !passes {
		last.Failure = &junitCause{clean(p.Summary()), string(p.Verdict), ""}
	}
	verdict.add(last, 0)
	for _, s := range []junitSuite{checks, findings, verdict} {
		s.Time = seconds(s.took)
		all.Suites, all.Tests, all.Failures = append(all.Suites, s), all.Tests+s.Tests, all.Failures+s.Failures
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

func (s *junitSuite) add(c junitCase, took time.Duration) {
	c.Time = seconds(took)
	s.Cases, s.Tests, s.took = append(s.Cases, c), s.Tests+1, s.took+took
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
}

func checkCase(r pawl.CheckRun) junitCase {
	c := junitCase{Class: "pawl.checks", Name: clean(r.Check)}
	if !r.OK() {
		c.Failure = &junitCause{clean(result(r)), "check-failed", clean(r.Tail)}
	}
	return c
}

func (i issue) testCase(n int) junitCase {
	name := fmt.Sprintf("%d %s", n, i.rule)
	if i.path != "" {
		name += " " + i.path
	}
	if i.line > 0 {
		name += fmt.Sprintf(":%d", i.line)
	}
	first, _, _ := strings.Cut(i.text, "\n")
	cause := &junitCause{clean(first), i.rule, clean(i.text)}
	c := junitCase{Class: "pawl." + i.rule, Name: clean(name), File: clean(i.path), Line: i.line}
	if i.level == "error" {
		c.Failure = cause
	} else {
		c.Skipped = cause
	}
	return c
}

// clean returns text without characters that XML does not allow.
func clean(text string) string { return sanitize.Text(strings.ToValidUTF8(text, "\uFFFD")) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// Meets reports whether the verdict is at least the required one: checked or proven.
func (p Proof) Meets(required experiment.Verdict) bool {
	return p.Verdict != experiment.Failed && (p.Verdict != experiment.Checked || required != experiment.Proven)
}
