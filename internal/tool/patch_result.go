package tool

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/pawl-dev/pawl"
)

// patchResult describes what a patch has done: a line for each file, and the
// diffs within DiffBytes.
func patchResult(plan []plannedFile) pawl.Result {
	var lines, diffs strings.Builder
	var parts pawl.Parts
	space, left, leftBytes := DiffBytes, 0, 0
	for _, f := range plan {
		fmt.Fprintf(&lines, "%s %s\n", f.letter(), f.name())
		if f.unchanged() {
			continue
		}
		diff := f.diff()
		shown := headOfDiff(diff, space)
		if space > 0 {
			diffs.WriteString(shown)
		} else {
			left++
			leftBytes += len(diff)
		}
		space = max(space-len(shown), 0)
		parts = append(parts, pawl.Patch{Path: f.target(), Diff: shown})
	}
	content := lines.String()
	if diffs.Len() > 0 {
		content += "\n" + diffs.String()
	}
	if left > 0 {
		content += fmt.Sprintf("(the diffs of %d more files, %d bytes, are left out)\n", left, leftBytes)
	}
	return pawl.Result{Content: content, Display: parts}
}

// diff returns a unified diff of the file, with git's header lines for a move.
func (f plannedFile) diff() string {
	from, to := "a/"+strings.TrimPrefix(f.path, "/"), "b/"+strings.TrimPrefix(f.path, "/")
	moved := ""
	switch {
	case f.removed:
		to = "/dev/null"
	case !f.existed:
		from = "/dev/null"
	case f.to != "":
		to = "b/" + strings.TrimPrefix(f.to, "/")
		moved = fmt.Sprintf("rename from %s\nrename to %s\n", f.path, f.to)
	}
	return moved + udiff.Unified(from, to, f.old, f.new)
}

// headOfDiff returns the first lines of a diff that fit, and a note on how
// much was left out.
func headOfDiff(diff string, space int) string {
	if len(diff) <= space {
		return diff
	}
	head := diff[:strings.LastIndexByte(diff[:space], '\n')+1]
	rest := diff[len(head):]
	return head + fmt.Sprintf("(%d more lines of this diff, %d bytes, are left out)\n", strings.Count(rest, "\n"), len(rest))
}
