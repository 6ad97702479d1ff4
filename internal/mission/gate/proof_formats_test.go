package gate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
	"github.com/pawl-dev/pawl/internal/mission/gate/inventory"
	"github.com/pawl-dev/pawl/internal/mission/review/sarif"
)

// hostileProof is a proof whose every text tries to be more than text.
func hostileProof() Proof {
	return Proof{Criteria: "sha256:0", Base: "b", Candidate: "c", Result: experiment.Result{
		Verdict: experiment.Failed, Tree: "t", Holding: 1,
		Findings: []experiment.Finding{
			{Kind: experiment.Failure, Rule: "old-tests", Item: "m::T", Text: "test m::T fails:\n::add-mask::x\n  ::error::y\n##[group]z ]](http://evil.test)", Approve: "m::T"},
			{Kind: experiment.Gap, Rule: "unreached", Item: "a,b:ü<x>.go", Path: "a,b:ü<x>.go", Line: 7, Text: "no test reaches line 7\x1b[2J\x00"},
			{Kind: experiment.Note, Rule: "settings", Item: "s", Path: "s", Text: "s was changed"},
		},
		Runs: []pawl.CheckRun{
			{Check: "test", On: "base", Duration: time.Second},
			{Check: "test", On: "candidate", Code: 1, Duration: 2 * time.Second, Tail: "]]> <script>alert(1)</script>"},
			{Check: "build", On: "candidate", Duration: time.Second},
		},
		Mutants: experiment.Mutants{Killed: 1, Total: 2, Survived: []experiment.Survivor{{Path: "m.go", Line: 3, Operator: "+ to -", Before: "a + b", After: "\ta - b // ::error::x%0A"}}},
	}}
}

// ciCommands finds what a CI system would do something about.
var ciCommands = regexp.MustCompile(`(?m)^\s*::|##\w*\[`)

// TestProofGivesNoCommands: text of tests and file names gives no commands to a CI system that reads the log.
func TestProofGivesNoCommands(t *testing.T) {
	t.Parallel()
	p := hostileProof()
	for _, text := range []string{p.Text(), p.Markdown()} {
		if found := ciCommands.FindString(text); found != "" {
			t.Errorf("%q in %s", found, text)
		}
	}
	if text := p.Text(); !strings.Contains(text, "| ::add-mask::x") {
		t.Errorf("the text is missing in %s", text)
	}
}

// TestAnnotations: each annotation is one command, whatever its text is.
func TestAnnotations(t *testing.T) {
	t.Parallel()
	want := `::error title=pawl gate%3A old-tests::test m::T fails:%0A::add-mask::x%0A  ::error::y%0A##[group]z ]](http://evil.test)%0AApprove it with --allow-test 'm::T'.
::warning title=pawl gate%3A unreached,file=a%2Cb%3Aü<x>.go,line=7::no test reaches line 7
::warning title=pawl gate%3A survivor,file=m.go,line=3::No test notices this mistake (+ to -): a - b // ::error::x%250A
`
	if diff := cmp.Diff(want, hostileProof().Annotations()); diff != "" {
		t.Error(diff)
	}
	p := hostileProof()
	for range 30 {
		p.Findings = append(p.Findings, p.Findings[1])
	}
	if n := strings.Count(p.Annotations(), "::warning "); n != maxAnnotations {
		t.Errorf("%d warnings", n)
	}
}

// TestJUnit reads the report as that of a check, and holds it to the verdict.
func TestJUnit(t *testing.T) {
	t.Parallel()
	p := hostileProof()
	text, err := p.JUnit(false)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gate.xml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	tests, err := inventory.Read(pawl.Check{Tests: "junit", Report: "gate.xml"}, dir, nil, dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for status, want := range map[inventory.Status][]string{
		inventory.Passed:  {"pawl.checks::build"},
		inventory.Failed:  {"pawl.checks::test", "pawl.old-tests::1 old-tests", "pawl.verdict::verdict"},
		inventory.Skipped: {"pawl.settings::4 settings s", "pawl.survivor::3 survivor m.go:3", "pawl.unreached::2 unreached a,b:ü<x>.go:7"},
	} {
		got := tests.Names(status)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s\n%s", status, diff, text)
		}
	}
	if got := string(text); !strings.Contains(got, `<testsuites name="pawl gate" tests="7" failures="3">`) || !strings.Contains(got, `<testsuite name="checks" tests="2" failures="1" errors="0" skipped="0" time="3.000">`) {
		t.Errorf("the counts are wrong:\n%s", got)
	}
	p.Verdict, p.Findings, p.Runs[1].Code = experiment.Proven, nil, 0
	if text, err := p.JUnit(p.Meets(experiment.Proven)); err != nil || strings.Contains(string(text), "<failure") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestProofSARIF: results have a place; findings without one are notifications. dev/sarif holds a file to the published schema.
func TestProofSARIF(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(hostileProof().SARIF("1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	type message struct{ Text string }
	var got struct {
		Runs []struct {
			Invocations []struct {
				Notifications []struct {
					Level   string
					Message message
				} `json:"toolExecutionNotifications"`
			}
			Results []struct {
				RuleID, Level string
				Message       message
				Locations     []struct {
					Physical struct {
						Artifact struct{ URI string } `json:"artifactLocation"`
						Region   struct{ StartLine int }
					} `json:"physicalLocation"`
				}
				Fingerprints map[string]string `json:"partialFingerprints"`
			}
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	run := got.Runs[0]
	var lines []string
	for _, r := range run.Results {
		if len(r.Fingerprints) != 1 {
			t.Errorf("%+v has no fingerprint", r)
		}
		at := r.Locations[0].Physical
		lines = append(lines, fmt.Sprintf("%s %s %s:%d %s", r.Level, r.RuleID, at.Artifact.URI, at.Region.StartLine, r.Message.Text))
	}
	for _, n := range run.Invocations[0].Notifications {
		first, _, _ := strings.Cut(n.Message.Text, "\n")
		lines = append(lines, n.Level+" "+first)
		if strings.Contains(n.Message.Text, "](") {
			t.Errorf("a link in %q", n.Message.Text)
		}
	}
	want := []string{
		`warning pawl/unreached ./a,b:%C3%BC%3Cx%3E.go:7 no test reaches line 7\u{1b}[2J\u{0}`,
		"warning pawl/survivor m.go:3 No test notices this mistake (+ to -): a - b // ::error::x%0A",
		"note pawl/settings s:1 s was changed",
		"error test m::T fails:",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// TestSARIFRules: every rule of the experiments is described.
func TestSARIFRules(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("experiment/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:Failure|Question|Gap|Note), (?:Rule: )?"([a-z-]+)"`).FindAllSubmatch(text, -1) {
			found++
			if !slices.ContainsFunc(sarifRules, func(r sarif.Rule) bool { return r.ID == string(m[1]) }) {
				t.Errorf("%s: rule %s has no description in sarifRules", name, m[1])
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d rules found", found)
	}
}

// TestProofHTML: the page is self-contained, and text stays text.
func TestProofHTML(t *testing.T) {
	t.Parallel()
	f := pawl.Criteria{Checks: []pawl.Check{{ID: "test", Kind: pawl.CheckTest, Args: []string{"make", "test"}}}}
	page := hostileProof().HTML(f)
	for _, want := range []string{"<strong>Failed: 2 checks, 1 base test holds, 1 of 2 mutants killed", "<h2>Failures</h2>", "<h2>What the tests do not show</h2>", "a,b:ü&lt;x&gt;.go", "<td>m.go:3</td>", "--allow-test 'm::T'", "<code>make test</code>", "</html>"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "src=") || strings.Contains(page, "href=") {
		t.Error("the page is not self-contained")
	}
	if strings.Contains(page, "Questions") {
		t.Error("an empty section is shown")
	}
	if part := string(hostileProof().Section(f)); strings.Contains(part, "<html") || !strings.Contains(part, "<h2>Gate</h2>") {
		t.Errorf("a section is not a part of a page: %s", part)
	}
}

func TestMeets(t *testing.T) {
	t.Parallel()
	for v, want := range map[experiment.Verdict][2]bool{experiment.Failed: {false, false}, experiment.Checked: {true, false}, experiment.NoCode: {true, true}, experiment.Proven: {true, true}} {
		p := Proof{Result: experiment.Result{Verdict: v}}
		if got := [2]bool{p.Meets(experiment.Checked), p.Meets(experiment.Proven)}; got != want {
			t.Errorf("%s: got %v, want %v", v, got, want)
		}
	}
}
