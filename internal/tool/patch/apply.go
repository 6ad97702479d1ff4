package patch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/tool/edit"
)

// Apply returns what the hunks make of a file. An error says which hunk has no
// place in it, or more than one, and what to write instead.
//
// Lines that the patch keeps stay as the file spells them, however loosely they
// were found. Added lines end as the ones they replace or follow. The file keeps
// its byte order mark and, where it had no end of line at its end, has none.
// isExact reports whether each hunk was found as it is written.
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
	for _, inOrder := range []bool{true, false} { // what is added at the end comes last, wherever in the patch it stands
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

// builder writes the new file from its beginning to its end.
type builder struct {
	text  *text
	out   strings.Builder
	next  int    // the first line of the old file that is not written yet
	open  bool   // the line written last has no end
	added string // the line written last, if it was added; with its end
}

// hunk writes what is before the hunk, and the hunk.
func (b *builder) hunk(h *Hunk, p place) error {
	b.keep(p.at)
	shift, err := b.shift(h, p)
	if err != nil {
		return err
	}
	var ends []string // of the lines removed last, that the added ones may stand for
	used := 0         // by added lines
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
			end := b.endNear()
			if len(ends) > 0 {
				end = ends[min(used, len(ends)-1)]
			}
			used++
			b.add(text, end)
		}
	}
	return nil
}

// endsAhead are the ends of the lines that are removed after the added ones.
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

// endNear is the end of the line before the one to come, or after it.
func (b *builder) endNear() string {
	switch {
	case b.next > 0:
		return b.text.end(b.next - 1)
	case b.text.len() > 0:
		return b.text.end(0)
	default:
		return "\n"
	}
}

// keep writes the lines of the old file up to one.
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
	if b.added == "" { // it would not be a line at all
		b.added, b.open = b.text.usualEnd(), false
	}
}

// flush writes the added line that is held back.
func (b *builder) flush() {
	b.out.WriteString(b.added)
	b.added = ""
}

// endLine ends the line written last, since another follows.
func (b *builder) endLine() {
	b.flush()
	if b.open {
		b.out.WriteString(b.text.usualEnd())
		b.open = false
	}
}

// finish writes the rest. An added line at the end of a file that had no end
// of line there gets none.
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
