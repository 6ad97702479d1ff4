package permission

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold normalizes a path so that names which any file system treats as equal
// compare equal. Use it to deny, never to allow.
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
// ignores, and what Windows drops from the end of a name: dots, blanks and streams.
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

// foldText folds case, composed characters and full-width forms only.
func foldText(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) {
		return strings.ToLower(s)
	}
	return norm.NFKC.String(cases.Fold().String(norm.NFKD.String(s)))
}
