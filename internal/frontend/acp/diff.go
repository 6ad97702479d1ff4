package acp

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
)

// hunkHead matches the header of a hunk in a unified diff.
var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// hunk is a hunk of a unified diff while it is parsed.
type hunk struct {
	old, new         strings.Builder
	oldLeft, newLeft int // remaining lines, according to the header
	line             int
	last             byte // prefix of the last line: ' ', '-' or '+'
}

// changes parses a unified diff into the old and new text of each hunk, as editors want
// it. Without a path, the headers of the diff have those of its files. rest is what
// belongs to no hunk: omitted lines, a rename.
func changes(dir string, p pawl.Patch) (list []change, rest string) {
	path := absPath(dir, p.Path)
	created := false // the patch creates the file
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
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			finish()
			name, prefix := strings.TrimSpace(line[4:]), "b/"
			if line[0] == '-' {
				created, prefix = name == "/dev/null", "a/"
			}
			if p.Path == "" && name != "/dev/null" {
				path = absPath(dir, strings.TrimPrefix(name, prefix))
			}
		default:
			rest += line
		}
	}
	finish()
	return list, rest
}

// count parses a number of a hunk header; if it is omitted, it is 1.
func count(digits string) int {
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	return 1
}

// addLine adds a line. It reports whether the line belongs to the hunk.
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

// trim removes the newline of the last line.
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

// absPath returns a path of the workspace as an absolute path.
func absPath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
