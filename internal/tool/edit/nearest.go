package edit

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	maxVotes = 8   // lines of Old with the same text that count
	minNear  = 0.5 // of the pairs of letters of a line
)

// nearest returns the line of the file where Old's first line would be, if
// most of what the two have in common is to be in its place. It can be before
// the file's first line.
func (j *job) nearest() (int, bool) {
	if len(j.starts) == 0 {
		return 0, false
	}
	b := j.spacedBlock()
	old := strings.Split(b.old, "\n")
	weight := make([]int, len(old))
	where := map[int32][]int{}
	longest, length := 0, -1
	for i, l := range old {
		key := spacedKey(fold(l))
		if id := b.ids[i]; hasWord(key) && len(where[id]) < maxVotes {
			where[id] = append(where[id], i)
		}
		weight[i] = min(len(key), maxQuote)
		if len(key) > length {
			longest, length = i, len(key)
		}
	}
	votes := make([]int, len(old)+len(j.starts)) // for each place of Old's first line; len(old) is the file's first
	best := len(old)
	for i, id := range b.file {
		if id < 0 {
			continue
		}
		for _, k := range where[id] {
			at := i - k + len(old)
			votes[at] += weight[k]
			if n := votes[at]; n > votes[best] || n == votes[best] && at >= len(old) && (best < len(old) || at < best) {
				best = at
			}
		}
	}
	if votes[best] > 0 {
		return best - len(old), true
	}
	i, ok := j.likest(spacedKey(fold(old[longest])))
	return i - longest, ok
}

// likest returns the line that shares most pairs of letters with a text.
func (j *job) likest(text string) (int, bool) {
	pairs := func(text string, visit func(pair int)) {
		for i := 1; i < len(text); i++ {
			visit(int(text[i-1])<<8 | int(text[i]))
		}
	}
	var wanted, seen [1 << 16]int32 // seen holds the last line that has the pair
	count := 0
	pairs(text, func(p int) {
		if wanted[p] == 0 {
			wanted[p] = 1
			count++
		}
	})
	best, found := 0.0, 0
	for i := range j.starts {
		l := j.foldedLine(i)
		hits := 0
		pairs(l, func(p int) {
			if wanted[p] != 0 && seen[p] != int32(i+1) {
				seen[p] = int32(i + 1)
				hits++
			}
		})
		// A long line has many pairs by chance.
		length := float64(min(len(text), len(l))) / float64(max(len(text), len(l), 1))
		score := float64(hits) / float64(max(count, 1)) * (0.75 + 0.25*length)
		if score > best {
			best, found = score, i
		}
	}
	return found, best >= minNear
}

// reasons says how the lines from first on differ from Old, and where the
// lines that it has looked at end.
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

// reason says how a line differs from the first of old, and how many lines of
// the file to go on.
func (j *job) reason(old []string, at int) (reason string, step int) {
	was, file := old[0], j.line(at).text
	key, fileKey := spacedKey(fold(was)), spacedKey(j.foldedLine(at))
	next := ""
	if at+1 < len(j.starts) {
		next = spacedKey(j.foldedLine(at + 1))
	}
	switch {
	case was == file:
		return "", 1
	case trimmedKey(fold(was)) == trimmedKey(j.foldedLine(at)):
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
	case len(old) > 1 && spacedKey(fold(old[1])) == fileKey && fileKey != "":
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

// quote returns the part of a line around an offset.
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

// blanks describes an indentation.
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
