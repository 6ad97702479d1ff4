package patch

import (
	"fmt"
	"strings"
)

// The bounds of what a refusal shows of a file.
const (
	nearestBytes = 2000
	nearestChars = 160 // of a line
	nearestGist  = 400 // bytes of a line that are compared
	nearestLines = 64  // of a hunk that are looked for
)

// nearest shows the lines of the file that are most like those of a hunk.
func (f *finder) nearest(lines []string) string {
	if f.text.len() == 0 {
		return "The file is empty."
	}
	at := f.nearestAt(lines)
	if at < 0 {
		return "No line of the file is like them."
	}
	file := make([]string, 0, len(lines))
	for i := at; i < min(at+len(lines), f.text.len()); i++ {
		file = append(file, f.text.line(i))
	}
	return "The nearest lines:\n" + compare(lines, file, at)
}

// nearestAt returns where most lines of the hunk are in the file one after
// another, or the line that is most like one of the hunk; -1 if none is.
func (f *finder) nearestAt(lines []string) int {
	lines = lines[:min(len(lines), nearestLines)]
	want := map[string]int{}
	target, longest := "", 0
	for i, line := range lines {
		g := gist(line)
		if _, ok := want[g]; !ok && g != "" {
			want[g] = i
		}
		if len(g) > len(target) {
			target, longest = g, i
		}
	}
	shared := make([]uint16, f.text.len()) // bytes that the hunk, put there, would share
	best, like, most := -1, -1, 0
	for i := range f.text.len() {
		line := gist(f.text.line(i))
		if at, ok := want[line]; ok && at <= i {
			if shared[i-at] += uint16(len(line)); best < 0 || shared[i-at] > shared[best] {
				best = i - at
			}
		}
		if n := alike(target, line); n > most && 2*n >= len(target) {
			most, like = n, max(i-longest, 0)
		}
	}
	if best >= 0 && int(shared[best]) >= most {
		return best
	}
	return like
}

// gist is the beginning of a line without what a model gets wrong most easily.
func gist(line string) string {
	return strings.ToLower(strings.Join(strings.Fields(folded.of(line[:min(len(line), nearestGist)])), " "))
}

// alike counts the bytes that two lines share at their beginning and end.
func alike(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	head := n
	for n-head < len(a)-head && n-head < len(b)-head && a[len(a)-1-(n-head)] == b[len(b)-1-(n-head)] {
		n++
	}
	return n
}

// compare shows lines of the patch and of the file, which begin at a line, from
// the first difference on.
func compare(patch, file []string, at int) string {
	var out strings.Builder
	first := 0
	for first < len(file) && first < len(patch) && patch[first] == file[first] {
		first++
	}
	first = max(first-1, 0)
	for i := first; i < len(patch); i++ {
		var entry string
		switch {
		case i >= len(file):
			entry = fmt.Sprintf("  the file ends here; the patch has  %s\n", show(patch[i]))
		case file[i] == patch[i]:
			entry = fmt.Sprintf("%6d  %s\n", at+i+1, show(file[i]))
		default:
			entry = fmt.Sprintf("%6d  %s\n        but the patch has (%s)\n        %s\n", at+i+1, show(file[i]), why(patch[i], file[i]), show(patch[i]))
		}
		if out.Len()+len(entry) > nearestBytes {
			out.WriteString("        …\n")
			break
		}
		out.WriteString(entry)
		if i >= len(file) {
			break
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// show is a line, cut, with what cannot be seen spelled out where it matters.
func show(line string) string {
	return strings.NewReplacer("\r", `\r`, "\u00a0", `\u00a0`, bom, `\ufeff`).Replace(strings.ToValidUTF8(begin(line, nearestChars), "\uFFFD"))
}

// why says in a few words how a line of the patch differs from one of the file.
func why(patch, file string) string {
	switch {
	case ragged.of(patch) == ragged.of(file):
		return "another space at the end"
	case trimmed.of(patch) == trimmed.of(file):
		return "another indentation"
	case folded.of(patch) == folded.of(file):
		return "other quotes, dashes or spaces"
	case strings.EqualFold(trimmed.of(patch), trimmed.of(file)):
		return "other upper and lower case"
	case strings.Join(strings.Fields(patch), "") == strings.Join(strings.Fields(file), ""):
		return "other spaces within the line"
	default:
		return "another text"
	}
}
