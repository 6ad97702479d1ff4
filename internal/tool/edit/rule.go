package edit

import (
	"slices"
	"strings"
)

// rule returns a function that converts an indentation of Old to the file's,
// or nil if the pairs follow no rule. The function reports false for an
// indentation that the rule does not determine.
func rule(pairs []indent) func(string) (string, bool) {
	if len(pairs) == 0 {
		return nil
	}
	p := pairs[0]
	// With one level only, less whitespace may mean any outer level: two
	// spaces instead of four, for example, look like a shift by two.
	level := all(pairs, func(i indent) bool { return i.old == p.old })
	outer := func(lead string) bool {
		return level && len(lead) < len(p.old) && strings.Contains(p.old+p.file, " ")
	}
	if more, ok := strings.CutSuffix(p.file, p.old); ok && all(pairs, func(i indent) bool { return i.file == more+i.old }) {
		return func(lead string) (string, bool) {
			known := more == "" || slices.ContainsFunc(pairs, func(i indent) bool { return i.old == lead })
			return more + lead, known || !outer(lead)
		}
	}
	if less, ok := strings.CutSuffix(p.old, p.file); ok && all(pairs, func(i indent) bool { return i.old == less+i.file }) {
		return func(lead string) (string, bool) {
			lead, ok := strings.CutPrefix(lead, less)
			return lead, ok && !outer(less+lead)
		}
	}
	return scale(pairs)
}

// scale returns the rule for a different indentation unit: tabs instead of
// spaces, two spaces instead of four.
func scale(pairs []indent) func(string) (string, bool) {
	var olds, files strings.Builder
	low, high := pairs[0], pairs[0]
	for _, p := range pairs {
		olds.WriteString(p.old)
		files.WriteString(p.file)
		if len(p.old) < len(low.old) {
			low = p
		}
		if len(p.old) > len(high.old) {
			high = p
		}
	}
	if !sameKind(olds.String()) || !sameKind(files.String()) {
		return nil
	}
	level := len(low.old) == len(high.old)
	if level { // assume that no indentation stays none
		low = indent{}
	}
	dx, dy := len(high.old)-len(low.old), len(high.file)-len(low.file)
	if dx == 0 || dy <= 0 || dx%dy != 0 && dy%dx != 0 {
		return nil
	}
	// Two points are always on a line. Other levels are certain only if no
	// indentation maps to none, or with a third point; with one point, if a
	// tab has a usual width. Four spaces for two tabs, for example, are rather
	// a shift.
	width := max(dx/dy, dy/dx)
	sure := len(low.file)*dx == len(low.old)*dy || slices.ContainsFunc(pairs, func(p indent) bool {
		return len(p.old) != len(low.old) && len(p.old) != len(high.old)
	})
	if level {
		sure = width == 4 || width == 8 || width == 2 && high.old[0] == '\t'
	}
	length := func(lead string) (int, bool) {
		n := (len(lead)-len(low.old))*dy + len(low.file)*dx
		return n / dx, n >= 0 && n%dx == 0
	}
	if !all(pairs, func(p indent) bool { n, ok := length(p.old); return ok && n == len(p.file) }) {
		return nil
	}
	fill := high.file[:1]
	return func(lead string) (string, bool) {
		n, ok := length(lead)
		if !ok || !sameKind(lead+high.old[:1]) || !sure && lead != high.old && lead != low.old || level && len(lead) < len(high.old) {
			return "", false
		}
		return strings.Repeat(fill, n), true
	}
}

// sameKind reports whether an indentation is of tabs only or of spaces only.
func sameKind(lead string) bool {
	return strings.Trim(lead, " ") == "" || strings.Trim(lead, "\t") == ""
}

func all(pairs []indent, ok func(indent) bool) bool {
	for _, p := range pairs {
		if !ok(p) {
			return false
		}
	}
	return true
}
