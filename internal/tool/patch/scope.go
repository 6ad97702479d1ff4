package patch

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/tool/edit"
)

// scopes returns the lines that match the innermost header; each of them may
// be meant. A header must be in the block of the one before it, unless it
// matches only one line of the file.
func (f *finder) scopes(headers []string, whole bool) ([]int, error) {
	var scopes []int
	for i, header := range headers {
		lines := f.headerLines(header, whole)
		switch inside := f.within(scopes, lines); {
		case len(lines) == 0:
			return nil, fmt.Errorf("no line of the file reads like its header %s: write a line of the file after @@, or @@ alone\n%s",
				quote(header), f.nearest([]string{header}))
		case i == 0 || len(lines) == 1 && lines[0] > scopes[0]:
			scopes = lines
		case len(inside) > 0:
			scopes = inside
		default:
			return nil, fmt.Errorf("its header %s stands at %s, but not in the block of the header %s", quote(header), list(lines), quote(headers[i-1]))
		}
	}
	return scopes, nil
}

// headerLines returns the lines that match a header, at the strictest level
// that matches anywhere. Models omit the indentation of headers, so none
// matches any. They also truncate headers, so as a last resort a header
// matches the beginning of a line, unless whole is set.
func (f *finder) headerLines(header string, whole bool) []int {
	first := edit.LineExact
	if indent(header) == "" {
		first = edit.LineTrimmed
	}
	for l := first; l <= looseLevel; l++ {
		if lines := f.find([]string{header}, l); len(lines) > 0 {
			return lines
		}
	}
	var lines []int
	head := lineKey(header, looseLevel)
	for i := 0; i < f.text.len() && !whole; i++ {
		rest, ok := strings.CutPrefix(lineKey(f.text.line(i), looseLevel), head)
		if next, _ := utf8.DecodeRuneInString(rest); ok && !inWord(next) {
			lines = append(lines, i)
		}
	}
	return lines
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// within returns the places in the block of one of the scopes.
func (f *finder) within(scopes, places []int) []int {
	var inside []int
	for i, scope := range scopes {
		next := f.text.len()
		if i+1 < len(scopes) {
			next = scopes[i+1]
		}
		here := from(places, scope)
		here = here[:len(here)-len(from(here, next))]
		if len(here) > 0 && here[0] <= scope+1 { // the header also serves as a line of the hunk
			inside = append(inside, here[0])
			continue
		}
		deep, flat := f.block(scope, next)
		for _, place := range here {
			if deeper := f.depth(place) > f.depth(scope); deeper && place < deep || !deeper && place < flat {
				inside = append(inside, place)
			}
		}
	}
	return inside
}

// depth returns the length of the indentation of the next line that is not
// blank.
func (f *finder) depth(line int) int {
	for line < f.text.len()-1 && blank(f.text.line(line)) {
		line++
	}
	return len(indent(f.text.line(line)))
}

// block returns where the block of a header ends: deep for lines that are
// indented deeper than the header, flat for others. deep is the next line that
// is not deeper; flat, for text without indentation, the next line that begins
// with the same word as the header: another [section], ## chapter or func.
func (f *finder) block(scope, last int) (deep, flat int) {
	depth, word := f.depth(scope), firstWord(f.text.line(scope))
	deep, flat = last, last
	for i := scope + 1; i < last; i++ {
		line := f.text.line(i)
		if blank(line) || len(indent(line)) > depth {
			continue
		}
		if deep == last && !continues(line) {
			deep = i
		}
		if firstWord(line) == word {
			return deep, i
		}
	}
	return deep, flat
}

// continues reports whether a line that is not deeper than the header does not
// end its block: the rest of the header, or a comment.
func continues(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "{") || strings.HasPrefix(line, ")") || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//")
}

// firstWord returns the letters, or the punctuation, at the beginning of a
// line.
func firstWord(line string) string {
	line = strings.TrimSpace(line)
	first, _ := utf8.DecodeRuneInString(line)
	end := strings.IndexFunc(line, func(r rune) bool { return unicode.IsSpace(r) || inWord(r) != inWord(first) })
	if end < 0 {
		return line
	}
	return line[:end]
}
