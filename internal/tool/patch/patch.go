// Package patch parses the patches that models write between *** Begin Patch
// and *** End Patch (the format of the apply_patch tool) and applies them to
// the text of files. It does no I/O.
//
// A hunk that matches several places equally well is refused: a patch applied
// in the wrong place is worse than one that is refused.
package patch

// Patch is a parsed patch.
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
	MoveTo  string // of an Update; "" if the path stays
	Content string // of an Add
	Hunks   []Hunk // of an Update; none if the file is only moved
	Line    int    // line of the patch, from 1, where the section begins
}

// Hunk is one change within a file.
type Hunk struct {
	Headers []string // lines of the file above the change that identify its place, outermost first
	Lines   []Line   // at least one is added or removed
	AtEnd   bool     // only blank lines follow in the file
	Line    int      // line of the patch, from 1, where the hunk begins
}

// Line is one line of a hunk.
type Line struct {
	Kind Kind
	Text string // without its end; an added line may end in CR, which is kept
}

// Kind says whether a line is kept, removed or added.
type Kind byte

// The kinds, with the values that a patch uses.
const (
	Kept    Kind = ' '
	Removed Kind = '-'
	Added   Kind = '+'
)

// Paths returns all paths of the patch, including both names of a moved file,
// as spelled and in order.
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
