package mission

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

// active is text that a forge would act on, if it were not code: it mentions people, closes issues, shows images, ends
// cells, spans and blocks, and gives a quick action.
const active = "Fixes #1 @org/team ![x](https://evil.test/x) `` ` </table> | *x* <!-- \n\n```\n/close\n\x1b[2J"

// outsideCode removes code blocks and code spans as a Markdown renderer finds them.
func outsideCode(t *testing.T, text string) string {
	t.Helper()
	var kept strings.Builder
	block := ""
	for line := range strings.Lines(text) {
		run := regexp.MustCompile("^```+").FindString(line)
		switch {
		case block == "" && run != "":
			block = run
		case block != "" && strings.TrimRight(line, "\n") == block:
			block = ""
		case block == "":
			kept.WriteString(withoutSpans(t, line))
		}
	}
	if block != "" {
		t.Error("a code block does not end")
	}
	return kept.String()
}

func withoutSpans(t *testing.T, line string) string {
	t.Helper()
	runs := regexp.MustCompile("`+")
	for {
		at := runs.FindStringIndex(line)
		if at == nil {
			return line
		}
		mark, end := line[at[0]:at[1]], -1
		for _, other := range runs.FindAllStringIndex(line[at[1]:], -1) {
			if other[1]-other[0] == len(mark) {
				end = at[1] + other[1]
				break
			}
		}
		if end < 0 {
			t.Fatalf("a code span does not end: %q", line)
		}
		line = line[:at[0]] + "CODE" + line[end:]
	}
}

// TestPullRequestIsPlain checks that text of models is code wherever it appears.
func TestPullRequestIsPlain(t *testing.T) {
	t.Parallel()
	r := sampleReport(t)
	r.Goal = active
	criteria := *r.Checks
	criteria.Criteria = []pawl.Criterion{{ID: "goal", Text: active}, {ID: "A|1", Text: active, Checks: []string{active}, Tests: []string{"TestA"}}}
	r.Checks = &criteria
	for i := range r.Tasks {
		r.Tasks[i].ID, r.Tasks[i].Title, r.Tasks[i].Phase = "T1", active, pawl.PhaseMerged
	}
	r.Evidence.Reviews = []pawl.Reviewed{{Holds: []pawl.Judgment{{ID: "goal", Holds: true, Why: active}}}}
	r.Evidence.Proof.Findings[0].Text = active
	r.Evidence.Proof.Runs[0].Check, r.Evidence.Proof.Runs[0].Args, r.Evidence.Proof.Runs[0].Fault = active, []string{active}, active
	text := r.PullRequest(map[string][]git.FileStat{"T1": {{Path: active, Added: 3, Removed: 1}}})
	plain := outsideCode(t, text)
	if found := regexp.MustCompile(`@|#\d|https?:|<|\x1b|/close|\]\(`).FindString(plain); found != "" {
		t.Errorf("%q is not code in\n%s", found, text)
	}
	if strings.Contains(text, "\x1b") || strings.Count(text, "Fixes #1") < 8 {
		t.Errorf("the text is missing, or not sanitized:\n%s", text)
	}
	for line := range strings.Lines(plain) {
		if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); n != 0 && n != 6 && n != 5 {
			t.Errorf("a row has %d bars: %s", n, line)
		}
	}
}

// TestPullRequest checks what the text says, and that it does not claim more than the evidence shows.
func TestPullRequest(t *testing.T) {
	t.Parallel()
	r := sampleReport(t)
	criteria := *r.Checks
	criteria.Criteria = []pawl.Criterion{{ID: "goal", Text: "fast"}, {ID: "U1", Text: "same names", Checks: []string{"test"}}}
	r.Checks = &criteria
	text := r.PullRequest(map[string][]git.FileStat{"T1": {{Path: "a.go", Added: 3, Removed: 1}, {Path: "b.go", Added: 1}}})
	for _, want := range []string{
		"+4 −1 in ` a.go `, ` b.go `", "The gate passed on c2, in round 2.", "**Proven: 1 check, 4 of 4 mutants killed (c2)**",
		"| ` test ` | (none) | ` not run ` | ` passed ` | 0 |", "| ` goal ` | ` fast ` | reviewers only | holds: ", "| ` U1 ` | ` same names ` | ` checks test ` | none |",
		"Only reviewers, which are models, have confirmed: ` goal `.", "$0.50, 1.2k tokens, 4 sessions",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "Not sealed") || strings.Contains(text, "` T2 `") {
		t.Errorf("it names a dropped task, or is not sealed:\n%s", text)
	}
	r.State, r.Evidence = pawl.MissionStopped, Evidence{}
	if text := r.PullRequest(nil); !strings.HasPrefix(text, "**Not sealed.**") || !strings.Contains(text, "nothing is verified") || strings.Contains(text, "## Checks") {
		t.Error(text)
	}
	r.Goal = strings.Repeat("x ", 100_000)
	for range 2_000 {
		r.Tasks = append(r.Tasks, TaskReport{ID: "T", Title: r.Goal, Phase: pawl.PhaseMerged})
	}
	text = r.PullRequest(nil)
	if plain := outsideCode(t, text); len(text) > maxPRText+200 || !strings.HasSuffix(plain, "The text is cut off here: CODE has all of it.\n") {
		t.Errorf("the text has %d bytes", len(text))
	}
}
