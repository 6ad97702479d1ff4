package redact

import "strings"

// shape is the format of a kind of secret.
type shape struct {
	mask   string                                 // what replaces it
	prefix string                                 // how it begins: at least two bytes
	match  func(x text, i, j int) (span, verdict) // the prefix is x.s[i:j]
}

// text is a text to search. If last is false, more may follow.
type text struct {
	s    string
	last bool
}

// span is a part of a text.
type span struct{ from, to int }

// verdict tells whether a secret begins at a position.
type verdict int

const (
	no   verdict = iota
	more         // it depends on what follows
	yes
)

// undecided returns the verdict on a match that reaches the end of the text: more, or
// no if nothing follows.
func (t text) undecided() (span, verdict) {
	if t.last {
		return span{}, no
	}
	return span{}, more
}

// table finds shapes. It skips nearly all positions of a text after looking at two
// bytes, so that a search is cheap.
type table struct {
	pairs  [1 << 16]uint8 // the first two bytes of a prefix -> its list, from 1
	lists  [][]shape
	begins [256]bool // the first byte of some prefix
}

func newTable(shapes []shape) *table {
	t := &table{}
	for _, s := range shapes {
		pair := uint16(s.prefix[0])<<8 | uint16(s.prefix[1])
		if t.pairs[pair] == 0 {
			if len(t.lists) == 255 { // more prefixes than expected share the last list
				t.pairs[pair] = 255
			} else {
				t.lists = append(t.lists, nil)
				t.pairs[pair] = uint8(len(t.lists)) //nolint:gosec // at most 255
			}
		}
		list := &t.lists[t.pairs[pair]-1]
		*list = append(*list, s)
		t.begins[s.prefix[0]] = true
	}
	return t
}

// empty reports whether there is nothing to find.
func (t *table) empty() bool { return len(t.lists) == 0 }

// hit is a secret that was found.
type hit struct {
	span
	mask string
}

// find returns the secrets that begin at from or later, and the offset up to which
// the text is decided: its end if x.last is set.
func (t *table) find(x text, from int) (hits []hit, decided int) {
	if t.empty() {
		return nil, len(x.s)
	}
	s := x.s
	for i := from; i+1 < len(s); {
		n := t.pairs[uint16(s[i])<<8|uint16(s[i+1])]
		if n == 0 {
			i++
			continue
		}
		h, v := at(t.lists[n-1], x, i)
		switch v {
		case no:
			i++
		case more:
			return hits, i
		case yes:
			before, _ := t.find(text{s[:h.from], true}, i+1) // e.g. the user of a URL
			hits = append(append(hits, before...), h)
			i = h.to
		}
	}
	if !x.last && len(s) > from && t.begins[s[len(s)-1]] && (len(hits) == 0 || hits[len(hits)-1].to < len(s)) {
		return hits, len(s) - 1
	}
	return hits, len(s)
}

// at returns the secret that begins at i, by the first matching shape.
func at(list []shape, x text, i int) (hit, verdict) {
	for _, shape := range list {
		rest := x.s[i:]
		if !strings.HasPrefix(rest, shape.prefix) {
			if !x.last && strings.HasPrefix(shape.prefix, rest) {
				return hit{}, more
			}
			continue
		}
		switch found, v := shape.match(x, i, i+len(shape.prefix)); v {
		case yes:
			return hit{found, shape.mask}, yes
		case more:
			return hit{}, more
		case no:
		}
	}
	return hit{}, no
}

// mask returns a text with all secrets masked.
func (t *table) mask(s string) string {
	hits, _ := t.find(text{s, true}, 0)
	if len(hits) == 0 {
		return s
	}
	return string(apply(nil, s, 0, len(s), hits))
}

// apply appends s[from:to] with the hits in it masked.
func apply(dst []byte, s string, from, to int, hits []hit) []byte {
	for _, h := range hits {
		dst = append(dst, s[from:h.from]...)
		dst = append(dst, h.mask...)
		from = h.to
	}
	return append(dst, s[from:to]...)
}
