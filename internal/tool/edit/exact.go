package edit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxPlaces = 1 << 20 // matches that one edit replaces
	maxCount  = 100     // matches that are counted for a message, or replaced by a fuzzy pass
)

// exact replaces exact matches of Old. If Old has no CR, the model has copied
// lines that were shown without line ends: then LF in Old also matches CRLF,
// and New gets the line ends of the lines around it. If Old has a CR, both are
// taken literally.
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
			put = strings.TrimRight(put, "\r") // it would become part of the line end
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

// inserter returns a function that returns the replacement for a span. Spans
// must be passed in ascending order.
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
	end, known := "", -1 // the line end at all offsets up to known: a long line can have many matches
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

// find returns the matches of old. With all, they do not overlap, as in a
// replacement from left to right; otherwise overlapping ones count too,
// because each could be meant.
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

// cutsCharacter reports whether a text begins with a combining mark, such as
// an accent, that belongs to the letter before it: "e" does not match in "é",
// however that is encoded.
func cutsCharacter(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return r > 0x7f && unicode.Is(unicode.M, r)
}

// withCRs converts spans of a text with CRLF replaced by LF into spans of the
// original text. A span that ends before a line end does not include its CR.
func withCRs(text string, spans []Span) []Span {
	moved := make([]Span, len(spans))
	crs, next := 0, strings.Index(text, "\r\n") // CRs that were removed so far, and the offset of the next
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
	for i, s := range spans { // in order and without overlap
		moved[i] = Span{to(s.Start), to(s.End)}
	}
	return moved
}
