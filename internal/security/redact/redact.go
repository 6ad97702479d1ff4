// Package redact masks secrets before they are kept or passed on: the keys that
// pawl itself holds, by their value, and credentials of a known shape, wherever
// they come from. Nothing of a secret is left, only what it was.
package redact

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// leastKnown is how long a value must be to be masked wherever it is found. A
// shorter one is part of too many words.
const leastKnown = 8

// Redactor masks secrets. It may be used by many goroutines at once. The zero
// value, and nil, know no value and mask by shape alone.
type Redactor struct {
	mu     sync.Mutex // held by who adds
	values map[string]string
	tables atomic.Pointer[tables]
}

// tables are what texts are searched with.
type tables struct{ known, all *table }

// patterns are the tables of who knows no value.
var patterns = &tables{known: newTable(nil), all: newTable(shapes)}

func (r *Redactor) table() *tables {
	if r == nil {
		return patterns
	}
	return cmp.Or(r.tables.Load(), patterns)
}

// Add makes a value known: a key that pawl holds. What it is, in a few words,
// is said where it stood. A value of less than 8 bytes is passed over.
func (r *Redactor) Add(what, value string) {
	if value = strings.TrimSpace(value); len(value) < leastKnown {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.values[value]; ok {
		return
	}
	if r.values == nil {
		r.values = map[string]string{}
	}
	r.values[value] = mask(what)
	var known []shape
	for value, mask := range r.values {
		for _, form := range forms(value) {
			known = append(known, shape{mask: mask, prefix: form, match: whole})
		}
	}
	slices.SortFunc(known, func(a, b shape) int { // of two that begin alike the longer one counts
		return cmp.Or(len(b.prefix)-len(a.prefix), strings.Compare(a.prefix, b.prefix))
	})
	r.tables.Store(&tables{known: newTable(known), all: newTable(append(known, shapes...))})
}

// mask is what stands for a secret.
func mask(what string) string {
	word := strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, what)
	return "[redacted: " + cmp.Or(strings.TrimSpace(word), "secret") + "]"
}

// forms are the ways in which a value may be written: as it is, within JSON,
// within a string of JSON that is within JSON, within a URL.
func forms(value string) []string {
	once := quoted(value)
	list := []string{value, once, quoted(once), url.QueryEscape(value), url.PathEscape(value)}
	slices.Sort(list)
	return slices.Compact(list)
}

// quoted is a text as it stands within a string of JSON.
func quoted(s string) string {
	b, _ := json.Marshal(s) // a string has no way to fail
	return string(b[1 : len(b)-1])
}

// Known masks the values that were added.
func (r *Redactor) Known(s string) string { return r.table().known.mask(s) }

// Redact masks the values that were added, and all that has the shape of a
// credential.
func (r *Redactor) Redact(s string) string { return r.table().all.mask(s) }
