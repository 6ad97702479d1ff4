// Package humanize formats numbers, sizes, amounts of money, durations and mission
// events for people.
package humanize

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Number formats a number with separators: 950, 12,345, 1,234,567.
func Number[N int | int64](n N) string {
	if n < 0 {
		return "-" + separated(strconv.FormatInt(int64(n), 10)[1:])
	}
	return separated(strconv.FormatInt(int64(n), 10))
}

// separated inserts separators into digits.
func separated(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Short formats a number in short form: 950, 12.3k, 1.2M, 3B.
func Short(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	text, unit := scaled(float64(n), 1000, 100, "k", "M", "B")
	return text + unit
}

// scaled divides n by base until it is less than base, and returns it with its unit.
// It has one decimal below whole, unless that is 0.
func scaled(n, base, whole float64, units ...string) (text, unit string) {
	for i, unit := range units {
		n /= base
		rounded := math.Round(n*10) / 10
		if rounded >= whole {
			rounded = math.Round(n)
		}
		if rounded < base || i == len(units)-1 {
			return strconv.FormatFloat(rounded, 'f', -1, 64), unit
		}
	}
	return strconv.FormatFloat(n, 'f', 0, 64), ""
}

// Plural formats a count with a noun: "1 file", "2 files", "3 replies", "1,200 lines".
func Plural[N int | int64](n N, noun string) string {
	return Number(n) + " " + Noun(n, noun)
}

// Noun returns the form of a noun for a count of n: "file" for 1, "files" otherwise.
func Noun[N int | int64](n N, noun string) string {
	if n == 1 {
		return noun
	}
	if stem, ok := strings.CutSuffix(noun, "criterion"); ok {
		return stem + "criteria"
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	for _, end := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(noun, end) {
			return noun + "es"
		}
	}
	return noun + "s"
}

// Join joins items in a sentence: "a", "a or b", "a, b or c" with the conjunction "or".
func Join(items []string, conjunction string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return fmt.Sprintf("%s %s %s", strings.Join(items[:last], ", "), conjunction, items[last])
}
