package patch

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/tool/edit"
)

// refusal adds to an error which hunk it is about.
func (f *finder) refusal(i int, err error) error {
	return fmt.Errorf("hunk %d (line %d of the patch): %w", i+1, f.hunks[i].Line, err)
}

func ambiguous(spots []int, size int) error {
	if size == 0 {
		return fmt.Errorf("its header stands above %s alike: add a line of the file to the hunk, or an @@ line above the header", list(spots))
	}
	return fmt.Errorf("its lines stand at %s alike: add more lines of the file around the change, or @@ and the line that begins the function, class or section", list(spots))
}

func overlap(at, before int, p place) error {
	return fmt.Errorf("its lines, at line %d, overlap those of hunk %d, at line %d: make one hunk of both", at+1, before+1, p.at+1)
}

// list formats line numbers, counted from 1.
func list(lines []int) string {
	const most = 10
	if len(lines) == 1 {
		return fmt.Sprintf("line %d", lines[0]+1)
	}
	var out strings.Builder
	for i, line := range lines[:min(len(lines), most)] {
		switch i {
		case 0:
			out.WriteString("lines ")
		case len(lines) - 1:
			out.WriteString(" and ")
		default:
			out.WriteString(", ")
		}
		fmt.Fprintf(&out, "%d", line+1)
	}
	if len(lines) > most {
		fmt.Fprintf(&out, " and %d more", len(lines)-most)
	}
	return out.String()
}

// missing explains why a hunk matches nowhere from a line on.
func (f *finder) missing(i int, before []place, start int) error {
	h := &f.hunks[i]
	old := h.old()
	if len(old) == 0 {
		return fmt.Errorf("its header %s stands above the hunk before it: put the hunks in the order of the file", quote(h.Headers[len(h.Headers)-1]))
	}
	for l := edit.LineExact; l <= looseLevel; l++ {
		spots := f.find(old, l)
		if len(spots) == 0 {
			continue
		}
		last := spots[len(spots)-1]
		if last >= start {
			if h.AtEnd && len(f.atEnd(spots, len(old))) == 0 {
				return fmt.Errorf("its lines are at line %d, but the file continues to line %d: omit %q", last+1, f.text.len(), eofMark)
			}
			return fmt.Errorf("its lines stand at line %d, before its header %s: write a header that stands above them, or @@ alone", last+1, quote(h.Headers[len(h.Headers)-1]))
		}
		for k, p := range before {
			if p.order && last < p.at+p.size && p.at < last+len(old) {
				return overlap(last, k, p)
			}
		}
		return fmt.Errorf("its lines stand at line %d, above the hunk before it: put the hunks in the order of the file", last+1)
	}
	return fmt.Errorf("its lines are not in the file: read it and copy them exactly\n%s", f.nearest(old))
}
