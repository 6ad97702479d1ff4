package tool

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/tool/search"
)

// noteBytes is the space that a page reserves for notes.
const noteBytes = 1 << 10

// leftOut explains why something expected may be missing.
const leftOut = "what .gitignore names is left out unless it is the path"

// page is the text of a search result. It stays within its limit: after the
// first text that does not fit, nothing is added.
type page struct {
	strings.Builder
	full bool
}

// add appends text if it fits and returns how many texts it appended: 1 or 0.
func (p *page) add(text string) int {
	if p.full = p.full || p.Len()+len(text) > ResultBytes-noteBytes; p.full {
		return 0
	}
	p.WriteString(text)
	return 1
}

// note appends a note on a line of its own.
func (p *page) note(format string, args ...any) {
	fmt.Fprintf(p, "("+format+")\n", args...)
}

// gaps appends notes on what the search could not read.
func (p *page) gaps(g search.Gaps) {
	if g.Large > 0 {
		p.note("%s of more than %d MiB passed over: give one as path to search it", humanize.Plural(g.Large, "file"), GrepFileBytes>>20)
	}
	if g.Folders > 0 {
		p.note("%s could not be read", humanize.Plural(g.Folders, "directory"))
	}
	if g.Files > 0 {
		p.note("%s could not be read", humanize.Plural(g.Files, "file"))
	}
	if g.TimeUp {
		p.note("the time of %s is over: this is not all", SearchTimeout)
	}
}
