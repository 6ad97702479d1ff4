// Package edit replaces a text within a text, as the edit tool needs it:
// the model writes down from memory what it has read, so the text to replace
// may be slightly wrong. A wrong change is worse than a refusal: whatever is
// in doubt is refused, with the reason.
//
// Two rules hold for every pass but the exact one. What the edit leaves alone
// keeps the file's own bytes, even where Old spells them otherwise. And a
// pass never applies an edit whose whole point is a difference that the pass
// does not see.
package edit

import (
	"errors"
	"fmt"
	"strings"
)

// Edit says what to replace. New is plain text: nothing in it is expanded.
type Edit struct {
	Old, New string

	// All replaces every place instead of the only one. It holds for the passes
	// up to Shifted: the others are too loose to be trusted many times over.
	All bool

	// ExactOnly is set when the file has changed since the model read it: what
	// merely looks like Old may then be something else.
	ExactOnly bool

	// Limit is how many bytes the result may have; 0 means any number.
	Limit int
}

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// Done is a text after an edit.
type Done struct {
	Text  string
	Pass  Pass
	Spans []Span // what was replaced, in the text before, in order
}

const bom = "\ufeff"

// Replace returns text after the edit. An error says, for the model to act on,
// why the edit was refused; nothing is changed then.
func Replace(text string, e Edit) (Done, error) {
	// read does not show a byte order mark: it stays, unless Old spells it out.
	skip := 0
	if !strings.HasPrefix(e.Old, bom) || !strings.Contains(text, e.Old) {
		if strings.HasPrefix(text, bom) || strings.HasPrefix(e.Old, bom) {
			e.New = strings.TrimPrefix(e.New, bom)
		}
		e.Old = strings.TrimPrefix(e.Old, bom)
		skip = len(text) - len(strings.TrimPrefix(text, bom))
	}
	switch e.Old {
	case "":
		return Done{}, errors.New("old is empty: it must be a text of the file")
	case e.New:
		return Done{}, errors.New("old and new are the same: there is nothing to change")
	}
	done, err := replace(text[skip:], e)
	if err != nil {
		if e.ExactOnly {
			err = fmt.Errorf("the file has changed since it was read: read it again (%w)", err)
		}
		return Done{}, err
	}
	done.Text = text[:skip] + done.Text
	for i := range done.Spans {
		done.Spans[i].Start += skip
		done.Spans[i].End += skip
	}
	return done, nil
}

func replace(text string, e Edit) (Done, error) {
	done, found, err := exact(text, e)
	if found || err != nil {
		return done, err
	}
	if e.ExactOnly {
		return Done{}, errors.New("old is not in it")
	}
	e.Old, e.New = unixEnds(e.Old), unixEnds(e.New)
	j := &job{Edit: e, source: split(text)}
	if done, found, err := j.fuzzy(); found || err != nil {
		return done, err
	}
	return Done{}, j.notFound()
}

// job is an edit on its way through the passes. Its lines end with LF only.
type job struct {
	Edit
	source
	spaces *block
}

// place is where a pass would replace. The lines of the file that it covers
// are found anew by insert, which returns what to put there.
type place struct {
	Span
	insert func() (string, error)
}

// apply makes the edit at the places, which are in order.
func (j *job) apply(pass Pass, places []place) (Done, bool, error) {
	switch {
	case len(places) == 0:
		return Done{}, false, nil
	case len(places) > 1 && !j.All:
		var spans []Span
		for _, p := range places {
			spans = append(spans, p.Span)
		}
		return Done{}, false, ambiguous(pass, j.text, spans)
	case len(places) > maxCount:
		return Done{}, false, fmt.Errorf("old is not in the file exactly, and fits more than %d places nearly: copy it exactly to replace them all", maxCount)
	}
	var out strings.Builder
	done := Done{Pass: pass}
	last := 0
	for _, p := range places {
		if p.Start < last {
			return Done{}, false, fmt.Errorf("the places that old fits overlap at line %d: take fewer lines", lineOf(j.text, p.Start))
		}
		text, err := p.insert()
		if err != nil {
			return Done{}, false, err
		}
		if was := j.text[p.Start:p.End]; strings.Count(text, "\ufffd") > strings.Count(was, "\ufffd") && strings.Contains(j.Old, "\ufffd") {
			return Done{}, false, fmt.Errorf("line %d has bytes that are not UTF-8, and new would overwrite them: take an old and a new without the mark \ufffd", lineOf(j.text, p.Start))
		}
		out.WriteString(j.text[last:p.Start])
		out.WriteString(text)
		last = p.End
		done.Spans = append(done.Spans, p.Span)
		if j.Limit > 0 && out.Len() > j.Limit {
			return Done{}, false, tooLarge(out.Len(), j.Limit)
		}
	}
	out.WriteString(j.text[last:])
	done.Text = out.String()
	if j.Limit > 0 && len(done.Text) > j.Limit {
		return Done{}, false, tooLarge(len(done.Text), j.Limit)
	}
	return done, true, nil
}

func tooLarge(size, limit int) error {
	return fmt.Errorf("the file would have %d bytes: more than the %d that can be edited", size, limit)
}
