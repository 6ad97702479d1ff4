package permission

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-dev/pawl/internal/security/protect"
)

// commandPattern matches commands by their first words.
type commandPattern struct {
	words []string
	rest  bool // any words may follow, or none
}

// parseCommand parses a pattern: words in shell syntax, quoted where needed, with
// an optional * at the end that matches any further words.
func parseCommand(s string) (commandPattern, error) {
	var p commandPattern
	if err := checkText(s); err != nil {
		return p, err
	}
	if strings.Contains(s, "\n") {
		return p, errors.New("it has more than one line")
	}
	r := wordReader{src: s}
	end := 0
	for w, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).WordsSeq(strings.NewReader(s)) {
		if err != nil {
			return p, fmt.Errorf("it is not a list of words: %w", err)
		}
		if p.rest {
			return p, errors.New("a * is only allowed at the end")
		}
		end = int(w.End().Offset())
		switch read := r.word(w); {
		case read.raw == "*":
			p.rest = true
		case read.glob:
			return p, fmt.Errorf("%s: a * can only stand for all further words; quote it to match a literal *", read.raw)
		case !read.known:
			return p, fmt.Errorf("%s: %s", read.raw, read.doubt)
		default:
			p.words = append(p.words, read.text)
		}
	}
	if strings.TrimSpace(s[end:]) != "" {
		return p, fmt.Errorf("%q is not a word: quote it", strings.TrimSpace(s[end:]))
	}
	return p, nil
}

// quoteCommand returns the pattern that matches exactly these words.
func quoteCommand(words []word) (string, error) {
	quoted := make([]string, len(words))
	for i, w := range words {
		q, err := syntax.Quote(w.text, syntax.LangBash)
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(w.text, "~") && strings.HasPrefix(w.raw, "~") && strings.Trim(w.text, "~/._-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == "" {
			q = w.text // as it is written
		}
		quoted[i] = q
	}
	return strings.Join(quoted, " "), nil
}

// allows reports whether the pattern, in an allow rule, matches a plain segment. A
// * does not cover options that make a program run others or write files.
func (p commandPattern) allows(s Segment) bool {
	if !s.Literal() || len(s.words) < len(p.words) || len(s.words) > len(p.words) && !p.rest {
		return false
	}
	for i, w := range p.words {
		if s.words[i].text != w {
			return false
		}
	}
	return !p.rest || riskyOption(s.words, len(p.words)) == ""
}

// likeness tells how surely a pattern matches a command.
type likeness int

const (
	unlike likeness = iota
	maybe           // a word that matters is not known
	alike
)

// maxSkipped bounds the options that resembles skips.
const maxSkipped = 32

// resembles reports how surely the pattern, in a rule that asks or denies, matches
// a command. It matches generously: the program may be given by a path or in
// another case, and options may precede the words of the pattern.
func (p commandPattern) resembles(words []word) likeness {
	if len(p.words) == 0 {
		return alike
	}
	if len(words) == 0 {
		return unlike
	}
	if !words[0].known {
		return maybe
	}
	if !sameProgram(p.words[0], words[0].text) {
		return unlike
	}
	best := p.args(words[1:])
	for i, rest := 0, words[1:]; i < maxSkipped && best != alike && len(rest) > 0 && isOption(rest[0]); i++ {
		best = max(best, p.args(rest[1:]))
		if len(rest) > 1 {
			best = max(best, p.args(rest[2:])) // the option took a value
		}
		if rest = rest[1:]; len(rest) > 0 && !isOption(rest[0]) {
			rest = rest[1:]
		}
	}
	return best
}

// args compares the words after the program.
func (p commandPattern) args(words []word) likeness {
	for i, w := range p.words[1:] {
		switch {
		case i >= len(words):
			return unlike
		case !words[i].known:
			return maybe
		case abbreviates(words[i].text, w):
			return maybe
		case words[i].text != w:
			return unlike
		}
	}
	if rest := words[len(p.words)-1:]; len(rest) > 0 && !p.rest {
		if !rest[0].known {
			return maybe // it may come to nothing
		}
		return unlike
	}
	return alike
}

// abbreviates reports whether a program may take option for the option long: as
// an abbreviation (--forc) or with a value (--force=x).
func abbreviates(option, long string) bool {
	option, value, inline := strings.Cut(option, "=")
	return strings.HasPrefix(long, "--") && len(option) > 2 && strings.HasPrefix(long, option) && (option != long || inline && value != "")
}

func isOption(w word) bool { return strings.HasPrefix(w.text, "-") }

func sameProgram(a, b string) bool {
	return strings.TrimSuffix(program(a), ".exe") == strings.TrimSuffix(program(b), ".exe")
}

// program returns the name of a program without its path, folded.
func program(name string) string { return protect.FoldName(path.Base(name)) }
