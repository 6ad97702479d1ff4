package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// ShowChanges returns the text of the prompt that asks whether to apply the changes of a
// command, or to install skills, in the form of [Show].
func ShowChanges(c Call, v Verdict, changes toolapi.Changes) string {
	var b strings.Builder
	if slices.ContainsFunc(c.Access, func(a pawl.Access) bool { return a.Kind == pawl.AccessSkill }) {
		b.WriteString("Install skills?\n")
		for _, a := range c.Access {
			fmt.Fprintf(&b, "  | %s\n", sanitize.Line(a.Target))
		}
		showReasons(&b, v)
	} else {
		b.WriteString("Apply the changes of this command?\n")
	}
	shown := map[string]bool{}
	for _, a := range c.Access {
		if a.Kind == pawl.AccessExec {
			showAccess(&b, a, shown)
		}
	}
	b.WriteString(sanitize.Line(changes.Summary) + "\n")
	showLines(&b, changes.Files)
	if len(changes.Refused) > 0 {
		b.WriteString("Not applied in any case\n")
		showLines(&b, changes.Refused)
	}
	if changes.Diff != "" {
		showChange(&b, changes.Diff)
	}
	showOffer(&b, v)
	return b.String()
}

func showLines(b *strings.Builder, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(b, "  | %s\n", sanitize.Line(line))
	}
}
