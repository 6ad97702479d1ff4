package acp

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
)

// hunkHead is the line before a part of a unified diff.
var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// hunk is one part of a diff while it is read.
type hunk struct {
	old, new         strings.Builder
	oldLeft, newLeft int // lines that it still has, by its head
	line             int
	last             byte // what the last line was: of both, taken away or added
}

// changes reads a unified diff of one file: an editor wants each part as the text
// before and after. rest is what is no part: what was left out, a rename.
func changes(dir string, p pawl.Patch) (list []change, rest string) {
	path := absPath(dir, p.Path)
	created := false // it was not there before
	var h *hunk
	finish := func() {
		if h != nil {
			list = append(list, h.change(path, created))
		}
		h = nil
	}
	for line := range strings.Lines(p.Diff) {
		if h != nil && h.addLine(line) {
			continue
		}
		head := hunkHead.FindStringSubmatch(line)
		switch {
		case head != nil:
			finish()
			h = &hunk{oldLeft: count(head[2]), line: count(head[3]), newLeft: count(head[4])}
		case strings.HasPrefix(line, "--- "):
			created = strings.TrimSpace(line[4:]) == "/dev/null"
		case strings.HasPrefix(line, "+++ "):
		default:
			rest += line
		}
	}
	finish()
	return list, rest
}

// count is a number of a head; one that is left out is 1.
func count(digits string) int {
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	return 1
}

// take adds a line, and reports whether it belongs to the hunk.
func (h *hunk) addLine(line string) bool {
	kind := line[0]
	if kind == '\\' && h.last != 0 { // no newline at the end of the file
		h.trim()
		return true
	}
	if h.oldLeft <= 0 && h.newLeft <= 0 {
		return false
	}
	switch kind {
	case ' ':
		h.old.WriteString(line[1:])
		h.new.WriteString(line[1:])
		h.oldLeft--
		h.newLeft--
	case '-':
		h.old.WriteString(line[1:])
		h.oldLeft--
	case '+':
		h.new.WriteString(line[1:])
		h.newLeft--
	default:
		return false
	}
	h.last = kind
	return true
}

// trim takes the newline off the line that was added last.
func (h *hunk) trim() {
	for _, side := range []struct {
		text *strings.Builder
		not  byte
	}{{&h.old, '+'}, {&h.new, '-'}} {
		if h.last == side.not {
			continue
		}
		text := strings.TrimSuffix(side.text.String(), "\n")
		side.text.Reset()
		side.text.WriteString(text)
	}
}

func (h *hunk) change(path string, created bool) change {
	c := change{path: path, new: h.new.String(), line: h.line}
	if !created {
		old := h.old.String()
		c.old = &old
	}
	return c
}

// within is a path of the workspace, absolute.
func absPath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
