package review

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/weak"
)

// Report is the outcome of a review.
type Report struct {
	Base     string    `json:"base"` // the commit that the change is compared with
	Head     string    `json:"head"` // the commit with the change; "" is the directory as it is
	Files    int       `json:"files"`
	Summary  string    `json:"summary"`
	Findings []Finding `json:"findings"`
	LeftOut  []Left    `json:"left_out"`
	Dropped  Dropped   `json:"dropped"`
}

// At returns how many findings are at least as bad as a severity.
func (r Report) At(least Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity.AtLeast(least) {
			n++
		}
	}
	return n
}

// where names a finding's place.
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

// Text is the report for people, on a terminal or in a log.
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
	if weak.On("review.log") {
		return b.String()
	}
	return order.ReplaceAllString(b.String(), "## $1")
}

// What some take for an order: one wherever it stands in a line, one at its
// beginning.
var (
	order   = regexp.MustCompile(`##(\w*\[)`)
	command = regexp.MustCompile(`(?m)^\s*::`)
)

// counts sums the report up in a line.
func (r Report) counts() string {
	n := map[Severity]int{}
	for _, f := range r.Findings {
		n[f.Severity]++
	}
	text := fmt.Sprintf("files reviewed: %d, left out: %d; errors: %d, warnings: %d, notes: %d", r.Files, len(r.LeftOut), n[Error], n[Warning], n[Note])
	if d := r.Dropped; d != (Dropped{}) {
		text += fmt.Sprintf("; of what the model found, outside of the change: %d, twice: %d, too many: %d, made a note: %d", d.Outside, d.Twice, d.Beyond, d.Lowered)
	}
	return text
}

// barred puts a bar before each line. A CI takes orders from lines of its log,
// such as ::add-mask::, with blanks before them too: so none begins with what a
// model wrote.
func barred(text string) string {
	margin := "  | "
	if weak.On("review.log") {
		margin = ""
	}
	return margin + strings.ReplaceAll(strings.TrimSpace(sanitize.Marked(text)), "\n", "\n"+margin)
}

// Markdown is the report for a page or a comment. What a model wrote stands in
// code, where it is no link, picture or mention.
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

// maxColumn is where lines of a block are broken: a page does not break them.
const maxColumn = 100

// block is text in a fence that it cannot close.
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
	if !weak.On("review.log") { // it may be printed there too
		text = order.ReplaceAllString(command.ReplaceAllString(text, "| $0"), "## $1")
	}
	fence := longer("```", text)
	return fmt.Sprintf("%s\n%s\n%s\n", fence, text, fence)
}

// span is one line in code that it cannot end.
func span(text string) string {
	text = order.ReplaceAllString(sanitize.Line(text), "## $1")
	tick := longer("`", text)
	return tick + " " + text + " " + tick
}

// longer returns ticks that do not occur in a text.
func longer(ticks, text string) string {
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	return ticks
}
