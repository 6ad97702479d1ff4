package mutate

import (
	"slices"
	"strings"
)

var (
	rustTestAttribute = lazy(`^#\[(?:cfg\(test\)|cfg\(all\(test\b.*|(?:\w+::)*test(?:\(.*)?|rstest.*|bench)\]?`)
	vitestBlock       = lazy(`^\s*if\s*\(\s*import\.meta\.vitest\b`)
)

// InlineTests returns the ranges of lines, from 1 and inclusive, that hold tests inside
// a source file: test modules and functions in Rust, doctests in Python, blocks for
// vitest in JavaScript.
func (s *Source) InlineTests() [][2]int {
	switch s.lang.name {
	case "Rust":
		return s.rustTests()
	case "Python":
		return s.doctests()
	case "JavaScript", "TypeScript", "JSX":
		return s.vitestBlocks()
	}
	return nil
}

func (s *Source) rustTests() [][2]int {
	var out [][2]int
	for line := 1; line <= len(s.lines); line++ {
		text := strings.TrimSpace(s.lineText(line))
		if !rustTestAttribute.MatchString(text) || len(out) > 0 && line <= out[len(out)-1][1] || s.classAt(s.lines[line-1]+len(s.indent(line))) == classString {
			continue
		}
		for i := s.first[line]; i < len(s.tokens); i++ {
			if s.is(i, ";") && s.parent[i] < 0 { // #[cfg(test)] mod tests;
				out = append(out, [2]int{line, s.tokens[i].line})
				break
			}
			if s.is(i, "{") {
				if s.match[i] >= 0 {
					out = append(out, [2]int{line, s.tokens[s.match[i]].line})
				}
				break
			}
		}
	}
	return out
}

func (s *Source) doctests() [][2]int {
	var out [][2]int
	for _, part := range s.spans {
		if part.class != classDoc && part.class != classString {
			continue
		}
		start := 0
		last := s.lineOf(part.end - 1)
		for line := s.lineOf(part.start); line <= last; line++ {
			text := strings.TrimSpace(s.lineText(line))
			prompt := strings.HasPrefix(strings.TrimLeft(text, `"'rR`), ">>> ")
			if start == 0 && prompt {
				start = line
			}
			if start > 0 && (text == "" || line == last) {
				end := line
				if text == "" || line == last && strings.Trim(text, `"'`) == "" {
					end--
				}
				out = append(out, [2]int{start, end})
				start = 0
			}
		}
	}
	return slices.Compact(out)
}

func (s *Source) vitestBlocks() [][2]int {
	var out [][2]int
	for line := 1; line <= len(s.lines); line++ {
		if !vitestBlock.MatchString(s.lineText(line)) {
			continue
		}
		for i := s.first[line]; i < len(s.tokens); i++ {
			if s.is(i, "{") {
				if s.match[i] >= 0 {
					out = append(out, [2]int{line, s.tokens[s.match[i]].line})
				}
				break
			}
		}
	}
	return out
}
