package patch

import (
	"context"
	"fmt"

	"github.com/pawl-dev/pawl/internal/tool/edit"
)

// place is where a hunk matches.
type place struct {
	at    int // the first line of the file that it covers, or before which it inserts
	size  int // number of lines that it covers
	lead  int // how many of them are kept before the first change
	trail int // how many of them are kept after the last change
	level edit.Level
	order bool // it must follow the hunks before it; text appended at the end need not
}

// end returns the line after the last change.
func (p place) end() int { return p.at + p.size - p.trail }

// places finds the place of each hunk. Their changes must be in the order of
// the patch. A hunk that matches several places is refused, unless its headers
// or the hunks around it leave only one of them.
func (f *finder) places(ctx context.Context) ([]place, error) {
	places := make([]place, len(f.hunks))
	starts := make([]int, len(f.hunks)) // the first line at which each may match
	several := make([]bool, len(f.hunks))
	next := 0 // the first line that may still change
	for i := range f.hunks {
		p := f.hunks[i].measure()
		starts[i] = max(next-p.lead, 0)
		spots, l, err := f.spots(ctx, &f.hunks[i], starts[i])
		if err == nil && len(spots) == 0 {
			err = f.missing(i, places[:i], starts[i])
		}
		if err != nil {
			return nil, f.refusal(i, err)
		}
		p.at, p.level = spots[0], l
		if p.order {
			next = p.end()
		}
		places[i], several[i] = p, len(spots) > 1
	}
	if err := f.unique(ctx, places, starts, several); err != nil {
		return nil, err
	}
	last := -1
	for i, p := range places {
		if !p.order {
			continue
		}
		if last >= 0 && p.at < places[last].at+places[last].size {
			return nil, f.refusal(i, overlap(p.at, last, places[last]))
		}
		last = i
	}
	return places, nil
}

// unique refuses ambiguous places. Each hunk is placed as early as possible; a
// hunk that could also be later, with the hunks after it unmoved, is
// ambiguous. That hunks must not overlap resolves nothing here: they may share
// kept lines by mistake.
func (f *finder) unique(ctx context.Context, places []place, starts []int, several []bool) error {
	limit := f.text.len() // no change may be at or after it
	for i := len(places) - 1; i >= 0; i-- {
		p := places[i]
		if several[i] {
			spots, _, err := f.spots(ctx, &f.hunks[i], starts[i])
			if err != nil {
				return f.refusal(i, err)
			}
			spots = spots[:len(spots)-len(from(spots, limit-p.size+p.trail+1))]
			if len(spots) > 1 {
				return f.refusal(i, ambiguous(spots, p.size))
			}
		}
		if p.order {
			limit = p.at + p.lead
		}
	}
	return nil
}

// measure returns the hunk's place without its position.
func (h *Hunk) measure() place {
	p := place{order: len(h.Headers) > 0}
	changed := false
	for _, l := range h.Lines {
		switch l.Kind {
		case Kept:
			p.size++
			p.trail++
		case Removed:
			p.size++
			fallthrough
		case Added:
			if !changed {
				p.lead = p.trail
			}
			changed, p.trail = true, 0
		}
	}
	p.order = p.order || p.size > 0
	return p
}

// spots returns where the hunk matches from a line on, in order, at the
// strictest level that matches anywhere.
func (f *finder) spots(ctx context.Context, h *Hunk, start int) ([]int, edit.Level, error) {
	old := h.old()
	scopes, err := f.scopes(h.Headers, len(old) == 0)
	switch {
	case ctx.Err() != nil:
		return nil, edit.LineExact, ctx.Err()
	case err != nil:
		return nil, edit.LineExact, err
	case len(old) == 0 && (len(scopes) == 0 || h.AtEnd):
		return []int{f.text.len()}, edit.LineExact, nil
	case len(old) == 0:
		spots := make([]int, len(scopes))
		for i, scope := range scopes {
			spots[i] = scope + 1
		}
		return from(spots, start), edit.LineExact, nil
	}
	for l := edit.LineExact; l <= looseLevel; l++ {
		if err := ctx.Err(); err != nil {
			return nil, edit.LineExact, err
		}
		spots := from(f.find(old, l), start)
		if h.AtEnd {
			spots = f.atEnd(spots, len(old))
		}
		if len(scopes) > 0 {
			spots = f.within(scopes, spots)
		}
		if len(spots) > 0 {
			return spots, l, nil
		}
	}
	if len(scopes) == 0 {
		return nil, edit.LineExact, nil
	}
	return f.beyond(old, max(start, scopes[0]), h)
}

// beyond returns where a hunk matches outside the block of its header. The
// header is not reliable then, so the match must be the only one.
func (f *finder) beyond(old []string, start int, h *Hunk) ([]int, edit.Level, error) {
	for l := edit.LineExact; l <= looseLevel; l++ {
		spots := f.find(old, l)
		if len(spots) > 1 {
			return nil, edit.LineExact, fmt.Errorf("its lines stand at %s, but not in the block of its header %s from line %d on", list(spots), quote(h.Headers[len(h.Headers)-1]), start+1)
		}
		if spots = from(spots, start); h.AtEnd {
			spots = f.atEnd(spots, len(old))
		}
		if len(spots) > 0 {
			return spots, l, nil
		}
	}
	return nil, edit.LineExact, nil
}

// atEnd returns the spots after which only blank lines follow.
func (f *finder) atEnd(spots []int, size int) []int {
	last := f.text.len()
	for last > 0 && blank(f.text.line(last-1)) {
		last--
	}
	return from(spots, last-size)
}
