package mission

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Limits of the text of a pull request. GitHub accepts 65,536 characters.
const (
	maxPRText  = 60_000 // bytes
	maxPRGoal  = 4_000
	maxPRLine  = 300
	maxPRFiles = 10 // of a task
)

// PullRequest returns the report as the text of a pull request. files are the changes of the merged tasks.
//
// Text that models, issues or programs wrote is in code spans and code blocks: there a forge finds no mentions, links,
// images, commands or words that close issues.
func (r Report) PullRequest(files map[string][]git.FileStat) string {
	var b strings.Builder
	if r.State != pawl.MissionSealed {
		b.WriteString("**Not sealed.** The gate has not verified this change.\n\n")
	}
	fmt.Fprintf(&b, "## Goal\n\n%s\n", codeBlock(cut(r.Goal, maxPRGoal)))
	b.WriteString("\n## Changes\n\n")
	for _, t := range r.Tasks {
		if t.Phase == pawl.PhaseMerged {
			fmt.Fprintf(&b, "- %s %s: %s\n", code(t.ID), code(t.Title), fileList(files[t.ID]))
		}
	}
	fmt.Fprintf(&b, "\n## Verdict\n\n%s\n", r.proof())
	if p := r.Evidence.Proof; p != nil {
		fmt.Fprintf(&b, "\n**%s**\n\nEvidence chain: %s\n", sanitize.Line(p.Summary()), code(r.Evidence.Chain.String()))
		r.prFindings(&b)
		r.prChecks(&b)
		r.prCriteria(&b)
	}
	fmt.Fprintf(&b, "\n## Cost\n\n%s, %s. Mission %s, from base %s to commit %s.\n", spent(r.Usage), humanize.Plural(1+r.Team, "session"), code(string(r.Mission)), code(r.Base), code(r.Commit))
	text := b.String()
	if len(text) > maxPRText { // at the end of a line, so that code spans end
		return text[:strings.LastIndex(text[:maxPRText], "\n")] + "\n\nThe text is cut off here: `pawl mission report` has all of it.\n"
	}
	return text
}

// prFindings lists what the gate found: faults, and notes for people.
func (r Report) prFindings(b *strings.Builder) {
	for i, f := range r.Evidence.Proof.Findings {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(b, "- %s %s: %s\n", f.Kind, code(f.Rule), code(f.Text))
	}
}

// prChecks lists the exit codes of the checks on the base and on the candidate.
func (r Report) prChecks(b *strings.Builder) {
	b.WriteString("\n## Checks\n\n| Check | Command | Base | Result | Exit code |\n|---|---|---|---|---|\n")
	base := map[string]string{}
	for _, run := range r.Evidence.Proof.Runs {
		switch run.On {
		case "base":
			base[run.Check] = gate.Summary(run)
		case "candidate":
			before := base[run.Check]
			if before == "" {
				before = "not run"
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s | %d |\n", codeCell(run.Check), codeCell(strings.Join(run.Args, " ")), codeCell(before), codeCell(gate.Summary(run)), run.Code)
		}
	}
}

// prCriteria lists how each criterion was shown.
func (r Report) prCriteria(b *strings.Builder) {
	if r.Checks == nil || len(r.Checks.Criteria) == 0 {
		return
	}
	b.WriteString("\n## Criteria\n\n| Criterion | Text | Shown by | Reviewers |\n|---|---|---|---|\n")
	var only []string
	for _, c := range r.Checks.Criteria {
		shown := "reviewers only"
		if c.HasEvidence() {
			shown = codeCell(evidenceOf(c))
		} else {
			only = append(only, code(c.ID))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", codeCell(c.ID), codeCell(c.Text), shown, r.judgments(c.ID))
	}
	if len(only) > 0 {
		fmt.Fprintf(b, "\nOnly reviewers, which are models, have confirmed: %s.\n", strings.Join(only, ", "))
	}
}

// evidenceOf names the checks and tests that show a criterion.
func evidenceOf(c pawl.Criterion) string {
	var parts []string
	if len(c.Checks) > 0 {
		parts = append(parts, "checks "+strings.Join(c.Checks, ", "))
	}
	if len(c.Tests) > 0 {
		parts = append(parts, "tests "+strings.Join(c.Tests, ", "))
	}
	return strings.Join(parts, "; ")
}

// judgments returns what the reviewers said of a criterion, for a table.
func (r Report) judgments(id string) string {
	var parts []string
	for _, v := range r.Evidence.Reviews {
		for _, j := range v.Holds {
			if j.ID == id {
				parts = append(parts, holds(j)+": "+codeCell(j.Why))
			}
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, "; ")
}

// fileList describes the changed files of a task.
func fileList(files []git.FileStat) string {
	if len(files) == 0 {
		return "no changes"
	}
	added, removed := 0, 0
	var names []string
	for i, f := range files {
		added, removed = added+f.Added, removed+f.Removed
		if i < maxPRFiles {
			names = append(names, code(f.Path))
		}
	}
	if more := len(files) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("+%d −%d in %s", added, removed, strings.Join(names, ", "))
}

// code returns untrusted text as one line in a code span of Markdown.
func code(text string) string {
	text = sanitize.Line(strings.Join(strings.Fields(cut(text, maxPRLine)), " "))
	if text == "" {
		return "(none)"
	}
	mark := strings.Repeat("`", backticks(text)+1)
	return mark + " " + text + " " + mark // a renderer removes one space at each end
}

// codeCell is code for a table, where a bar ends a cell even in a code span.
func codeCell(text string) string { return strings.ReplaceAll(code(text), "|", `\|`) }

// codeBlock returns untrusted text as a code block of Markdown.
func codeBlock(text string) string {
	text = strings.TrimSpace(sanitize.Marked(text))
	mark := strings.Repeat("`", max(3, backticks(text)+1))
	return mark + "text\n" + text + "\n" + mark
}

// backticks returns the length of the longest run of backticks in a text.
func backticks(text string) (longest int) {
	run := 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
