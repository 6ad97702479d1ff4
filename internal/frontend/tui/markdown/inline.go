package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/frontend/tui/layout"
)

// maxLink bounds how far the end of a link is searched, in bytes.
const maxLink = 2000

// inlineParser parses the inline elements of a block.
type inlineParser struct {
	styles *Styles
	sgr    layout.SGR
	src    string
	at     int
	from   int // start of the text that was not emitted yet
	spans  []layout.Span

	bold, italic, strike bool
	unclosed             map[string]bool // delimiters without a closing one
}

// inline returns the spans of a block's text.
func (r *renderer) inline(text string, base layout.SGR) []layout.Span {
	in := &inlineParser{styles: r.styles, sgr: base, src: strings.ReplaceAll(text, "\t", "    "), unclosed: map[string]bool{}}
	for in.at < len(in.src) {
		if !strings.ContainsRune("\\`*_~[!<h", rune(in.src[in.at])) || !in.parseMark() {
			in.at++
		}
	}
	in.flush()
	return in.spans
}

// style returns the current style.
func (in *inlineParser) style() layout.SGR {
	sgr := in.sgr
	if in.bold {
		sgr += layout.Bold
	}
	if in.italic {
		sgr += layout.Italic
	}
	if in.strike {
		sgr += layout.Strike
	}
	return sgr
}

// flush emits the text since the last element.
func (in *inlineParser) flush() {
	if in.from < in.at {
		in.spans = append(in.spans, layout.Span{Text: in.src[in.from:in.at], SGR: in.style()})
	}
	in.from = in.at
}

// skip omits the next n bytes.
func (in *inlineParser) skip(n int) {
	in.flush()
	in.at += n
	in.from = in.at
}

// add emits spans instead of the next n bytes.
func (in *inlineParser) add(n int, spans ...layout.Span) bool {
	in.skip(n)
	in.spans = append(in.spans, spans...)
	return true
}

// parseMark parses an element, if one starts here.
func (in *inlineParser) parseMark() bool {
	rest := in.src[in.at:]
	switch rest[0] {
	case '\\':
		if len(rest) > 1 && rest[1] < utf8.RuneSelf && unicode.IsPunct(rune(rest[1])) {
			in.skip(1)
			in.at++
			return true
		}
	case '`':
		return in.code(rest)
	case '*', '_', '~':
		return in.emphasis(rest)
	case '[':
		return in.link(rest, 0)
	case '!':
		if strings.HasPrefix(rest, "![") {
			return in.link(rest, 1)
		}
	case '<':
		if end := strings.IndexByte(rest[:min(len(rest), maxLink)], '>'); end > 0 && layout.Linkable(rest[1:end]) {
			return in.add(end+1, in.urlSpan(rest[1:end]))
		}
	case 'h':
		return in.bareURL(rest)
	}
	return false
}

func (in *inlineParser) urlSpan(url string) layout.Span {
	return layout.Span{Text: url, SGR: in.styles.link, Link: url}
}

// code parses a code span.
func (in *inlineParser) code(rest string) bool {
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	tick := rest[:n]
	end := -1
	if !in.unclosed[tick] {
		end = strings.Index(rest[n:], tick)
	}
	if end < 0 {
		in.unclosed[tick] = true
		in.at += n
		return true
	}
	text := strings.ReplaceAll(rest[n:n+end], "\n", " ")
	if trimmed := strings.TrimSpace(text); trimmed != "" {
		text = trimmed
	}
	if in.styles.code == "" { // without colors the backticks are kept
		text = "`" + text + "`"
	}
	return in.add(2*n+end, layout.Span{Text: text, SGR: in.sgr + in.styles.code})
}

// emphasis parses bold, italic and strikethrough delimiters. Bold starts even without
// a closing delimiter, which may not have been received yet; italic needs one, because
// a single asterisk is often literal.
func (in *inlineParser) emphasis(rest string) bool {
	before, _ := utf8.DecodeLastRuneInString(in.src[:in.at])
	run := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
	after, _ := utf8.DecodeRuneInString(rest[run:])
	opens := len(rest) > run && !unicode.IsSpace(after) && (in.at == 0 || !word(before) || rest[0] == '*' && run > 1)
	closes := in.at > 0 && !unicode.IsSpace(before) && (rest[0] != '_' || !word(after) || run == len(rest))
	switch {
	case rest[0] == '~' && run == 2 && (in.strike && closes || !in.strike && opens):
		return in.toggle(2, &in.strike)
	case rest[0] != '~' && run >= 2 && run <= 3 && (in.bold && closes || !in.bold && opens):
		if run == 3 {
			in.flush()
			in.italic = !in.italic
		}
		return in.toggle(run, &in.bold)
	case rest[0] != '~' && run == 1 && (in.italic && closes || !in.italic && opens && in.hasCloser(rest)):
		return in.toggle(1, &in.italic)
	}
	in.at += run
	return true
}

func (in *inlineParser) toggle(n int, what *bool) bool {
	in.flush()
	*what = !*what
	in.skip(n)
	return true
}

// hasCloser reports whether a single delimiter has a closing one.
func (in *inlineParser) hasCloser(rest string) bool {
	mark := rest[:1]
	if in.unclosed[mark] {
		return false
	}
	for i := 1; i < len(rest); i++ {
		n := strings.IndexByte(rest[i:], mark[0])
		if n < 0 {
			break
		}
		if i += n; rest[i-1] != ' ' && rest[i-1] != mark[0] && (i+1 == len(rest) || rest[i+1] != mark[0] && (mark == "*" || !word(rune(rest[i+1])))) {
			return true
		}
	}
	in.unclosed[mark] = true
	return false
}

func word(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// link parses a link or an image. The URL is shown after the text, so that the user
// sees where it leads whatever the text says.
func (in *inlineParser) link(rest string, bang int) bool {
	window := rest[:min(len(rest), maxLink)]
	middle := strings.Index(window, "](")
	if middle < 0 || strings.Contains(window[bang+1:middle], "\n\n") {
		return false
	}
	text, target := window[bang+1:middle], window[middle+2:]
	end := closing(target)
	if end < 0 || strings.ContainsAny(text, "[]") && bang == 0 && !strings.HasPrefix(text, "!") {
		return false
	}
	n := middle + 2 + end + 1
	target, _, _ = strings.Cut(strings.TrimSpace(target[:end]), " ")
	target = strings.Trim(target, "<>")
	text = strings.Trim(text, "`")
	if bang == 1 {
		text = "image: " + text
	}
	link := ""
	if layout.Linkable(target) {
		link = target
	}
	if text == target || text == "" {
		return in.add(n, layout.Span{Text: target, SGR: in.styles.link, Link: link})
	}
	return in.add(n, layout.Span{Text: text, SGR: in.styles.link, Link: link}, layout.Span{Text: " (" + target + ")", SGR: in.styles.muted, Link: link})
}

// closing returns the position of the parenthesis that closes a URL, or -1.
func closing(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return i
			}
		case '\n', '[':
			return -1
		}
	}
	return -1
}

// bareURL parses a URL without markup.
func (in *inlineParser) bareURL(rest string) bool {
	if !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") {
		return false
	}
	end := strings.IndexAny(rest[:min(len(rest), maxLink)], " \n<>\"'`*|")
	if end < 0 {
		end = min(len(rest), maxLink)
	}
	url := strings.TrimRight(rest[:end], ".,:;!?_~")
	if strings.Count(url, "(") < strings.Count(url, ")") {
		url = strings.TrimRight(url, ")")
	}
	if !layout.Linkable(url) || strings.HasSuffix(url, "//") {
		return false
	}
	return in.add(len(url), in.urlSpan(url))
}
