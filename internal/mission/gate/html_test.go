package gate

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

var update = flag.Bool("update", false, "write the golden files anew")

const attack = "</pre></script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e"

// sample is an outcome in which whatever comes from outside is an attack.
func sample() (Outcome, pawl.Criteria) {
	f := pawl.Criteria{
		Base: "b0", Criteria: []pawl.Criterion{{ID: "C1", Text: "it says hello " + attack}},
		Checks: []pawl.Check{{ID: "go-test", Kind: pawl.CheckTest, Args: []string{"/usr/bin/go", "test", attack}}},
	}
	o := Outcome{
		Criteria: "sha256:f0", Base: "b0", Candidate: "c0", Tree: "t0",
		Runs: []pawl.CheckRun{
			{Check: "go-test", On: "base", Duration: 1234567 * time.Microsecond, Output: "sha256:0123456789abcdef0123", Tests: &pawl.TestCount{Passed: 3, Failed: 1}},
			{Check: "go-test", On: "candidate", Code: 1, Output: "sha256:fedcba9876543210", Tests: &pawl.TestCount{Passed: 3}},
			{Check: "go-vet", On: "candidate", Code: -1, Fault: "killed by signal: " + attack},
		},
		Faults: []pawl.GateFault{
			{Rule: "check-failed", Item: "go-test", Text: "go-test exits with 1:\nline one\n\x1b[31m" + attack},
			{Rule: "protected-changed", Item: attack, Text: attack + " was changed"},
		},
		Suspicions: []pawl.GateFault{{Rule: "ends-early", Item: "a.go", Text: "a.go: " + attack}},
		Flaky:      []string{"p::" + attack}, Before: []string{"p::TestBefore"},
	}
	return o, f
}

// The page holds what the Markdown holds, and nothing of it can be more than text.
func TestHTML(t *testing.T) {
	t.Parallel()
	o, f := sample()
	got := o.HTML(f)
	const golden = "testdata/report.html"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("want -, got + (-update writes it anew): %s", diff)
	}
	for _, bad := range []string{"<script", "<img", "\u202e", "\x1b"} {
		if strings.Contains(got, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(got, "&lt;script&gt;"); n != strings.Count(o.Markdown(f), "<script>")+1 { // the item of a fault is reported by itself
		t.Errorf("the page tells %d times of what the Markdown tells %d times", n, strings.Count(o.Markdown(f), "<script>"))
	}
	if open := (Outcome{}).HTML(f); !strings.Contains(open, "<strong>Passed</strong>: 0 checks.") || !strings.Contains(open, "☑ <strong>C1</strong>") || strings.Contains(open, "Findings") {
		t.Errorf("an open gate is told as %s", open)
	}
}

// A part of another page tells the same, and is no page itself.
func TestSection(t *testing.T) {
	t.Parallel()
	o, f := sample()
	page, part := o.HTML(f), string(o.Section(f))
	_, inner, _ := strings.Cut(page, "<main>\n")
	inner, _, _ = strings.Cut(inner, "</main>")
	if !strings.HasPrefix(part, "<h2>Gate</h2>\n<p><strong>Not passed") || !strings.HasSuffix(part, inner) || strings.Contains(part, "<html") {
		t.Errorf("the part is %s", part)
	}
}
