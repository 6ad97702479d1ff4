package edit

import "strings"

// change replaces the lines [a, b) of Old with the lines [c, d) of New.
type change struct{ a, b, c, d int }

// merger replaces the lines of the file that match Old with New. Lines that
// are in both Old and New stay as the file has them.
type merger struct {
	old, wanted []string
	changes     []change
	loose       bool // the lines of Old may differ from the file's in whitespace

	// at is the line of the file for each line of Old, or -1; nil means that
	// they correspond one to one. like also has the correspondences that are
	// not certain.
	at, like []int
}

func newMerger(old, wanted string) *merger {
	m := &merger{old: strings.Split(old, "\n"), wanted: strings.Split(wanted, "\n")}
	// A line whose indentation changes is a change of one line.
	at, _ := common(cores(m.old), cores(m.wanted))
	a, c := 0, 0
	for i := 0; i <= len(at); i++ {
		next := len(m.wanted)
		if i < len(at) {
			if next = at[i]; next < 0 {
				continue
			}
		}
		if i > a || next > c {
			m.changes = append(m.changes, change{a, i, c, next})
		}
		if i < len(at) && m.old[i] != m.wanted[next] {
			m.changes = append(m.changes, change{i, i + 1, next, next + 1})
		}
		a, c = i+1, next+1
	}
	return m
}

func cores(lines []string) []string {
	cores := make([]string, len(lines))
	for i, l := range lines {
		_, cores[i], _ = ends(l)
	}
	return cores
}

// join returns the lines of the file after the change. The file's line ends
// stay; a new line gets the end of the line that it replaces or follows, or
// end if that has none. The last line has no end.
func (m *merger) join(file []line, end string) (string, error) {
	var s *shift
	if m.loose {
		if s = m.shift(file); !s.unambiguous(m.changes) {
			return "", errIndent
		}
	}
	var out []line
	done := 0
	for _, ch := range m.changes {
		from, to, ok := m.where(ch, len(file))
		if !ok {
			return "", errConflict
		}
		out = append(out, file[done:from]...)
		for k, text := range m.wanted[ch.c:ch.d] {
			neighbor := file[min(from, len(file)-1)]
			switch {
			case ch.b-ch.a == ch.d-ch.c && (s.regular() || ch.b-ch.a == 1):
				neighbor = file[from+k]
				was := m.old[ch.a+k]
				if text, ok = adapt(was, neighbor.text, text, s); !ok {
					return "", errIndent
				}
			default:
				if text, ok = s.line(text, ch.c+k == 0); !ok {
					return "", errIndent
				}
			}
			out = append(out, line{text, neighbor.end})
		}
		done = to
	}
	out = append(out, file[done:]...)
	var b strings.Builder
	for i, l := range out {
		b.WriteString(l.text)
		if i+1 < len(out) {
			if l.end == "" {
				l.end = end
			}
			b.WriteString(l.end)
		}
	}
	return b.String(), nil
}

// where returns the lines of the file that a change replaces. It reports false
// if the file lacks them: the lines to change must be there consecutively, and
// so must the neighbors of an insertion.
func (m *merger) where(ch change, lines int) (from, to int, ok bool) {
	if m.at == nil {
		return ch.a, ch.b, true
	}
	for i := ch.a; i < ch.b; i++ {
		if m.at[i] < 0 || i > ch.a && m.at[i] != m.at[i-1]+1 {
			return 0, 0, false
		}
	}
	switch {
	case ch.a < ch.b:
		return m.at[ch.a], m.at[ch.b-1] + 1, true
	case ch.a == 0:
		return 0, 0, true
	case ch.a == len(m.at):
		return lines, lines, true
	}
	before, after := ch.a-1, ch.a
	for m.at[before] < 0 {
		before--
	}
	for m.at[after] < 0 {
		after++
	}
	// The distance of the neighbors must be that in Old, and one must be next
	// to the insertion.
	if after-before != m.at[after]-m.at[before] || before < ch.a-1 && after > ch.a {
		return 0, 0, false
	}
	from = m.at[before] + ch.a - before
	return from, from, true
}

// adapt returns the file's line after a change of was to text, where was is
// Old's spelling of the file's line. What both share stays as the file has it.
func adapt(was, file, text string, s *shift) (string, bool) {
	oldLead, oldCore, oldTail := ends(was)
	lead, core, tail := ends(file)
	newLead, newCore, newTail := ends(text)
	if oldCore == "" || newCore == "" {
		return s.line(text, false)
	}
	if newLead != oldLead {
		var ok bool
		if lead, ok = s.indent(newLead); !ok {
			return "", false
		}
	}
	if newTail != oldTail {
		tail = newTail
	}
	return lead + carry(oldCore, core, newCore) + tail, true
}

// carry returns text with its common prefix and suffix with was spelled as in
// file. The three have no whitespace at their ends; was and file differ only
// in runs of whitespace and look-alike characters.
func carry(was, file, text string) string {
	if was == file {
		return text
	}
	head, tail := 0, 0
	for head < len(was) && head < len(text) && was[head] == text[head] {
		head++
	}
	for tail < min(len(was), len(text))-head && was[len(was)-1-tail] == text[len(text)-1-tail] {
		tail++
	}
	grown := len(text) - len(was)
	within := func(at int) bool { // at is within a run of whitespace in text
		return at > 0 && at < len(text) && isBlank(rune(text[at-1])) && isBlank(rune(text[at]))
	}
	var a, b walker // the file's spelling stays before a and after b
	b.at = len(was)
	fileA, fileB := 0, len(file)
	w, f := walker{text: was}, walker{text: file}
	for {
		if w.sum == f.sum {
			if w.at <= head && !within(w.at) {
				a, fileA = w, f.at
			}
			if w.at >= len(was)-tail && !within(w.at+grown) {
				b, fileB = w, f.at
				break
			}
		}
		if w.sum >= f.sum && !f.step() || w.sum < f.sum && !w.step() {
			break
		}
	}
	return file[:fileA] + text[a.at:b.at+grown] + file[fileB:]
}

// walker iterates over the characters of a line. A run of whitespace counts as
// one.
type walker struct {
	text string
	at   int
	sum  int // offset in the folded form
}

func (w *walker) step() bool {
	if w.at == len(w.text) {
		return false
	}
	rest := strings.TrimLeftFunc(w.text[w.at:], isBlank)
	if n := len(w.text) - len(rest); n > w.at {
		w.at = n
		w.sum++
		return true
	}
	key, to := unit(w.text, w.at)
	w.at = to
	w.sum += len(key)
	return true
}
