package permission

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// maxWarnings bounds the words that are warned of, one by one.
const maxWarnings = 10

// textWarnings says what in a text may deceive the eye.
func textWarnings(text string) []string {
	var warnings []string
	if s := firstStrange(text); s != "" {
		warnings = append(warnings, hiddenWarning(s))
	}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`/"'=:;|&()<>`, r) }) {
		if scripts := mixedScripts(w); scripts != "" {
			if len(warnings) == maxWarnings {
				return append(warnings, "and more of the kind")
			}
			warnings = append(warnings, fmt.Sprintf("%s mixes letters of %s", escape(w), scripts))
		}
	}
	return warnings
}

func hiddenWarning(first string) string {
	return "it holds characters that do not show, the first is " + first
}

// hostWarnings says what a host's name hides.
func hostWarnings(target string) []string {
	h, err := parseHost(target)
	if err != nil {
		return []string{err.Error()}
	}
	var warnings []string
	if h.userinfo {
		warnings = append(warnings, "it leads to "+h.String()+": what stands before the @ is no host")
	}
	decoded, err := idna.ToUnicode(h.name)
	if err != nil || decoded == h.name {
		return warnings
	}
	warnings = append(warnings, fmt.Sprintf("it is %s, which reads as %s", h.name, escape(decoded)))
	for label := range strings.SplitSeq(decoded, ".") {
		if scripts := mixedScripts(label); scripts != "" {
			warnings = append(warnings, fmt.Sprintf("%s mixes letters of %s", escape(label), scripts))
		}
	}
	return warnings
}

// writtenTogether are scripts that one language uses side by side.
var writtenTogether = []string{"Bopomofo", "Han", "Hangul", "Hiragana", "Katakana"}

// mixedScripts names the scripts of a word if it has letters of several that
// look alike; or "".
func mixedScripts(word string) string {
	var found []string
	for _, r := range word {
		if r < unicode.MaxASCII && !unicode.IsLetter(r) {
			continue
		}
		if s := scriptOf(r); s != "" && !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	foreign := slices.DeleteFunc(slices.Clone(found), func(s string) bool { return slices.Contains(writtenTogether, s) })
	if len(foreign) < 2 {
		return ""
	}
	slices.Sort(found)
	return strings.Join(found, " and ")
}

func scriptOf(r rune) string {
	if r <= unicode.MaxASCII {
		return "Latin"
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) && name != "Common" && name != "Inherited" {
			return name
		}
	}
	return ""
}
