package permission

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects records the redirects of a command. Only redirects to /dev/null and
// copies of one stream to another leave the segment plain: a rule names words, and
// would not show the others.
func (w *walker) redirects(seg *Segment, list []*syntax.Redirect) {
	for _, r := range list {
		if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
			seg.doubt("a variable is set (%s)", r.N.Value)
		}
		target := w.word(r.Word)
		switch r.Op {
		case syntax.RdrIn:
			if !target.known || target.text != "/dev/null" {
				seg.doubt("input from %s", target.raw)
			}
		case syntax.Hdoc, syntax.DashHdoc:
			seg.doubt("a here-document")
			if text, ok := hereText(r.Hdoc); ok {
				seg.stdin = append(seg.stdin, text)
			}
		case syntax.WordHdoc:
			seg.doubt("a here-string")
			if target.known {
				seg.stdin = append(seg.stdin, target.text)
			}
		case syntax.DplIn, syntax.DplOut:
			if !target.known || !isStream(target.text) {
				w.writes(seg, target)
			}
		default: // those that write, and any that is new
			if !target.known || target.text != "/dev/null" {
				w.writes(seg, target)
			}
		}
		w.nested(r.Word)
		if r.Hdoc != nil {
			w.nested(r.Hdoc)
		}
	}
}

func (w *walker) writes(seg *Segment, target word) {
	seg.doubt("output to %s", target.raw)
	if target.known {
		seg.Writes = append(seg.Writes, joinDir(w.dir, target.text))
	} else {
		seg.Writes = append(seg.Writes, target.raw)
	}
}

// isStream reports whether the word after >& or <& is a file descriptor, with or
// without a dash, or a dash alone.
func isStream(s string) bool {
	digits := strings.TrimSuffix(s, "-")
	return s != "" && strings.Trim(digits, "0123456789") == ""
}

// hereText returns the text of a here-document, if nothing in it expands.
func hereText(doc *syntax.Word) (string, bool) {
	var b strings.Builder
	if doc == nil {
		return "", true
	}
	for _, part := range doc.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return "", false
		}
		b.WriteString(lit.Value)
	}
	return b.String(), true
}
