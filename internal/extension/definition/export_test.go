package definition

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Show formats the agents for golden files.
func (s *AgentSet) Show() string {
	var b strings.Builder
	for _, a := range s.Agents {
		fmt.Fprintf(&b, "%s  %s  %s %s  %s\n", sanitize.Line(a.Name), a.Mode, a.Origin.Layer, a.Origin.Tool, sanitize.Line(a.Origin.File))
		for _, i := range a.Ignored {
			fmt.Fprintf(&b, "  ignored: %s: %s\n", sanitize.Line(i.Key), sanitize.Line(i.Why))
		}
		for _, fault := range a.Faults {
			fmt.Fprintf(&b, "  warning: %s\n", sanitize.Line(fault))
		}
	}
	show(&b, s.Hidden, s.Faults)
	return b.String()
}

// Show formats the commands for golden files.
func (s *CommandSet) Show() string {
	var b strings.Builder
	for _, c := range s.Commands {
		fmt.Fprintf(&b, "%s  %s %s  %s\n", sanitize.Line(c.Name), c.Origin.Layer, c.Origin.Tool, sanitize.Line(c.Origin.File))
		for _, i := range c.Ignored {
			fmt.Fprintf(&b, "  ignored: %s: %s\n", sanitize.Line(i.Key), sanitize.Line(i.Why))
		}
		for _, fault := range c.Faults {
			fmt.Fprintf(&b, "  warning: %s\n", sanitize.Line(fault))
		}
	}
	show(&b, s.Hidden, s.Faults)
	return b.String()
}

// show appends faults and overridden definitions.
func show(b *strings.Builder, hidden []Hidden, faults []frontmatter.Fault) {
	for _, h := range hidden {
		fmt.Fprintf(b, "%s  hidden  %s: %s takes precedence\n", sanitize.Line(h.Name), sanitize.Line(h.File.File), sanitize.Line(h.By.File))
	}
	for _, f := range faults {
		fmt.Fprintf(b, "ignored  %s: %s\n", sanitize.Line(f.File), sanitize.Line(f.Text))
	}
}
