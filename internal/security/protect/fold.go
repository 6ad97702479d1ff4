package protect

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold normalizes a path so that names which any file system treats as equal compare equal. Use it to deny, never to
// allow.
func Fold(p string) string {
	parts := strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == '\\' })
	for i, part := range parts {
		parts[i] = FoldName(part)
	}
	if strings.HasPrefix(p, "/") {
		return "/" + strings.Join(parts, "/")
	}
	return strings.Join(parts, "/")
}

// FoldName folds one name: case, composed characters, the characters that HFS+ ignores, and what Windows drops from
// the end of a name: dots, blanks and streams.
func FoldName(name string) string {
	if name == "." || name == ".." || folded(name) {
		return name
	}
	name = FoldText(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Cc) {
			return -1
		}
		return r
	}, name))
	if i := strings.IndexByte(name, ':'); i > 0 {
		name = name[:i]
	}
	if trimmed := strings.TrimRight(name, ". "); trimmed != "" {
		name = trimmed
	}
	if name == "git~1" { // its short name on Windows
		return ".git"
	}
	return name
}

// folded reports whether a name obviously stays the same: most do.
func folded(name string) bool {
	for i := range len(name) {
		if b := name[i]; b <= ' ' || b >= 0x7f || b == ':' || b >= 'A' && b <= 'Z' {
			return false
		}
	}
	return !strings.HasSuffix(name, ".") && name != "git~1"
}

// FoldText folds only case, composed characters and full-width forms.
func FoldText(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) {
		return strings.ToLower(s)
	}
	return norm.NFKC.String(cases.Fold().String(norm.NFKD.String(s)))
}
