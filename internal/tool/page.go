package tool

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/tool/search"
)

// noteBytes is the room that a page keeps for its notes.
const noteBytes = 1 << 10

// leftOut is said where something expected was not found.
const leftOut = "what .gitignore names is left out unless it is the path"

// page is the answer of a search. It never has to be cut: once something does
// not fit, nothing more is added.
type page struct {
	strings.Builder
	full bool
}

// add writes text if there is room and returns how many texts it wrote: one or none.
func (p *page) add(text string) int {
	if p.full = p.full || p.Len()+len(text) > ResultBytes-noteBytes; p.full {
		return 0
	}
	p.WriteString(text)
	return 1
}

// note writes a remark on a line of its own.
func (p *page) note(format string, args ...any) {
	fmt.Fprintf(p, "("+format+")\n", args...)
}

// gaps writes what the search has not seen.
func (p *page) gaps(g search.Gaps) {
	if g.Large > 0 {
		p.note("%s of more than %d MiB passed over: give one as path to search it", number(g.Large, "file"), GrepFileBytes>>20)
	}
	if g.Folders > 0 {
		p.note("%s could not be read", number(g.Folders, "folder"))
	}
	if g.Files > 0 {
		p.note("%s could not be read", number(g.Files, "file"))
	}
	if g.TimeUp {
		p.note("the time of %s is over: this is not all", SearchTimeout)
	}
}

// number is a count of things.
func number(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
