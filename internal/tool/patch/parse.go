package patch

import (
	"fmt"
	"regexp"
	"strings"
)

const (
	beginMark  = "*** Begin Patch"
	endMark    = "*** End Patch"
	addMark    = "*** Add File:"
	deleteMark = "*** Delete File:"
	updateMark = "*** Update File:"
	moveMark   = "*** Move to:"
	eofMark    = "*** End of File"
)

// Parse parses a patch. It tolerates CRLF line ends, a code fence or
// here-document around the patch, and an empty line for an empty line of the
// file. Anything else that is not in the format is an error that names the
// line.
func Parse(text string) (Patch, error) {
	p := parser{lines: strings.Split(strings.TrimPrefix(text, bom), "\n")}
	if err := p.begin(); err != nil {
		return Patch{}, err
	}
	var patch Patch
	for p.more() {
		mark := p.mark()
		if mark == "" {
			p.next++
			continue
		}
		if mark == endMark {
			p.next++
			if len(patch.Files) == 0 {
				return Patch{}, p.wrong("the patch is empty: write at least one section such as %s path", updateMark)
			}
			if err := p.end(); err != nil {
				return Patch{}, err
			}
			return patch, nil
		}
		f, err := p.section(mark)
		if err != nil {
			return Patch{}, err
		}
		patch.Files = append(patch.Files, f)
	}
	return Patch{}, p.wrong("the patch ends without %q: it may have been cut, so write all of it again", endMark)
}

// parser reads the lines of a patch.
type parser struct {
	lines []string
	next  int    // index of the next line
	word  string // the delimiter of the here-document around the patch, or ""
}

func (p *parser) more() bool { return p.next < len(p.lines) }

// mark returns the next line without trailing whitespace.
func (p *parser) mark() string { return strings.TrimRight(p.lines[p.next], " \t\r") }

// wrong returns an error about the next line, or the last one.
func (p *parser) wrong(format string, args ...any) error {
	return fmt.Errorf("line %d of the patch: %s", min(p.next+1, len(p.lines)), fmt.Sprintf(format, args...))
}

var (
	hereDocument = regexp.MustCompile(`<<-?\s*(?:'(\w+)'|"(\w+)"|(\w+))\s*$`)
	unifiedRange = regexp.MustCompile(`^@@+ -\d+(,\d+)? \+\d+(,\d+)?( @@|$)`)
)

// begin skips what may be around the patch, and its first line.
func (p *parser) begin() error {
	for ; p.more(); p.next++ {
		mark := p.mark()
		switch word := hereDocument.FindStringSubmatch(mark); {
		case mark == beginMark:
			if strings.HasSuffix(p.lines[p.next], "\r") { // then all lines of the patch end in CRLF
				for i, line := range p.lines {
					p.lines[i] = strings.TrimSuffix(line, "\r")
				}
			}
			p.next++
			return nil
		case mark == "" || strings.HasPrefix(mark, "```"):
		case word != nil:
			p.word = word[1] + word[2] + word[3]
		case strings.HasPrefix(mark, "--- ") || strings.HasPrefix(mark, "diff --git "):
			return p.wrong("this is a unified diff: write %q, then %q and hunks that begin with @@, without ---, +++ and line numbers, then %q", beginMark, updateMark+" path", endMark)
		default:
			return p.wrong("%s stands where %q is expected: write nothing before it", quote(mark), beginMark)
		}
	}
	return p.wrong("%q is missing: a patch begins with it and ends with %q", beginMark, endMark)
}

// end returns an error if text follows the patch, because it would be lost.
func (p *parser) end() error {
	for ; p.more(); p.next++ {
		mark := p.mark()
		if mark != "" && mark != "```" && (p.word == "" || mark != p.word) {
			return p.wrong("%s stands after %q: put all sections between one %q and one %q; a line of a file that reads like a mark needs a +, - or space before it",
				quote(mark), endMark, beginMark, endMark)
		}
	}
	return nil
}

// sections lists how each kind of section begins and the function that parses
// its rest.
var sections = []struct {
	mark string
	op   Op
	rest func(*parser, *File) error
}{
	{addMark, Add, (*parser).content},
	{deleteMark, Delete, func(*parser, *File) error { return nil }},
	{updateMark, Update, (*parser).hunks},
}

// section parses the section of one file.
func (p *parser) section(mark string) (File, error) {
	for _, s := range sections {
		path, ok := strings.CutPrefix(mark, s.mark)
		if !ok {
			continue
		}
		f := File{Op: s.op, Path: strings.TrimSpace(path), Line: p.next + 1}
		if f.Path == "" {
			return f, p.wrong("a path must follow %q", s.mark)
		}
		p.next++
		err := s.rest(p, &f)
		return f, err
	}
	switch {
	case mark == beginMark:
		return File{}, p.wrong("a second %q: put all sections into one patch", beginMark)
	case strings.HasPrefix(mark, moveMark):
		return File{}, p.wrong("%q must follow directly after %q", moveMark, updateMark)
	case strings.HasPrefix(mark, "--- ") || strings.HasPrefix(mark, "diff --git "):
		return File{}, p.wrong("this is a unified diff: write %q and hunks that begin with @@, without ---, +++ and line numbers", updateMark+" path")
	case strings.HasPrefix(mark, "***"):
		return File{}, p.wrong("%s is not known here: a section begins with %q, %q or %q; a line of a file needs a +, - or space before it",
			quote(mark), addMark, deleteMark, updateMark)
	default:
		return File{}, p.wrong("%s belongs to no file: a section begins with %q, %q or %q", quote(mark), addMark, deleteMark, updateMark)
	}
}

// content parses the lines of a new file.
func (p *parser) content(f *File) error {
	var text strings.Builder
	for blank := 0; p.more(); p.next++ {
		line := p.lines[p.next]
		switch {
		case strings.HasPrefix(line, "+"):
			text.WriteString(strings.Repeat("\n", blank)) // the blank lines are within the file
			text.WriteString(line[1:] + "\n")
			blank = 0
		case strings.TrimSpace(line) == "":
			blank++
		case strings.HasPrefix(line, "***"):
			f.Content = text.String()
			return nil
		default:
			return p.wrong("%s: each line of a new file begins with +", quote(line))
		}
	}
	f.Content = text.String()
	return nil // Parse reports the missing end mark
}

// quote returns the beginning of a line, quoted.
func quote(line string) string { return fmt.Sprintf("%q", begin(line, 80)) }

// begin truncates a line after a number of characters.
func begin(line string, chars int) string {
	for at := range line {
		if chars == 0 {
			return line[:at] + "…"
		}
		chars--
	}
	return line
}
