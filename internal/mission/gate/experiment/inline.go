package experiment

import (
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/mission/gate/mutate"
)

// swapInline returns a file with the product code of one version and the inline tests of another. It returns false if
// neither has inline tests, or if their tests are the same.
func swapInline(path string, code, tests []byte) ([]byte, bool) {
	a, ok := mutate.Parse(path, code)
	if !ok {
		return nil, false
	}
	b, ok := mutate.Parse(path, tests)
	if !ok || a.Language() != "Rust" {
		return nil, false
	}
	own, other := a.InlineTests(), b.InlineTests()
	if len(own) == 0 && len(other) == 0 || pick(code, own, true) == pick(tests, other, true) {
		return nil, false
	}
	return []byte(pick(code, own, false) + "\n" + pick(tests, other, true)), true
}

// pick returns the lines of a text that are in the ranges, or those that are not.
func pick(text []byte, ranges [][2]int, in bool) string {
	var b strings.Builder
	for i, line := range lines(text) {
		within := slices.ContainsFunc(ranges, func(r [2]int) bool { return r[0] <= i+1 && i+1 <= r[1] })
		if within == in {
			b.WriteString(line)
		}
	}
	return b.String()
}
