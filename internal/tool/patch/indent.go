package patch

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/tool/edit"
)

// shift converts the indentation of a patch to that of the file. All lines
// that both have must differ in the same way.
type shift struct {
	cut, add string // removed from and added to the beginning of each line
	width    int    // if not 0, the number of spaces for one tab
	spaces   bool   // the file is indented with spaces
}

// findShift derives the shift from lines of the patch and the corresponding
// lines of the file. It reports false if they do not all differ in the same
// way.
func findShift(patch, file []string) (shift, bool) {
	var from, to []string
	for i := range patch {
		if !blank(patch[i]) && !blank(file[i]) {
			from = append(from, edit.Fold(indent(patch[i])))
			to = append(to, edit.Fold(indent(file[i])))
		}
	}
	if len(from) == 0 {
		return shift{}, true
	}
	for _, s := range []shift{
		{},
		{add: strings.TrimSuffix(to[0], from[0])},
		{cut: strings.TrimSuffix(from[0], to[0])},
		{width: tabWidth(from, to)},
		{width: tabWidth(to, from), spaces: true},
	} {
		if s.fits(from, to) {
			return s, true
		}
	}
	return shift{}, false
}

// tabWidth returns the number of spaces per tab in the first line that is
// indented.
func tabWidth(spaces, tabs []string) int {
	for i := range tabs {
		if tabs[i] != "" {
			return len(spaces[i]) / len(tabs[i])
		}
	}
	return 0
}

func (s shift) fits(from, to []string) bool {
	for i := range from {
		if got, ok := s.apply(from[i] + "x"); !ok || got != to[i]+"x" {
			return false
		}
	}
	return true
}

// apply indents a line of the patch as the file is. It reports false if the
// line is not indented like the lines the shift was derived from.
func (s shift) apply(line string) (string, bool) {
	if blank(line) {
		return line, true
	}
	space := indent(line)
	rest := line[len(space):]
	switch {
	case s.width > 0 && s.spaces:
		if strings.Trim(space, "\t") != "" {
			return "", false
		}
		return strings.Repeat(" ", s.width*len(space)) + rest, true
	case s.width > 0:
		if strings.Trim(space, " ") != "" || len(space)%s.width != 0 {
			return "", false
		}
		return strings.Repeat("\t", len(space)/s.width) + rest, true
	case !strings.HasPrefix(space, s.cut):
		return "", false
	}
	return s.add + strings.TrimPrefix(space, s.cut) + rest, true
}
