// Package redact masks secrets before texts are stored or passed on: the keys that
// pawl itself uses, by their values, and credentials of known formats. A mask tells
// the kind of the secret, and nothing of its value.
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

// leastKnown is the minimum length of a value to mask everywhere. Shorter values are
// part of too many words.
const leastKnown = 8

// Redactor masks secrets. It is safe for concurrent use. The zero value, and nil,
// have no values and mask known formats only.
type Redactor struct {
	mu     sync.Mutex // held while adding
	values map[string]string
	tables atomic.Pointer[tables]
}

// tables are search tables: of added values only, and with the known formats.
type tables struct{ known, all *table }

// patterns are the tables without values.
var patterns = &tables{known: newTable(nil), all: newTable(shapes)}

func (r *Redactor) table() *tables {
	if r == nil {
		return patterns
	}
	return cmp.Or(r.tables.Load(), patterns)
}

// Add adds a value to mask, such as a key. The mask contains what, a description in a
// few words. Values of less than 8 bytes are ignored.
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
	slices.SortFunc(known, func(a, b shape) int { // the longer of two with the same prefix wins
		return cmp.Or(len(b.prefix)-len(a.prefix), strings.Compare(a.prefix, b.prefix))
	})
	r.tables.Store(&tables{known: newTable(known), all: newTable(append(known, shapes...))})
}

// mask returns the text that replaces a secret.
func mask(what string) string {
	word := strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, what)
	return "[redacted: " + cmp.Or(strings.TrimSpace(word), "secret") + "]"
}

// forms returns the spellings of a value: as it is, in JSON, in JSON within a JSON
// string, and in a URL.
func forms(value string) []string {
	once := quoted(value)
	list := []string{value, once, quoted(once), url.QueryEscape(value), url.PathEscape(value)}
	slices.Sort(list)
	return slices.Compact(list)
}

// quoted returns a text as it is spelled within a JSON string.
func quoted(s string) string {
	b, _ := json.Marshal(s) // encoding a string cannot fail
	return string(b[1 : len(b)-1])
}

// Known masks the added values.
func (r *Redactor) Known(s string) string { return r.table().known.mask(s) }

// Redact masks the added values and credentials of known formats.
func (r *Redactor) Redact(s string) string { return r.table().all.mask(s) }
