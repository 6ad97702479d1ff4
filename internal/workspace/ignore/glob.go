package ignore

import "strings"

// matchPath matches a path with the slash-separated parts of a pattern. A part **
// matches any number of names. It backtracks only to the last **, so the time is
// bounded by the product of the lengths.
func matchPath(parts []string, path string) bool {
	names := strings.Split(path, "/")
	p, n := 0, 0
	retryPart, retryName := 0, -1
	for {
		switch {
		case p < len(parts) && parts[p] == "**":
			p++
			retryPart, retryName = p, n
			continue
		case p == len(parts) && n == len(names):
			return true
		case p < len(parts) && n < len(names) && matchName(parts[p], names[n]):
			p, n = p+1, n+1
			continue
		}
		if retryName < 0 || retryName >= len(names) {
			return false
		}
		retryName++
		p, n = retryPart, retryName
	}
}

// matchName matches one name, which has no slash, with a pattern of *, ?, [classes]
// and \escapes, byte by byte. It backtracks only to the last *.
func matchName(pattern, name string) bool {
	p, n := 0, 0
	retryPattern, retryName := 0, -1
	for {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			p++
			retryPattern, retryName = p, n
			continue
		case p == len(pattern) && n == len(name):
			return true
		case p < len(pattern) && n < len(name):
			if size, ok := matchByte(pattern[p:], name[n]); ok {
				p, n = p+size, n+1
				continue
			}
		}
		if retryName < 0 || retryName >= len(name) {
			return false
		}
		retryName++
		p, n = retryPattern, retryName
	}
}

// matchByte matches a byte with the first element of a pattern and returns the
// length of that element.
func matchByte(pattern string, c byte) (size int, ok bool) {
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return matchClass(pattern, c)
	case '\\':
		if len(pattern) == 1 {
			return 1, false // a trailing backslash never matches
		}
		return 2, pattern[1] == c
	default:
		return 1, pattern[0] == c
	}
}

// matchClass matches a byte with a class such as [a-z_], [!0-9] or [[:alpha:]], and
// returns its length. An unterminated class matches nothing.
func matchClass(pattern string, c byte) (size int, ok bool) {
	i := 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	found := false
	for first := true; ; first = false {
		if i >= len(pattern) {
			return 0, false
		}
		if pattern[i] == ']' && !first {
			return i + 1, found != negated
		}
		if word, ok := strings.CutPrefix(pattern[i:], "[:"); ok {
			word, _, closed := strings.Cut(word, ":]")
			class, known := classes[word]
			if !closed || !known {
				return 0, false
			}
			found = found || class(c)
			i += len("[:" + word + ":]")
			continue
		}
		low, n := classByte(pattern[i:])
		high := low
		i += n
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			high, n = classByte(pattern[i+1:])
			i += 1 + n
		}
		found = found || c == low || low <= c && c <= high
	}
}

// classByte returns the first byte of a class, which may be escaped, and its length
// in the pattern.
func classByte(pattern string) (c byte, size int) {
	if pattern[0] == '\\' && len(pattern) > 1 {
		return pattern[1], 2
	}
	return pattern[0], 1
}

// classes are the POSIX character classes, limited to ASCII.
var classes = map[string]func(byte) bool{
	"alnum":  func(c byte) bool { return letter(c) || digit(c) },
	"alpha":  letter,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7F },
	"digit":  digit,
	"graph":  func(c byte) bool { return c > ' ' && c < 0x7F },
	"lower":  func(c byte) bool { return 'a' <= c && c <= 'z' },
	"print":  func(c byte) bool { return c >= ' ' && c < 0x7F },
	"punct":  func(c byte) bool { return c > ' ' && c < 0x7F && !letter(c) && !digit(c) },
	"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
	"upper":  func(c byte) bool { return 'A' <= c && c <= 'Z' },
	"xdigit": func(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func digit(c byte) bool { return '0' <= c && c <= '9' }
