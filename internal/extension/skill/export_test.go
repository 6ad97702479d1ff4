package skill

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Show formats the set for golden files: the skills and their origins, overridden skills, and problems.
func (s *Set) Show() string {
	var b strings.Builder
	for _, k := range s.Skills {
		fmt.Fprintf(&b, "%s  %s %s  %s\n", sanitize.Line(k.Name), k.Origin.Layer, k.Origin.Tool, sanitize.Line(k.Origin.File))
		for _, fault := range k.Faults {
			fmt.Fprintf(&b, "  warning: %s\n", sanitize.Line(fault))
		}
	}
	for _, h := range s.Hidden {
		fmt.Fprintf(&b, "%s  hidden  %s: %s takes precedence\n", sanitize.Line(h.Name), sanitize.Line(h.File.File), sanitize.Line(h.By.File))
	}
	for _, f := range s.Faults {
		fmt.Fprintf(&b, "ignored  %s: %s\n", sanitize.Line(f.File), sanitize.Line(f.Text))
	}
	return b.String()
}
