package patch

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl/internal/tool/edit"
)

// The limits of an error message.
const (
	nearestBytes = 2000
	nearestChars = 160 // of a line
	nearestLines = 64  // lines of a hunk that are compared
)

// nearest formats the lines of the file that are most similar to those of a
// hunk.
func (f *finder) nearest(lines []string) string {
	if f.text.len() == 0 {
		return "The file is empty."
	}
	at, ok := f.nearestAt(lines)
	if !ok {
		return "No line of the file is like them."
	}
	file := make([]string, 0, len(lines))
	for i := at; i < min(at+len(lines), f.text.len()); i++ {
		file = append(file, f.text.line(i))
	}
	return "The nearest lines:\n" + compare(lines, file, at)
}

// nearestAt returns the line of the file at which the lines of a hunk would
// start.
func (f *finder) nearestAt(lines []string) (int, bool) {
	keys := lineKeys(lines[:min(len(lines), nearestLines)], edit.LineSpaced)
	line := func(i int) string { return lineKey(f.text.line(i), edit.LineSpaced) }
	at, ok := edit.NewIndex(keys, f.text.len(), line).Nearest(keys, line)
	return max(at, 0), ok
}

// compare formats lines of the patch and of the file from the first difference
// on. at is the index of the file's first line.
func compare(patch, file []string, at int) string {
	var out strings.Builder
	first := 0
	for first < len(file) && first < len(patch) && patch[first] == file[first] {
		first++
	}
	first = max(first-1, 0)
	for i := first; i < len(patch); i++ {
		var entry string
		switch {
		case i >= len(file):
			entry = fmt.Sprintf("  the file ends here; the patch has  %s\n", show(patch[i]))
		case file[i] == patch[i]:
			entry = fmt.Sprintf("%6d  %s\n", at+i+1, show(file[i]))
		default:
			entry = fmt.Sprintf("%6d  %s\n        but the patch has (%s)\n        %s\n", at+i+1, show(file[i]), why(patch[i], file[i]), show(patch[i]))
		}
		if out.Len()+len(entry) > nearestBytes {
			out.WriteString("        …\n")
			break
		}
		out.WriteString(entry)
		if i >= len(file) {
			break
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// show formats a line, truncated, with invisible characters spelled out.
func show(line string) string {
	return strings.NewReplacer("\r", `\r`, "\u00a0", `\u00a0`, bom, `\ufeff`).Replace(strings.ToValidUTF8(begin(line, nearestChars), "\uFFFD"))
}

// why describes how a line of the patch differs from one of the file.
func why(patch, file string) string {
	switch {
	case strings.TrimRightFunc(patch, unicode.IsSpace) == strings.TrimRightFunc(file, unicode.IsSpace):
		return "another space at the end"
	case strings.TrimSpace(patch) == strings.TrimSpace(file):
		return "another indentation"
	case lineKey(patch, looseLevel) == lineKey(file, looseLevel):
		return "other quotes, dashes or spaces"
	case strings.EqualFold(strings.TrimSpace(patch), strings.TrimSpace(file)):
		return "other upper and lower case"
	case strings.Join(strings.Fields(patch), "") == strings.Join(strings.Fields(file), ""):
		return "other spaces within the line"
	default:
		return "another text"
	}
}
