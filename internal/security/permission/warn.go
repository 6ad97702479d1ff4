package permission

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxWarnings bounds the words with a warning each.
const maxWarnings = 10

// textWarnings returns warnings about misleading characters in a text.
func textWarnings(text string) []string {
	var warnings []string
	if s := sanitize.FirstStrange(text); s != "" {
		warnings = append(warnings, hiddenWarning(s))
	}
	for _, w := range words(text) {
		if scripts := mixedScripts(w); scripts != "" {
			if len(warnings) == maxWarnings {
				return append(warnings, "More words mix letters.")
			}
			warnings = append(warnings, fmt.Sprintf("%s mixes letters of %s.", sanitize.Line(w), scripts))
		}
	}
	return warnings
}

// twinWarnings returns warnings about words that look like Latin ones but consist
// of letters of other scripts (homoglyphs).
func twinWarnings(text string) []string {
	var warnings []string
	for _, w := range words(text) {
		if twin := latinTwin(w); twin != "" && len(warnings) < maxWarnings {
			warnings = append(warnings, fmt.Sprintf("%s looks like %s, but is different.", sanitize.Line(w), twin))
		}
	}
	return warnings
}

// words splits a text into words.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`/"'=:;|&()<>`, r) })
}

// twins maps letters to the Latin letters that they look like.
var twins = func() map[rune]rune {
	m := map[rune]rune{}
	latin := []rune("aeopcyxsijdlhqwABEKMHOPCTYXSIJaovpikuxABEZHIKMNOPTYX")
	for i, r := range []rune("аеорсухѕіјԁӏһԛԝАВЕКМНОРСТУХЅІЈαονρικυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ") {
		m[r] = latin[i]
	}
	return m
}()

// latinTwin returns the ASCII word that a word of other letters looks like, or "".
// It ignores single letters, which are words in some languages.
func latinTwin(word string) string {
	var b strings.Builder
	foreign := 0
	for _, r := range word {
		twin, ok := twins[r]
		switch {
		case r <= unicode.MaxASCII:
			b.WriteRune(r)
			continue
		case ok:
			b.WriteRune(twin)
		case r >= 0xff01 && r <= 0xff5e || r >= 0x1d400 && r <= 0x1d7ff: // wide, and those of mathematics
			b.WriteString(norm.NFKC.String(string(r)))
		default:
			return ""
		}
		foreign++
	}
	if s := b.String(); foreign > 1 && strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return s
	}
	return ""
}

func hiddenWarning(first string) string {
	return "Contains invisible characters; the first is " + first + "."
}

// hostWarnings returns warnings about a misleading host name.
func hostWarnings(target string) []string {
	h, err := parseHost(target)
	if err != nil {
		return []string{sentence(err.Error())}
	}
	var warnings []string
	if h.userinfo {
		warnings = append(warnings, "Connects to "+h.String()+": the text before the @ is not the host.")
	}
	decoded, err := idna.ToUnicode(h.name)
	if err != nil || decoded == h.name {
		return warnings
	}
	warnings = append(warnings, fmt.Sprintf("%s is displayed as %s.", h.name, sanitize.Line(decoded)))
	for label := range strings.SplitSeq(decoded, ".") {
		if scripts := mixedScripts(label); scripts != "" {
			warnings = append(warnings, fmt.Sprintf("%s mixes letters of %s.", sanitize.Line(label), scripts))
		}
	}
	return warnings
}

// writtenTogether are scripts that one language mixes.
var writtenTogether = []string{"Bopomofo", "Han", "Hangul", "Hiragana", "Katakana"}

// mixedScripts returns the scripts of a word that mixes several, or "".
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
