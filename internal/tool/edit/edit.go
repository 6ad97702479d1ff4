// Package edit implements the text replacement of the edit tool, with exact
// and fuzzy matching: models write the text to replace from memory, so it may
// be slightly wrong. A wrong change is worse than a refusal, so whatever is
// ambiguous is refused, with the reason.
//
// Two rules hold for every fuzzy pass. Text that the edit does not change
// keeps the file's own bytes, even where Old spells it differently. And a pass
// never applies an edit that only changes what the pass ignores.
package edit

import (
	"errors"
	"fmt"
	"strings"
)

// Edit describes a replacement. New is inserted literally.
type Edit struct {
	Old, New string

	// All replaces every match instead of the only one. It applies to the
	// passes up to Shifted: the others are too loose for many replacements.
	All bool

	// ExactOnly disables fuzzy matching. It is set when the file has changed
	// since the model read it: what is similar to Old may then be something
	// else.
	ExactOnly bool

	// Limit is the maximum size of the result in bytes; 0 means no limit.
	Limit int
}

// Span is a byte range of a text.
type Span struct{ Start, End int }

// Done is the result of an edit.
type Done struct {
	Text  string
	Pass  Pass
	Spans []Span // what was replaced, in order, as offsets in the original text
}

const bom = "\ufeff"

// Replace applies an edit to text. An error explains to the model why the edit
// was refused; nothing is changed then.
func Replace(text string, e Edit) (Done, error) {
	// The read tool does not show a byte order mark: keep it, unless Old
	// spells it out.
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

// job is an edit while the fuzzy passes are tried. Old and New have LF line
// ends.
type job struct {
	Edit
	source
	spaces *block
}

// place is a match of a pass. insert returns the text to put there.
type place struct {
	Span
	insert func() (string, error)
}

// apply makes the edit at the places, which are in ascending order.
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
