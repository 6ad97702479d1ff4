package edit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxMessage = 2 << 10 // bytes of an error message
	maxNumbers = 10      // line numbers in it
	maxLines   = 8       // lines of the file in it
	maxReasons = 3       // differences in it
	maxQuote   = 80      // bytes of a line in it
)

// ambiguous returns the error for a text with several matches and lists their
// lines.
func ambiguous(pass Pass, text string, spans []Span) error {
	count := strconv.Itoa(len(spans))
	if len(spans) > maxCount {
		count = "more than " + strconv.Itoa(maxCount)
	}
	var lines []string
	for _, s := range spans[:min(len(spans), maxNumbers)] {
		lines = append(lines, strconv.Itoa(lineOf(text, s.Start)))
	}
	if len(spans) > maxNumbers {
		lines = append(lines, "…")
	}
	if pass != Exact {
		return fmt.Errorf("old is not in the file exactly, and fits %s places nearly (lines %s): copy it exactly, and add lines around it until it is the only one",
			count, strings.Join(lines, ", "))
	}
	return fmt.Errorf("old was found %s times (lines %s): add lines around it until it is the only one, or set all", count, strings.Join(lines, ", "))
}

func alreadyMade(line int) error {
	return fmt.Errorf("new is in the file already, at line %d: was the edit made before?", line)
}

// notFound returns the error for a text without a match. It shows the nearest
// lines and how they differ.
func (j *job) notFound() error {
	var b strings.Builder
	b.WriteString("old was not found.")
	hint := j.hint()
	first, ok := j.nearest()
	if hint == "" && !ok {
		hint = "Nothing in the file is like it: read the file and copy the text exactly."
	}
	if hint != "" {
		b.WriteString(" " + hint)
	}
	if !ok {
		return errors.New(b.String())
	}
	reasons, last := j.reasons(first)
	for _, r := range reasons {
		b.WriteString("\n- " + r)
	}
	b.WriteString("\nThe nearest lines are:\n" + j.show(max(first, 0), last))
	return errors.New(clip(b.String(), maxMessage))
}

// hint recognizes common mistakes.
func (j *job) hint() string {
	wanted := strings.TrimSpace(j.New)
	switch {
	case numbered(j.Old, j.text):
		return "It has line numbers from read: leave them out."
	case strings.Contains(j.Old, "… (line cut)"):
		return "It has a line that read has cut: take another part of it."
	case j.spacedBlock().same:
		return "It differs from new only in blanks or in characters that look alike, so it must be exactly as in the file."
	case len(wanted) > 3 && hasWord(wanted) && !strings.Contains(j.Old, wanted):
		plain := unixEnds(j.text)
		if at := strings.Index(plain, wanted); at >= 0 {
			return fmt.Sprintf("But new is in the file already, at line %d: was the edit made before?", lineOf(plain, at))
		}
	}
	return ""
}

// numbered reports whether the lines have numbers as read or similar tools
// show them. A single line counts only if the file has it without the number.
func numbered(old, file string) bool {
	last := -1
	lines := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	for _, l := range lines {
		digits := strings.TrimLeft(l, " ")
		rest := strings.TrimLeft(digits, "0123456789")
		n, err := strconv.Atoi(digits[:len(digits)-len(rest)])
		sign := strings.IndexAny(rest, "\t|:→")
		if err != nil || last >= 0 && n != last+1 || sign != 0 {
			return false
		}
		last = n
		if len(lines) == 1 {
			_, size := utf8.DecodeRuneInString(rest)
			text := strings.TrimSpace(rest[size:])
			return text != "" && strings.Contains(file, text)
		}
	}
	return true
}

// show formats the lines [first, last) with their numbers, as read does.
func (s source) show(first, last int) string {
	var b strings.Builder
	for i := first; i < min(last, len(s.starts)); i++ {
		if i-first == maxLines {
			fmt.Fprintf(&b, "(and %d more)\n", last-i)
			break
		}
		fmt.Fprintf(&b, "%6d\t%s\n", i+1, clip(strings.ToValidUTF8(s.line(i).text, "\ufffd"), maxQuote))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// clip truncates a text at a character boundary.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
