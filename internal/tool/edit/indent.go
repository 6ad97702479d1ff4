package edit

import (
	"errors"
	"slices"
)

// errIndent means that the indentation of New in the file is ambiguous.
var errIndent = errors.New("old is not in the file exactly, and the indentation for new cannot be determined")

// shift converts the indentation of Old to that of the file. nil changes
// nothing.
type shift struct {
	pairs []indent // of the first line with text, then each distinct pair of the others
	rule  func(lead string) (string, bool)

	// table maps indentations if there is no rule. It is lost if one
	// indentation of Old corresponds to several of the file.
	table map[string]string
	lost  bool

	// known is the set of indentations that the result may have, or nil for
	// any. It is set if lines of Old and of the file do not correspond one to
	// one, so that a rule is less certain.
	known map[string]bool

	// cut means that only the first line of Old has no indentation and that
	// the rule is that of the others. Other lines without indentation are
	// ambiguous then.
	cut bool
}

type indent struct{ old, file string }

// shift derives the shift from the indentation of Old and of the file's lines.
func (m *merger) shift(file []line) *shift {
	s := &shift{}
	seen := map[indent]bool{}
	for i, text := range m.old {
		k := i
		if m.at != nil {
			k = m.like[i]
		}
		if old, core, _ := ends(text); core != "" && k >= 0 {
			lead, _, _ := ends(file[k].text)
			p := indent{old, lead}
			if len(s.pairs) == 0 || !seen[p] {
				seen[p] = len(s.pairs) > 0
				s.pairs = append(s.pairs, p)
			}
		}
	}
	s.rule = rule(s.pairs)
	s.perhapsCut()
	if s.rule == nil {
		s.table = map[string]string{}
		for _, p := range s.pairs {
			lead, ok := s.table[p.old]
			s.lost = s.lost || ok && lead != p.file
			s.table[p.old] = p.file
		}
	}
	if m.at != nil {
		var texts []string
		for _, l := range file {
			texts = append(texts, l.text)
		}
		s.known = leads(texts)
		s.lost = s.lost || len(leads(m.old)) < len(s.known)
	}
	return s
}

// perhapsCut handles a first line that was copied without its indentation,
// while the others have theirs.
func (s *shift) perhapsCut() {
	if len(s.pairs) < 2 || s.pairs[0].old != "" || !all(s.pairs[1:], func(i indent) bool { return i.old != "" }) {
		return
	}
	whole, rest := s.rule, rule(s.pairs[1:])
	least := slices.MinFunc(s.pairs[1:], func(a, b indent) int { return len(a.old) - len(b.old) })
	switch {
	case whole == nil && rest != nil:
		s.rule, s.cut = rest, true
		if only := s.pairs[1].old; all(s.pairs[1:], func(i indent) bool { return i.old == only }) {
			s.rule = func(lead string) (string, bool) { // one level does not determine that of the first line
				file, ok := rest(lead)
				return file, ok && lead == only
			}
		}
	case whole != nil:
		s.rule = func(lead string) (string, bool) {
			file, ok := whole(lead)
			if ok && !slices.ContainsFunc(s.pairs, func(i indent) bool { return i.old == lead }) {
				ok = false
				if rest != nil && len(lead) > len(least.old) { // a level between the two would be half a level
					same, sure := rest(lead)
					ok = sure && same == file
				}
			}
			return file, ok
		}
	}
}

// leads returns the distinct indentations of the lines that have text.
func leads(lines []string) map[string]bool {
	known := map[string]bool{}
	for _, l := range lines {
		if lead, core, _ := ends(l); core != "" {
			known[lead] = true
		}
	}
	return known
}

// regular reports whether one rule holds for all lines.
func (s *shift) regular() bool { return s == nil || s.rule != nil }

// unambiguous reports whether the indentation of the changes is unambiguous. If it
// is lost, a change must replace one line with one line: which of two equal
// lines is meant would be a guess.
func (s *shift) unambiguous(changes []change) bool {
	return s == nil || !s.lost || !slices.ContainsFunc(changes, func(c change) bool { return c.b-c.a != 1 || c.d-c.c != 1 })
}

// moves reports whether a rule holds that changes the indentation.
func (s *shift) moves() bool {
	return s.rule != nil && !all(s.pairs, func(i indent) bool { return i.old == i.file })
}

// line returns a line of New with the file's indentation.
func (s *shift) line(text string, first bool) (string, bool) {
	if s == nil {
		return text, true
	}
	lead, core, tail := ends(text)
	if core == "" {
		return "", true
	}
	if first && s.cut && lead == "" {
		return s.pairs[0].file + core + tail, true
	}
	lead, ok := s.indent(lead)
	return lead + core + tail, ok
}

// indent converts an indentation of Old or New to that of the file. It reports
// false if that is ambiguous.
func (s *shift) indent(lead string) (string, bool) {
	if s == nil {
		return lead, true
	}
	if s.rule != nil {
		file, ok := s.rule(lead)
		return file, ok && (!s.cut || lead != "") && (s.known == nil || s.known[file]) && s.likeFile(lead, file)
	}
	file, ok := s.table[lead] // without a rule, only indentations that Old has
	return file, ok && !s.lost
}

// likeFile reports whether an indentation is of the same kind as the file's,
// tabs or spaces, or occurs in Old.
func (s *shift) likeFile(lead, file string) bool {
	kind := ""
	for _, p := range s.pairs {
		if p.old == lead {
			return true
		}
		kind += p.file
	}
	return sameKind(kind+file) || !sameKind(kind)
}
