package search

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// Pattern is a regular expression in Go's RE2 syntax that is matched with each
// line by itself. In a line,
//
//   - ^ and $ match its ends; $ also matches before a carriage return at the end;
//   - no class, including ., matches invalid UTF-8 or U+FFFD, because Go does not
//     distinguish them.
//
// So that both engines agree, a pattern is parsed once and formatted in a way
// that means the same to both, with classes and case folding spelled out.
type Pattern struct {
	line    *regexp.Regexp
	needles []string // each matching line contains one of them; empty if there are no such texts
	plain   bool     // each line that contains a needle matches
	rg      string   // the pattern for ripgrep; "" if it cannot be expressed
}

// Options modify a pattern.
type Options struct {
	Literal    bool // no character is special
	IgnoreCase bool
}

var errLineBreak = errors.New("it has a line break, and lines are searched one by one: search for one of the lines")

// ParsePattern parses a pattern. Its errors say how to correct it.
func ParsePattern(text string, opts Options) (*Pattern, error) {
	if text == "" {
		return nil, errors.New("the pattern is empty")
	}
	flags := syntax.Perl
	if opts.Literal {
		flags = syntax.Literal
	}
	if opts.IgnoreCase {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, explain(err)
	}
	own := form{word: `\b`}
	line, err := regexp.Compile(own.spell(tree))
	if err = cmp.Or(own.err, err); err != nil {
		return nil, fmt.Errorf("the pattern is wrong: %w", err)
	}
	p := &Pattern{line: line, needles: needles(tree)}
	p.plain = len(p.needles) > 0 && tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0
	foreign := form{word: `(?-u:\b)`}
	if text := foreign.spell(tree); !foreign.lacking && len(text) <= rgPatternBytes {
		p.rg = text
	}
	return p, nil
}

// explain says what is wrong with a pattern and how to correct it.
func explain(err error) error {
	var wrong *syntax.Error
	switch {
	case !errors.As(err, &wrong):
		return fmt.Errorf("the pattern is wrong: %w", err)
	case wrong.Code == syntax.ErrInvalidPerlOp || wrong.Code == syntax.ErrInvalidEscape:
		return fmt.Errorf("the pattern is wrong: %s: %s: the syntax is RE2's, without lookaround and back references", wrong.Code, wrong.Expr)
	default:
		return fmt.Errorf(`the pattern is wrong: %s: %s: put a \ before special characters, or set literal`, wrong.Code, wrong.Expr)
	}
}

// noRunes are runes that no class matches: the line break, surrogates (not
// valid in UTF-8) and U+FFFD.
var noRunes = []rune{'\n', '\n', 0xD800, 0xDFFF, utf8.RuneError, utf8.RuneError}

// without returns the ranges of class without those of out. Both are sorted
// pairs of runes.
func without(class, out []rune) []rune {
	var rest []rune
	for i := 0; i < len(class); i += 2 {
		low, high := class[i], class[i+1]
		for j := 0; j < len(out) && low <= high; j += 2 {
			if out[j+1] < low || out[j] > high {
				continue
			}
			if low < out[j] {
				rest = append(rest, low, out[j]-1)
			}
			low = out[j+1] + 1
		}
		if low <= high {
			rest = append(rest, low, high)
		}
	}
	return rest
}

// folds returns a rune and those that differ from it only in case, as a class.
func folds(r rune) []rune {
	class := []rune{r, r}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		class = append(class, other, other)
	}
	return class
}
