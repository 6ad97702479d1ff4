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

// HashOf returns a hash of words in their order. Each counts with its length, so
// no two lists of words have the same.
func HashOf(words ...string) string {
	h := sha256.New()
	for _, w := range words {
		_ = binary.Write(h, binary.BigEndian, uint64(len(w))) // a hash takes all
		h.Write([]byte(w))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Hash returns a hash of the parts that can get something run. It changes when
// one of them does, comes or goes.
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

// Show is the text that a person decides by: every part, by kind, with what it
// would do. What would not show as itself is escaped.
func (p Parts) Show() string {
	if len(p) == 0 {
		return "It brings nothing that pawl would act upon.\n"
	}
	var b strings.Builder
	b.WriteString("It would enable:\n")
	for _, part := range p {
		fmt.Fprintf(&b, "  %-12s  %s: %s\n", part.Kind, Plain(part.Path), Plain(part.Does))
	}
	return b.String()
}

// Plain returns a text as it is if each character shows as itself, or quoted.
func Plain(s string) string {
	odd := func(r rune) bool {
		return !unicode.IsPrint(r) || r > unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	if s == "" || strings.ContainsFunc(s, odd) || strings.ContainsRune(s, unicode.ReplacementChar) {
		return strconv.QuoteToASCII(s)
	}
	return s
}
