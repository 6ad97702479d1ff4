package acp

import (
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl/internal/transcript"
)

// textStream shows a text of the model while it is streamed.
type textStream struct {
	item    string
	add     func(text string) // adds a piece
	show    func(text string)
	shown   strings.Builder // what was shown and does not belong to a complete text yet
	partial string          // first bytes of an incomplete character
}

var roles = map[transcript.Kind]role{transcript.KindText: roleAgent, transcript.KindReasoning: roleThought}

func newTextStream(item string, mask Mask) *textStream {
	s := &textStream{item: item}
	s.add = mask(s.addMasked)
	return s
}

// addMasked shows text up to its last complete character.
func (s *textStream) addMasked(text string) {
	text = s.partial + text
	end := completeRunes(text)
	text, s.partial = text[:end], text[end:]
	if text != "" {
		s.shown.WriteString(text)
		s.show(text)
	}
}

// completeRunes returns the length of the text without an incomplete last character.
func completeRunes(text string) int {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if utf8.FullRuneInString(text[i:]) {
				return len(text)
			}
			return i
		}
	}
	return len(text)
}

// rest returns the part of a complete text that was not shown. If something else was
// shown, it returns the whole text and false. All texts of a kind in a reply are one
// stream, so what was shown can continue with the next of them.
func (s *textStream) rest(text string) (rest string, ok bool) {
	had := s.shown.String()
	if !strings.HasPrefix(text, had) && !strings.HasPrefix(had, text) {
		const blank = " \t\r\n" // a blank text is streamed, but is no item
		had, text = strings.TrimLeft(had, blank), strings.TrimLeft(text, blank)
	}
	s.shown.Reset()
	switch {
	case strings.HasPrefix(text, had):
		return text[len(had):], true
	case strings.HasPrefix(had, text):
		s.shown.WriteString(had[len(text):])
		return "", true
	default:
		return text, false
	}
}
