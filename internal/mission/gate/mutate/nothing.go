package mutate

// noOperation are statements that do nothing, by language.
var noOperation = map[string]string{
	"Go": "_ = 0", "Python": "pass", "JavaScript": "void 0;", "TypeScript": "void 0;", "JSX": "void 0;", "Rust": "let _ = 0;",
	"C": ";", "C++": ";", "Java": ";", "C#": ";", "PHP": ";", "Perl": ";", "Ruby": "nil", "Shell": ":", "Lua": "do end", "Kotlin": "Unit", "Swift": "_ = 0",
}

// Nothing returns the text with a statement before the line that does nothing, or false where a statement cannot stand.
func (s *Source) Nothing(line int) ([]byte, bool) {
	statement, ok := noOperation[s.Language()]
	if _, can := s.Crash(line); !ok || !can {
		return nil, false
	}
	at := s.lines[line-1]
	return s.splice(at, at, s.indent(line)+statement+s.lineBreak()), true
}
