package edit

import (
	"fmt"
	"strconv"
	"strings"
)

// nearest returns the line of the file where Old's first line would be. It can
// be before the file's first line.
func (j *job) nearest() (int, bool) {
	b := j.spacedBlock()
	return b.index.Nearest(b.keys, j.foldedLine)
}

// reasons describes how the file's lines from first on differ from Old. It
// returns the line after the last that it has compared.
func (j *job) reasons(first int) (reasons []string, last int) {
	old := strings.Split(strings.TrimSuffix(j.Old, "\n"), "\n")
	last = first + len(old)
	if first < 0 {
		reasons = append(reasons, plural(-first, "line")+" of old would be before the file's first")
		old, first = old[-first:], 0
	}
	at := first
	for i := range old {
		if len(reasons) == maxReasons {
			break
		}
		if at == len(j.starts) {
			reasons = append(reasons, fmt.Sprintf("the file ends before %s in old", quote(old[i], 0)))
			break
		}
		reason, step := j.reason(old[i:], at)
		if reason != "" {
			reasons = append(reasons, reason)
		}
		at = min(at+step, len(j.starts))
	}
	return reasons, max(at, last)
}

// reason describes how a line differs from the first line of old. It returns
// how many lines of the file to advance.
func (j *job) reason(old []string, at int) (reason string, step int) {
	was, file := old[0], j.line(at).text
	key, fileKey := spacedKey(Fold(was)), spacedKey(j.foldedLine(at))
	next := ""
	if at+1 < len(j.starts) {
		next = spacedKey(j.foldedLine(at + 1))
	}
	switch {
	case was == file:
		return "", 1
	case trimmedKey(Fold(was)) == trimmedKey(j.foldedLine(at)):
		a, _, _ := ends(was)
		b, _, _ := ends(file)
		if a == b {
			return fmt.Sprintf("line %d differs in blanks at its end or in characters that look alike: %s in the file", at+1, strconv.QuoteToASCII(clip(file, maxQuote))), 1
		}
		return fmt.Sprintf("line %d differs in indentation: the file has %s, old has %s", at+1, blanks(b), blanks(a)), 1
	case key == fileKey:
		return fmt.Sprintf("line %d differs in its blanks: %s in the file, %s in old", at+1, quote(file, diffAt(file, was)), quote(was, diffAt(file, was))), 1
	case key == next && key != "":
		return fmt.Sprintf("old leaves out line %d: %s", at+1, quote(file, 0)), 2
	case len(old) > 1 && spacedKey(Fold(old[1])) == fileKey && fileKey != "":
		return fmt.Sprintf("%s in old is not in the file before line %d", quote(was, 0), at+1), 0
	case strings.EqualFold(key, fileKey):
		return fmt.Sprintf("line %d differs in upper and lower case: %s in the file", at+1, quote(file, diffAt(file, was))), 1
	}
	d := diffAt(key, fileKey)
	return fmt.Sprintf("line %d: %s in the file, %s in old", at+1, quote(fileKey, d), quote(key, d)), 1
}

func diffAt(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// quote returns the part of a line around an offset, quoted.
func quote(text string, around int) string {
	if text == "" {
		return "an empty line"
	}
	from, to := max(0, around-maxQuote/2), min(len(text), max(0, around-maxQuote/2)+maxQuote)
	part := strings.ToValidUTF8(text[min(from, to):to], "")
	if from > 0 {
		part = "…" + part
	}
	if to < len(text) {
		part += "…"
	}
	if !isASCII(part) || strings.ContainsAny(part, "`\t\r") {
		return strconv.QuoteToGraphic(part)
	}
	return "`" + part + "`"
}

// blanks describes an indentation in words.
func blanks(lead string) string {
	switch {
	case lead == "":
		return "none"
	case strings.Trim(lead, " ") == "":
		return plural(len(lead), "space")
	case strings.Trim(lead, "\t") == "":
		return plural(len(lead), "tab")
	}
	return strconv.QuoteToASCII(lead)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
