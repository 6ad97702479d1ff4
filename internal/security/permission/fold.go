package permission

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold returns a path as the most forgiving of file systems sees it: names that
// any of them takes for the same come out the same. It is for refusing, never
// for allowing.
func fold(p string) string {
	parts := strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == '\\' })
	for i, part := range parts {
		parts[i] = foldName(part)
	}
	if strings.HasPrefix(p, "/") {
		return "/" + strings.Join(parts, "/")
	}
	return strings.Join(parts, "/")
}

// foldName folds one name: case, composed characters, the characters that HFS+
// does not see, and what Windows drops from a name's end: dots, blanks and streams.
func foldName(name string) string {
	if name == "." || name == ".." {
		return name
	}
	name = foldText(strings.Map(func(r rune) rune {
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

// foldText folds case, and characters that are composed or that look alike but
// for their width, and leaves all else alone.
func foldText(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) {
		return strings.ToLower(s)
	}
	return norm.NFKC.String(cases.Fold().String(norm.NFKD.String(s)))
}
