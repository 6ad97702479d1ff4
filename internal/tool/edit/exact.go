package edit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxPlaces = 1 << 20 // that one edit replaces
	maxCount  = 100     // places that are counted to tell the model, or replaced in a pass that is not exact
)

// exact replaces what is there as Old says. Old without a CR was copied from
// lines shown without their ends: then LF in it stands for the end that the
// file has, and New gets the ends of the lines around it. Old with a CR means
// each byte, and so does New.
func exact(text string, e Edit) (Done, bool, error) {
	literal := strings.Contains(e.Old, "\r")
	crlf := !literal && strings.Contains(text, "\r\n")
	hay := text
	if crlf && strings.Contains(e.Old, "\n") {
		hay = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if !literal {
		e.New = unixEnds(e.New)
	}
	if e.All && e.Limit > 0 {
		if size := len(text) + strings.Count(hay, e.Old)*(len(e.New)-len(e.Old)); size > e.Limit {
			return Done{}, false, tooLarge(size, e.Limit)
		}
	}
	hits := find(hay, e.Old, e.All)
	switch {
	case len(hits) == 0:
		return Done{}, false, nil
	case len(hits) > 1 && !e.All:
		return Done{}, false, ambiguous(Exact, hay, hits)
	case len(hits) > maxPlaces:
		return Done{}, false, fmt.Errorf("old was found more than %d times: too often for one edit", maxPlaces)
	}
	if len(hay) != len(text) {
		hits = withCRs(text, hits)
	}
	insert := inserter(text, e, crlf)
	var out strings.Builder
	last := 0
	for _, s := range hits {
		put := insert(s)
		if rest := text[s.End:]; !literal && (strings.HasPrefix(rest, "\n") || strings.HasPrefix(rest, "\r\n")) {
			put = strings.TrimRight(put, "\r") // it would join the line end
		}
		out.WriteString(text[last:s.Start])
		out.WriteString(put)
		last = s.End
		if e.Limit > 0 && out.Len() > e.Limit {
			return Done{}, false, tooLarge(out.Len(), e.Limit)
		}
	}
	out.WriteString(text[last:])
	if e.Limit > 0 && out.Len() > e.Limit {
		return Done{}, false, tooLarge(out.Len(), e.Limit)
	}
	return Done{Text: out.String(), Pass: Exact, Spans: hits}, true, nil
}

// inserter returns what says what to put at a span, for spans in order.
func inserter(text string, e Edit, crlf bool) func(Span) string {
	switch {
	case !crlf || !strings.Contains(e.Old+e.New, "\n"):
		return func(Span) string { return e.New }
	case strings.Contains(e.Old, "\n"):
		m := newMerger(e.Old, e.New)
		return func(s Span) string {
			put, _ := m.join(linesIn(text, s), endAt(text, s.End))
			return put
		}
	}
	lf, cr := e.New, strings.ReplaceAll(e.New, "\n", "\r\n")
	end, known := "", -1 // of all places up to known: many can be in one long line
	return func(s Span) string {
		if s.End > known {
			end, known = endAt(text, s.End), s.End+max(0, strings.IndexByte(text[s.End:], '\n'))
		}
		if end == "\r\n" {
			return cr
		}
		return lf
	}
}

// find returns where old is: for all, those that a reader from the left would
// replace; otherwise overlapping ones too, because each could be the one meant.
func find(text, old string, all bool) []Span {
	var hits []Span
	step, most := 1, maxCount
	if all {
		step, most = len(old), maxPlaces
	}
	for at := 0; len(hits) <= most; {
		n := strings.Index(text[at:], old)
		if n < 0 {
			break
		}
		at += n
		if cutsCharacter(text[at+len(old):]) {
			at++
			continue
		}
		hits = append(hits, Span{at, at + len(old)})
		at += step
	}
	return hits
}

// cutsCharacter reports whether a text begins with an accent, say, that belongs
// to the letter before it: "e" is not in "é", however that is encoded.
func cutsCharacter(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return r > 0x7f && unicode.Is(unicode.M, r)
}

// withCRs turns spans of a text whose CRLFs were made LF into spans of the
// text itself. A span that ends before a line end does not take its CR.
func withCRs(text string, spans []Span) []Span {
	moved := make([]Span, len(spans))
	crs, next := 0, strings.Index(text, "\r\n") // CRs that were left out so far, and where the next one is
	to := func(want int) int {
		for next >= 0 && next < want+crs {
			crs++
			n := strings.Index(text[next+2:], "\r\n")
			if n < 0 {
				next = -1
				break
			}
			next += n + 2
		}
		return want + crs
	}
	for i, s := range spans { // in order, and none overlaps another
		moved[i] = Span{to(s.Start), to(s.End)}
	}
	return moved
}
