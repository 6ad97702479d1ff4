package sanitize

import "unicode"

// The invisible characters that emoji and some scripts need after another character.
const (
	textStyle  = '\ufe0e' // of an emoji
	emojiStyle = '\ufe0f'
	nonJoiner  = '\u200c'
	joiner     = '\u200d'
)

// joining are the scripts that use joiners.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

// invisible reports whether a character is invisible: bidirectional controls,
// zero-width characters, variation selectors, and the plane of the tag characters.
// Other unassigned characters, and those for private use, are drawn as a rectangle.
func invisible(r rune) bool {
	return r >= 0xe0000 && r < 0xf0000 || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// joins reports whether an invisible character belongs to the visible one before it.
// At most one does, so that sequences cannot encode a message.
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

// emoji reports whether a character may be drawn as an emoji.
func emoji(r rune) bool {
	return r >= 0x1f000 && r < 0x1fc00 || r > unicode.MaxASCII && unicode.In(r, unicode.So, unicode.Sm) || r == '‼' || r == '⁉' || r == '〰' || r == '〽'
}
