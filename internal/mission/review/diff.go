// Package review knows what a review of a change is: the change as hunks with
// line numbers, what a model is asked about it, which of its findings are about
// the change, and the forms that they are printed in. It does no I/O.
package review

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/weak"
)

// DiffArgs are what git's diff is told, so that Parse can read it. All files are
// taken for text: else a change could bring a .gitattributes that calls its own
// code binary, and nobody would see it.
func DiffArgs() []string {
	args := []string{"diff", "--src-prefix=a/", "--dst-prefix=b/", "--find-renames", "--unified=5"}
	if weak.On("review.text") {
		return args
	}
	return append(args, "--text")
}

// File is what a change does to a file. Its names and rows are strangers' texts.
type File struct {
	Path  string // of a deleted file, the one that it had
	From  string // the path that it had, if it was renamed or copied
	State string // added, modified, deleted or renamed
	Mode  string // as git writes it; "" if it is not told
	Hunks []Hunk
	Size  int // bytes of its part of the patch
}

// Hunk is a place of a file that changes.
type Hunk struct {
	Start, Lines int // in the new file
	Rows         []Row
}

// Row is a line of a hunk.
type Row struct {
	Kind byte   // ' ', '+' or '-'
	Line int    // in the new file; 0 of one that was removed
	Text string // without its end
}

// Binary reports whether it holds what is no text.
func (f File) Binary() bool {
	for _, h := range f.Hunks {
		for _, r := range h.Rows {
			if strings.ContainsRune(r.Text, 0) {
				return true
			}
		}
	}
	return false
}

// row returns a line of the new file, if a hunk has it.
func (f File) row(line int) (Row, bool) {
	for _, h := range f.Hunks {
		for _, r := range h.Rows {
			if r.Line == line {
				return r, true
			}
		}
	}
	return Row{}, false
}

// parser reads a patch line by line.
type parser struct {
	files    []File
	old, new int // lines of the open hunk that are still to come
	line     int // the next one in the new file
}

// Parse reads a patch that git made with DiffArgs. What it does not understand is
// an error: a change that is half read must not be called reviewed.
func Parse(patch []byte) ([]File, error) {
	p := parser{}
	for number := 1; len(patch) > 0; number++ {
		text, rest, _ := bytes.Cut(patch, []byte("\n"))
		if err := p.add(string(text)); err != nil {
			return nil, fmt.Errorf("line %d of the patch: %w: %w", number, err, pawl.ErrInvalid)
		}
		if len(p.files) > 0 {
			p.files[len(p.files)-1].Size += len(text) + 1
		}
		patch = rest
	}
	if p.old > 0 || p.new > 0 {
		return nil, fmt.Errorf("the patch is cut off: %w", pawl.ErrInvalid)
	}
	for i, f := range p.files {
		if f.Path == "" {
			return nil, fmt.Errorf("file %d of the patch has no path: %w", i+1, pawl.ErrInvalid)
		}
	}
	return p.files, nil
}

func (p *parser) add(line string) error {
	switch {
	case p.old > 0 || p.new > 0:
		return p.row(line)
	case strings.HasPrefix(line, "diff --git "):
		p.files = append(p.files, File{Path: samePath(line[len("diff --git "):]), State: "modified"})
		return nil
	case len(p.files) == 0:
		return fmt.Errorf("%.80q does not begin a file", line)
	case strings.HasPrefix(line, "@@ "):
		return p.hunk(line)
	case strings.HasPrefix(line, `\ `): // no line end at the end of the file
		return nil
	}
	return p.files[len(p.files)-1].head(line)
}

// samePath returns the path of "a/path b/path", or "" if they are two: then other
// lines name them.
func samePath(both string) string {
	half := len(both) / 2
	if len(both)%2 == 0 || both[half] != ' ' {
		return ""
	}
	from, ok1 := unquote(both[:half], "a/")
	to, ok2 := unquote(both[half+1:], "b/")
	if !ok1 || !ok2 || from != to {
		return ""
	}
	return to
}

// unquote returns a path as git writes it, without its prefix.
func unquote(name, prefix string) (string, bool) {
	name = strings.TrimSuffix(name, "\t") // behind a name with a blank in it
	if strings.HasPrefix(name, `"`) {
		plain, err := strconv.Unquote(name)
		if err != nil {
			return "", false
		}
		name = plain
	}
	return strings.CutPrefix(name, prefix)
}

// head reads a line that stands before a file's hunks.
func (f *File) head(line string) error {
	for _, known := range []string{"old mode ", "new mode ", "index ", "similarity index ", "dissimilarity index ", "copy from ", "rename from ", "Binary files "} {
		if rest, ok := strings.CutPrefix(line, known); ok {
			switch known {
			case "copy from ", "rename from ":
				f.From, _ = unquote(rest, "")
			case "new mode ":
				f.Mode = rest
			case "index ":
				if _, mode, ok := strings.Cut(rest, " "); ok {
					f.Mode = mode
				}
			}
			return nil
		}
	}
	prefix, rest, _ := strings.Cut(line, " ")
	ok := true
	switch {
	case strings.HasPrefix(line, "new file mode "):
		f.State, f.Mode = "added", line[len("new file mode "):]
	case strings.HasPrefix(line, "deleted file mode "):
		f.State = "deleted"
	case strings.HasPrefix(line, "rename to "), strings.HasPrefix(line, "copy to "):
		_, rest, _ = strings.Cut(rest, "to ")
		f.State = "renamed"
		f.Path, ok = unquote(rest, "")
	case prefix == "---" && rest != "/dev/null":
		f.Path, ok = unquote(rest, "a/")
	case prefix == "+++" && rest != "/dev/null":
		f.Path, ok = unquote(rest, "b/")
	case prefix == "---", prefix == "+++":
	default:
		return fmt.Errorf("%.80q is unknown: end a merge that is going on first", line)
	}
	if !ok {
		return fmt.Errorf("%.80q names no path", line)
	}
	return nil
}

var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

func (p *parser) hunk(line string) error {
	m := hunkHead.FindStringSubmatch(line)
	f := &p.files[len(p.files)-1]
	if m == nil || f.Path == "" {
		return fmt.Errorf("%.80q begins no hunk", line)
	}
	count := func(text string) int {
		if text == "" {
			return 1
		}
		n, _ := strconv.Atoi(text) // too large is 0, and then the rows do not fit
		return n
	}
	p.old, p.new, p.line = count(m[1]), count(m[3]), count(m[2])
	f.Hunks = append(f.Hunks, Hunk{Start: p.line, Lines: p.new})
	return nil
}

func (p *parser) row(line string) error {
	if strings.HasPrefix(line, `\ `) {
		return nil
	}
	if line == "" {
		line = " " // as some are set up to write an empty line
	}
	row := Row{Kind: line[0], Text: line[1:]}
	switch row.Kind {
	case ' ':
		p.old, p.new = p.old-1, p.new-1
	case '+':
		p.new--
	case '-':
		p.old--
	default:
		return fmt.Errorf("%.80q is no row of a hunk", line)
	}
	if p.old < 0 || p.new < 0 {
		return fmt.Errorf("%.80q is more than its hunk has", line)
	}
	if row.Kind != '-' {
		row.Line = p.line
		p.line++
	}
	h := p.files[len(p.files)-1].Hunks
	h[len(h)-1].Rows = append(h[len(h)-1].Rows, row)
	return nil
}

// Show is the file as a model gets to see it: each line with its number in the
// new file. What does not show is written as its code: it may be there to deceive.
func (f File) Show() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", f.State, sanitize.Line(f.Path))
	if f.From != "" {
		fmt.Fprintf(&b, ", before: %s", sanitize.Line(f.From))
	}
	switch f.Mode {
	case "120000":
		b.WriteString(", a link to what its line says")
	case "100755":
		b.WriteString(", a program")
	}
	b.WriteString("\n")
	for _, h := range f.Hunks {
		fmt.Fprintf(&b, "@@ from line %d\n", h.Start)
		for _, r := range h.Rows {
			number := ""
			if r.Line > 0 {
				number = strconv.Itoa(r.Line)
			}
			fmt.Fprintf(&b, "%c%6s| %s\n", r.Kind, number, strings.ReplaceAll(sanitize.Marked(r.Text), "\n", `\n`))
		}
	}
	return b.String()
}
