package gate

import (
	"crypto/sha256"
	"fmt"

	"github.com/pawl-dev/pawl/internal/mission/review/sarif"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// sarifRules describes the rules of findings.
var sarifRules = []sarif.Rule{
	{ID: "no-change", About: "There is no change."},
	{ID: "check-failed", About: "A check fails."},
	{ID: "test-failed", About: "A test fails."},
	{ID: "tests-broken", About: "Tests do not build or load."},
	{ID: "old-tests", About: "A test of the base does not hold on the new code."},
	{ID: "tests-weaker", About: "The changed tests notice less than those of the base."},
	{ID: "unread", About: "No check reads the file."},
	{ID: "vacuous", About: "The new tests pass whatever they expect."},
	{ID: "blind", About: "The checks do not notice a failing test or a wrong expectation."},
	{ID: "pinned", About: "The tests depend on the text of the code."},
	{ID: "elsewhere", About: "The result depends on where the tests run."},
	{ID: "flaky", About: "The tests do not give the same result twice."},
	{ID: "holds-with", About: "The tests of the base hold only together with this file."},
	{ID: "under-test", About: "The code asks where it runs."},
	{ID: "chance", About: "The code depends on chance."},
	{ID: "discarded", About: "The code discards a value."},
	{ID: "hard-coded", About: "The answers are copied from the tests."},
	{ID: "inline-tests", About: "Tests inside the code changed."},
	{ID: "no-tests", About: "No test passes on the changed code."},
	{ID: "no-mutants", About: "The changed lines could not be broken on purpose."},
	{ID: "survivors", About: "The tests notice too few of the mistakes that were made on purpose."},
	{ID: survivor, About: "No test notices a mistake in this line."},
	{ID: "unreached", About: "No test reaches this line."},
	{ID: "data", About: "The tests do not notice the change of this file."},
	{ID: "data-only", About: "Only data changed."},
	{ID: "new-tests", About: "The new tests do not need the change."},
	{ID: "touch", About: "Not every changed file was broken on purpose."},
	{ID: "mutants", About: "Not every possible mutant was chosen."},
	{ID: "budget", About: "The time for mutants was over."},
	{ID: "probes", About: "Not every line was probed."},
	{ID: "settings", About: "A file with settings or text changed."},
	{ID: "silenced", About: "The line silences a check."},
	{ID: "unfinished", About: "The line says that something is missing."},
}

// SARIF returns the proof as SARIF 2.1.0. Findings about no file are notifications, because code scanners reject results
// without a place.
func (p Proof) SARIF(version string) any {
	out := sarif.Report{Version: version, Run: "pawl-gate"}
	for _, r := range sarifRules {
		r.Help = "See docs/how-to/gate.md."
		out.Rules = append(out.Rules, r)
	}
	for _, i := range p.issues() {
		text := sanitize.Marked(i.text)
		sum := sha256.Sum256([]byte(i.rule + "\x00" + i.path + "\x00" + i.text))
		r := sarif.Result{Rule: i.rule, Level: i.level, Message: text, Path: i.path, StartLine: i.line, EndLine: i.line, Fingerprint: fmt.Sprintf("%x", sum[:16])}
		if i.path == "" {
			out.Notices = append(out.Notices, r)
		} else {
			out.Results = append(out.Results, r)
		}
	}
	return out.Document()
}
