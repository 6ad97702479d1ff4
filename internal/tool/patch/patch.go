// Package patch reads the patches that models write between *** Begin Patch
// and *** End Patch, and works out what a file becomes. It does no I/O.
//
// A hunk is never put in one of several places that fit alike: a patch that
// lands in the wrong place is worse than one that is refused.
package patch

// Patch is what was written between *** Begin Patch and *** End Patch.
type Patch struct {
	Files []File
}

// Op is what a section does to its file.
type Op string

// The operations.
const (
	Add    Op = "add"
	Delete Op = "delete"
	Update Op = "update"
)

// File is one section of a patch.
type File struct {
	Op      Op
	Path    string
	MoveTo  string // of an Update, "" if the name stays
	Content string // of an Add
	Hunks   []Hunk // of an Update; none if the file is only moved
	Line    int    // of the patch, from 1, where the section begins
}

// Hunk is one change within a file.
type Hunk struct {
	Headers []string // lines of the file that lead to the place, outermost first
	Lines   []Line   // at least one of them is added or removed
	AtEnd   bool     // nothing but blank lines follows
	Line    int      // of the patch, from 1, where the hunk begins
}

// Line is one line of a hunk.
type Line struct {
	Kind Kind
	Text string // without its end; an added one may end in CR, which is meant
}

// Kind says what becomes of a line.
type Kind byte

// The kinds, as a patch spells them.
const (
	Kept    Kind = ' '
	Removed Kind = '-'
	Added   Kind = '+'
)

// Paths returns every path that the patch names, both names of a moved file
// among them, as the patch spells them and in its order.
func (p Patch) Paths() []string {
	var paths []string
	for _, f := range p.Files {
		paths = append(paths, f.Path)
		if f.MoveTo != "" {
			paths = append(paths, f.MoveTo)
		}
	}
	return paths
}

// old returns the lines that the hunk expects in the file.
func (h *Hunk) old() []string {
	var lines []string
	for _, l := range h.Lines {
		if l.Kind != Added {
			lines = append(lines, l.Text)
		}
	}
	return lines
}
