package gate

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxAnnotations bounds the annotations of each level: GitHub shows ten of a step.
const maxAnnotations = 10

// Annotations returns the findings and survivors as commands of GitHub workflows, which show them beside the code. Notes
// are left out unless they have a line.
func (p Proof) Annotations() string {
	commands := map[string]string{"error": "error", "warning": "warning", "note": "notice"}
	count := map[string]int{}
	var b strings.Builder
	for _, i := range p.issues() {
		if i.level == "note" && i.line == 0 || count[i.level] == maxAnnotations {
			continue
		}
		count[i.level]++
		fmt.Fprintf(&b, "::%s %s::%s\n", commands[i.level], i.properties(), escapeData(sanitize.Text(i.text)))
	}
	return b.String()
}

func (i issue) properties() string {
	text := "title=" + escapeProperty("pawl gate: "+i.rule)
	if i.path != "" {
		text += fmt.Sprintf(",file=%s,line=%d", escapeProperty(sanitize.Line(i.path)), max(1, i.line))
	}
	return text
}

// escapeData escapes the text of a command, so that it stays in its line.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeData(s))
}
