package rules

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Show formats the rules for golden files.
func (s *Set) Show() string {
	var b strings.Builder
	for _, f := range s.Files {
		fmt.Fprintf(&b, "%s  %s %s  %d bytes", sanitize.Line(f.Origin.File), f.Origin.Layer, f.Origin.Tool, f.Bytes)
		if f.Given != f.Bytes {
			fmt.Fprintf(&b, ", %d used", f.Given)
		}
		b.WriteByte('\n')
	}
	for _, f := range s.Faults {
		fmt.Fprintf(&b, "warning  %s: %s\n", sanitize.Line(f.File), sanitize.Line(f.Text))
	}
	return b.String()
}
