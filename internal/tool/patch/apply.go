package patch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/tool/edit"
)

// Apply applies hunks to the text of a file. An error names the hunk that
// matches nowhere or in several places and says what to write instead.
//
// Lines that the patch keeps stay as the file spells them, however loosely
// they matched. Added lines get the line ends of those that they replace or
// follow. The file keeps its byte order mark and a missing line end at its
// end. isExact reports whether each hunk matched exactly.
func Apply(ctx context.Context, file string, hunks []Hunk) (result string, isExact bool, err error) {
	t := cut(file)
	if t.bom != "" {
		hunks = unmarked(hunks)
	}
	f := newFinder(t, hunks)
	places, err := f.places(ctx)
	if err != nil {
		return "", false, err
	}
	isExact = !slices.ContainsFunc(places, func(p place) bool { return p.level != edit.LineExact })
	b := builder{text: t}
	for _, inOrder := range []bool{true, false} { // text to append at the end comes last, wherever it is in the patch
		for i := range hunks {
			if places[i].order != inOrder {
				continue
			}
			if err := b.hunk(&hunks[i], places[i]); err != nil {
				return "", false, f.refusal(i, err)
			}
		}
	}
	return b.finish(), isExact, nil
}

// builder writes the new file from beginning to end.
type builder struct {
	text  *text
	out   strings.Builder
	next  int    // the first line of the old file that is not written yet
	open  bool   // the last line written has no line end
	added string // the last line written, with its end, if it was added
}

// hunk writes the lines before the hunk, and the hunk.
func (b *builder) hunk(h *Hunk, p place) error {
	b.keep(p.at)
	shift, err := b.shift(h, p)
	if err != nil {
		return err
	}
	var ends []string // line ends of the removed lines that the added ones replace
	used := 0         // number of ends used by added lines
	for i, l := range h.Lines {
		switch l.Kind {
		case Kept:
			b.keep(b.next + 1)
			ends, used = nil, 0
		case Removed:
			if used > 0 {
				ends, used = nil, 0
			}
			ends = append(ends, b.text.end(b.next))
			b.next++
		case Added:
			text, ok := shift.apply(l.Text)
			if !ok {
				return fmt.Errorf("its lines are indented differently in the file, and %s cannot be indented like them: copy the file's indentation", quote(l.Text))
			}
			if used == 0 && len(ends) == 0 {
				ends = b.endsAhead(h.Lines[i:])
			}
			end := b.neighborEnd()
			if len(ends) > 0 {
				end = ends[min(used, len(ends)-1)]
			}
			used++
			b.add(text, end)
		}
	}
	return nil
}

// endsAhead returns the ends of the lines that are removed after the added
// ones.
func (b *builder) endsAhead(lines []Line) []string {
	var ends []string
	for _, l := range lines {
		if l.Kind == Kept {
			break
		}
		if l.Kind == Removed {
			ends = append(ends, b.text.end(b.next+len(ends)))
		}
	}
	return ends
}

// neighborEnd returns the line end of the line before the next one or, at the
// beginning, of the first line.
func (b *builder) neighborEnd() string {
	switch {
	case b.next > 0:
		return b.text.end(b.next - 1)
	case b.text.len() > 0:
		return b.text.end(0)
	default:
		return "\n"
	}
}

// keep copies the lines of the old file up to the given one.
func (b *builder) keep(to int) {
	if to <= b.next {
		return
	}
	b.endLine()
	b.out.WriteString(b.text.raw(b.next, to))
	b.open = b.text.end(to-1) == ""
	b.added, b.next = "", to
}

func (b *builder) add(text, end string) {
	b.endLine()
	if plain, ok := strings.CutSuffix(text, "\r"); ok {
		text, end = plain, "\r\n"
	}
	b.flush()
	b.added, b.open = text+end, end == ""
	if b.added == "" { // an empty line without an end would not be a line
		b.added, b.open = b.text.usualEnd(), false
	}
}

// flush writes the pending added line.
func (b *builder) flush() {
	b.out.WriteString(b.added)
	b.added = ""
}

// endLine adds a missing end to the last line written, because another
// follows.
func (b *builder) endLine() {
	b.flush()
	if b.open {
		b.out.WriteString(b.text.usualEnd())
		b.open = false
	}
}

// finish writes the rest. If the file had no line end at its end, an added
// last line gets none.
func (b *builder) finish() string {
	n := b.text.len()
	b.keep(n)
	if n > 0 && b.text.end(n-1) == "" {
		if text := strings.TrimSuffix(b.added, lineEnd(b.added)); text != "" {
			b.added = text
		}
	}
	b.flush()
	return b.text.bom + b.out.String()
}

// shift returns how to indent the lines that the hunk adds.
func (b *builder) shift(h *Hunk, p place) (shift, error) {
	if p.level < edit.LineTrimmed {
		return shift{}, nil
	}
	old := h.old()
	file := make([]string, len(old))
	for i := range old {
		file[i] = b.text.line(p.at + i)
	}
	s, ok := findShift(old, file)
	if ok {
		return s, nil
	}
	for _, l := range h.Lines {
		if l.Kind == Added && !blank(l.Text) {
			return s, fmt.Errorf("its lines, at line %d, are indented differently in the file, and not all in the same way: copy the file's indentation\n%s",
				p.at+1, compare(old, file, p.at))
		}
	}
	return s, nil
}
