package mutate

import "strings"

// Same reports whether two versions of a file differ in comments, documentation and white space only. Directives count as
// code, and so does the indentation in languages that have no other mark of a block.
func Same(a, b *Source) bool { return a.lang == b.lang && a.skeleton() == b.skeleton() }

// skeleton returns the text without comments and without white space that means nothing.
func (s *Source) skeleton() string {
	var b strings.Builder
	at := 0
	for _, part := range s.spans {
		b.WriteString(s.text[at:part.start])
		text := s.text[part.start:part.end]
		switch {
		case part.class == classComment && !directiveComment(text), part.class == classDoc && !strings.Contains(text, ">>>"):
			if strings.HasSuffix(text, "\n") {
				b.WriteByte('\n')
			}
		case part.class == classCode:
			b.WriteString(text)
		default: // its white space means something
			b.WriteString(strings.NewReplacer(" ", "\x01", "\t", "\x02").Replace(text))
		}
		at = part.end
	}
	b.WriteString(s.text[at:])
	return s.squeeze(b.String())
}

// directiveComment reports whether a comment means something to a compiler.
func directiveComment(text string) bool {
	return strings.Contains(text, "go:") || strings.Contains(text, "+build") || strings.HasPrefix(text, "//export") || strings.HasPrefix(text, "#!")
}

// squeeze removes white space that means nothing in the language.
func (s *Source) squeeze(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if s.lang.family != familyBrace {
			b.WriteString(line[:len(line)-len(strings.TrimLeft(line, " \t"))])
		}
		b.WriteString(strings.Join(words, " ") + "\n")
	}
	return b.String()
}
