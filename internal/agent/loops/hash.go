package loops

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
)

// FNV-1a. Steps with equal hashes count as equal: a collision, one in 2^64, costs one needless
// warning.
const (
	seed  uint64 = 14695981039346656037
	prime uint64 = 1099511628211
)

func hashByte(h uint64, b byte) uint64 { return (h ^ uint64(b)) * prime }

func mix(h, v uint64) uint64 {
	for range 8 {
		h = hashByte(h, byte(v))
		v >>= 8
	}
	return h
}

// hashText hashes a text and its length, so that two texts in a row differ from any others with the
// same concatenation.
func hashText[T ~string | ~[]byte](h uint64, text T) uint64 {
	for i := range len(text) {
		h = hashByte(h, text[i])
	}
	return mix(h, uint64(len(text)))
}

func hashCall(c pawl.ToolCall) uint64 {
	return hashText(hashText(seed, c.Name), canonical(c.Input))
}

// canonical returns an input with sorted keys and without spaces. Invalid JSON is returned as it is.
func canonical(input json.RawMessage) []byte {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || dec.More() {
		return input
	}
	sorted, err := json.Marshal(v)
	if err != nil {
		return input
	}
	return sorted
}

// hashResult hashes what the model sees of a result, and the state of the files that it is about: a
// changed file is progress.
func hashResult(h uint64, r pawl.Result) uint64 {
	h = hashWithoutDurations(h, r.Content)
	if r.IsError {
		h = hashByte(h, 1)
	}
	for _, f := range r.Files {
		h = hashText(hashText(h, f.Name), f.Data)
	}
	for _, path := range slices.Sorted(maps.Keys(r.Seen)) {
		h = hashText(hashText(h, path), r.Seen[path])
	}
	return h
}

// hashWithoutDurations hashes a text without the durations in it: how long a command or a test took
// differs each time and means nothing.
func hashWithoutDurations(h uint64, text string) uint64 {
	n := 0
	for i := 0; i < len(text); {
		if c := text[i]; '0' <= c && c <= '9' && (i == 0 || !wordByte(text[i-1])) {
			if size := duration(text[i:]); size > 0 {
				h, i, n = hashByte(h, 0), i+size, n+1
				continue
			}
		}
		h = hashByte(h, text[i])
		i++
		n++
	}
	return mix(h, uint64(n))
}

// wordByte reports whether a byte before a number makes the number part of something else, such as a
// name, a version or an address.
func wordByte(c byte) bool {
	return c == '.' || c == '_' || c == '-' || c == ':' || c >= utf8.RuneSelf || isDigit(c) || isLetter(c)
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// units of a duration; of two with the same beginning, the longer one comes first. A duration must
// end with a unit of seconds, so 5m is none.
var units = []string{"ms", "µs", "us", "ns", "s", "m", "h"}

// duration returns the length of the duration that a text begins with (1.5s, 1m2.25s, 12.0 s), or 0.
func duration(text string) int {
	i := 0
	for i < len(text) && isDigit(text[i]) {
		for i < len(text) && (isDigit(text[i]) || text[i] == '.') {
			i++
		}
		if i < len(text) && text[i] == ' ' {
			i++
		}
		unit := unitAt(text[i:])
		if unit == "" {
			return 0
		}
		i += len(unit)
		if end := i == len(text) || !isLetter(text[i]) && !isDigit(text[i]) && text[i] != '_'; end {
			if unit[len(unit)-1] == 's' {
				return i
			}
			return 0
		}
	}
	return 0
}

func unitAt(text string) string {
	for _, u := range units {
		if len(text) >= len(u) && text[:len(u)] == u {
			return u
		}
	}
	return ""
}
