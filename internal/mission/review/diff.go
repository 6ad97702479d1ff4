// Package review implements code review by a model: it parses a patch, builds the prompt, validates the
// findings against the changed lines, and formats the report. It does no I/O.
package review

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// DiffArgs are the arguments of git diff that Parse expects. All files are treated as text; otherwise a change
// could add a .gitattributes that declares its own code binary and hides it.
func DiffArgs() []string {
	return []string{"diff", "--src-prefix=a/", "--dst-prefix=b/", "--find-renames", "--unified=5", "--text"}
}

// File is the change of a file. Its names and rows are untrusted text.
type File struct {
	Path  string // of a deleted file, the old path
	From  string // the old path, if it was renamed or copied
	State string // added, modified, deleted or renamed
	Mode  string // as git writes it; "" if it is not in the patch
	Hunks []Hunk
	Size  int // bytes of its part of the patch
}

// Hunk is a changed region of a file.
type Hunk struct {
	Start, Lines int // in the new file
	Rows         []Row
}

// Row is a line of a hunk.
type Row struct {
	Kind byte   // ' ', '+' or '-'
	Line int    // in the new file; 0 for removed lines
	Text string // without the line end
}

// Binary reports whether the file contains binary data.
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

// row returns a line of the new file, if it is in a hunk.
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
	old, new int // remaining lines of the open hunk
	line     int // next line number in the new file
}

// Parse parses a patch created with DiffArgs. Anything it does not understand is an error, because a partly
// parsed change must not count as reviewed.
func Parse(patch []byte) ([]File, error) {
	p := parser{}
	for number := 1; len(patch) > 0; number++ {
		text, rest, _ := bytes.Cut(patch, []byte("\n"))
		if err := p.add(string(text)); err != nil {
			return nil, fault.New(pawl.ErrInvalid, "line %d of the patch: %w", number, err)
		}
		if len(p.files) > 0 {
			p.files[len(p.files)-1].Size += len(text) + 1
		}
		patch = rest
	}
	if p.old > 0 || p.new > 0 {
		return nil, fault.New(pawl.ErrInvalid, "the patch is truncated")
	}
	for i, f := range p.files {
		if f.Path == "" {
			return nil, fault.New(pawl.ErrInvalid, "file %d of the patch has no path", i+1)
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
		return fmt.Errorf("%.80q does not start a file", line)
	case strings.HasPrefix(line, "@@ "):
		return p.hunk(line)
	case strings.HasPrefix(line, `\ `): // no newline at the end of the file
		return nil
	}
	return p.files[len(p.files)-1].head(line)
}

// samePath returns the path in "a/path b/path", or "" if the two differ: other header lines then name them.
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

// unquote decodes a path as git writes it, and removes its prefix.
func unquote(name, prefix string) (string, bool) {
	name = strings.TrimSuffix(name, "\t") // git adds it to a name with a space
	if strings.HasPrefix(name, `"`) {
		plain, err := strconv.Unquote(name)
		if err != nil {
			return "", false
		}
		name = plain
	}
	return strings.CutPrefix(name, prefix)
}

// head reads a header line of a file.
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
		return fmt.Errorf("unknown line %.80q: finish any merge in progress first", line)
	}
	if !ok {
		return fmt.Errorf("%.80q has no path", line)
	}
	return nil
}

var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

func (p *parser) hunk(line string) error {
	m := hunkHead.FindStringSubmatch(line)
	f := &p.files[len(p.files)-1]
	if m == nil || f.Path == "" {
		return fmt.Errorf("%.80q does not start a hunk", line)
	}
	count := func(text string) int {
		if text == "" {
			return 1
		}
		n, _ := strconv.Atoi(text) // too large becomes 0, and then the rows do not match
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
		line = " " // some configurations strip the space of an empty line
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
		return fmt.Errorf("%.80q is not a line of a hunk", line)
	}
	if p.old < 0 || p.new < 0 {
		return fmt.Errorf("%.80q is beyond the end of its hunk", line)
	}
	if row.Kind != '-' {
		row.Line = p.line
		p.line++
	}
	h := p.files[len(p.files)-1].Hunks
	h[len(h)-1].Rows = append(h[len(h)-1].Rows, row)
	return nil
}

// Show formats the file for a model, with the line numbers of the new file. Invisible characters are shown as
// codes, because they may be meant to deceive.
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
