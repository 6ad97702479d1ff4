package review

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Report is the result of a review.
type Report struct {
	Base     string    `json:"base"` // the commit that the change is compared with
	Head     string    `json:"head"` // the commit with the change; "" means the working directory
	Files    int       `json:"files"`
	Summary  string    `json:"summary"`
	Findings []Finding `json:"findings"`
	LeftOut  []Left    `json:"left_out"`
	Dropped  Dropped   `json:"dropped"`
}

// At returns the number of findings with at least the given severity.
func (r Report) At(least Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity.AtLeast(least) {
			n++
		}
	}
	return n
}

// where formats the location of a finding.
func (f Finding) where() string {
	switch {
	case f.StartLine == 0:
		return sanitize.Line(f.Path)
	case f.EndLine == f.StartLine:
		return fmt.Sprintf("%s:%d", sanitize.Line(f.Path), f.StartLine)
	default:
		return fmt.Sprintf("%s:%d-%d", sanitize.Line(f.Path), f.StartLine, f.EndLine)
	}
}

// Text formats the report for a terminal or a log.
func (r Report) Text() string {
	var b strings.Builder
	if r.Summary != "" {
		fmt.Fprintf(&b, "%s\n\n", barred(r.Summary))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s: %s: %s [%s]\n%s\n", f.Severity, f.where(), sanitize.Line(f.Title), f.Rule, barred(f.Message))
		if f.Suggestion != "" {
			fmt.Fprintf(&b, "  instead:\n%s\n", barred(f.Suggestion))
		}
		b.WriteString("\n")
	}
	b.WriteString(r.counts() + "\n")
	return sanitize.CILog(b.String())
}

// counts returns the numbers of findings in one line.
func (r Report) counts() string {
	n := map[Severity]int{}
	for _, f := range r.Findings {
		n[f.Severity]++
	}
	text := fmt.Sprintf("files reviewed: %d, not reviewed: %d; errors: %d, warnings: %d, notes: %d", r.Files, len(r.LeftOut), n[Error], n[Warning], n[Note])
	if d := r.Dropped; d != (Dropped{}) {
		text += fmt.Sprintf("; dropped: %d outside the change, %d duplicates, %d over the limit; lowered to notes: %d", d.Outside, d.Twice, d.Beyond, d.Lowered)
	}
	return text
}

// barred prefixes each line with a bar. CI systems interpret lines of the log such as ::add-mask::, also after
// spaces, so no line may start with text of the model.
func barred(text string) string {
	margin := "  | "
	return margin + strings.ReplaceAll(strings.TrimSpace(sanitize.Marked(text)), "\n", "\n"+margin)
}

// Markdown formats the report for a page or a comment. Text of the model is in code blocks, where links, images
// and mentions have no effect.
func (r Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Review\n\n%s.\n", r.counts())
	if r.Summary != "" {
		b.WriteString("\n" + block(r.Summary))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "\n### %s: %s\n\n%s (%s)\n\n%s", f.Severity, span(f.Title), span(f.where()), f.Rule, block(f.Message))
		if f.Suggestion != "" {
			b.WriteString("\nInstead:\n\n" + block(f.Suggestion))
		}
	}
	return b.String()
}

// maxColumn is the line width of code blocks, which are not wrapped by the page.
const maxColumn = 100

// block formats text as a code block that the text cannot close.
func block(text string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(sanitize.Marked(text)), "\n") {
		for len(line) > maxColumn {
			at := strings.LastIndexByte(line[:maxColumn], ' ')
			if at <= 0 {
				break
			}
			lines, line = append(lines, line[:at]), line[at+1:]
		}
		lines = append(lines, line)
	}
	text = strings.Join(lines, "\n")
	// The report may be printed to a CI log too.
	text = sanitize.CILog(text)
	ticks := longer("```", text)
	return fmt.Sprintf("%s\n%s\n%s\n", ticks, text, ticks)
}

// span formats one line as inline code that the text cannot end.
func span(text string) string {
	text = sanitize.CILog(sanitize.Line(text))
	tick := longer("`", text)
	return tick + " " + text + " " + tick
}

// longer returns a run of backticks that does not occur in a text.
func longer(ticks, text string) string {
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	return ticks
}
