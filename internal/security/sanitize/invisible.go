package sanitize

import "unicode"

// joiners are the characters that do not show by themselves and that some
// writing needs after another character.
const (
	textStyle  = '\ufe0e' // of an emoji
	emojiStyle = '\ufe0f'
	nonJoiner  = '\u200c'
	joiner     = '\u200d'
)

// joining are the scripts that spell with joiners.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

// invisible reports whether a character does not show: those that turn the
// direction of the text, that have no width, Unicode's tags, what picks a
// variant, and all of their plane. What else is not in Unicode yet shows as a
// sandbox, and so does private use.
func invisible(r rune) bool {
	return r >= 0xe0000 && r < 0xf0000 || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// joins reports whether a character that does not show belongs to the one that
// was shown before it: one for each, so that no message fits in.
func joins(before, r rune) bool {
	switch r {
	case textStyle, emojiStyle:
		return emoji(before)
	case joiner:
		return emoji(before) || before == emojiStyle || unicode.In(before, joining...)
	case nonJoiner:
		return unicode.In(before, joining...)
	default:
		return false
	}
}

// emoji reports whether a character may be drawn as a picture.
func emoji(r rune) bool {
	return r >= 0x1f000 && r < 0x1fc00 || r > unicode.MaxASCII && unicode.In(r, unicode.So, unicode.Sm) || r == '‼' || r == '⁉' || r == '〰' || r == '〽'
}
