package trust

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// HashOf returns a hash of a list of words. It includes their lengths, so that
// different lists have different hashes.
func HashOf(words ...string) string {
	h := sha256.New()
	for _, w := range words {
		_ = binary.Write(h, binary.BigEndian, uint64(len(w))) // a hash takes all
		h.Write([]byte(w))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Hash returns a hash of the parts that can run code. It changes when one of them is
// added, removed or changed.
func (p Parts) Hash() string {
	var words []string
	for _, part := range p {
		if part.Executable {
			words = append(words, HashOf(string(part.Kind), part.Path, part.Hash))
		}
	}
	slices.Sort(words)
	return HashOf(words...)
}

// Show returns the text of a trust prompt: every part, by kind, with what it would
// do, sanitized.
func (p Parts) Show() string {
	if len(p) == 0 {
		return "The project has no configuration that needs trust.\n"
	}
	var b strings.Builder
	b.WriteString("If you trust it, Pawl uses:\n")
	for _, part := range p {
		fmt.Fprintf(&b, "  %-12s  %s: %s\n", part.Kind, Quote(part.Path), Quote(part.Does))
	}
	return b.String()
}

// Quote returns a text unchanged if all of its characters are displayed as themselves, otherwise quoted.
func Quote(s string) string {
	odd := func(r rune) bool {
		return !unicode.IsPrint(r) || r > unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	if s == "" || strings.ContainsFunc(s, odd) || strings.ContainsRune(s, unicode.ReplacementChar) {
		return strconv.QuoteToASCII(s)
	}
	return s
}
