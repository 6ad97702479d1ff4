package git

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// FileDiff is the change of one file, with its diff. The paths and the patch are
// untrusted text.
type FileDiff struct {
	Path             string
	OldPath          string // of a renamed file
	Status           byte   // A added, M modified, D deleted, R renamed, T another type
	OldMode, NewMode uint32
	OldID, NewID     string // of the contents; all zeros if unknown
	Added, Deleted   int    // lines
	Binary           bool   // lines are not counted, and the patch says only that it differs
	Patch            string // the unified diff, with git's header
	Cut              bool   // the patch is incomplete: there was more output than the limit
}

// Trim cuts the patch after a whole line if it has more than limit bytes.
func (f *FileDiff) Trim(limit int) {
	if len(f.Patch) <= limit {
		return
	}
	f.Patch, f.Cut = f.Patch[:strings.LastIndexByte(f.Patch[:max(0, limit)], '\n')+1], true
}

// FileDiffArgs are the options with which git diff and diff-tree print what ReadFileDiffs
// parses.
func FileDiffArgs() []string {
	return []string{"--raw", "--numstat", "-p", "-z", "-M", "--no-abbrev", "--src-prefix=a/", "--dst-prefix=b/"}
}

// ReadFileDiffs parses the output of a diff with FileDiffArgs. Of the output after limit
// bytes it does not return anything: those patches are cut.
func ReadFileDiffs(r io.Reader, limit int64) ([]FileDiff, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	p := &diffReader{rest: text}
	if int64(len(text)) > limit {
		p.rest, p.cut = text[:limit], true
	}
	if err := p.read(); err != nil {
		return nil, fmt.Errorf("unexpected output of git diff: %w", err)
	}
	return p.files, nil
}

// diffReader parses a diff: first the list of files, then their line counts, then the patches, all in
// the same order.
type diffReader struct {
	rest  []byte
	cut   bool // the text ends early
	files []FileDiff
}

func (p *diffReader) read() error {
	for len(p.rest) > 0 && p.rest[0] == ':' {
		if err := p.file(); err != nil {
			return err
		}
	}
	for i := range p.files {
		if err := p.count(&p.files[i]); err != nil {
			return err
		}
	}
	if _, ok := p.field(); !ok && len(p.files) > 0 && !p.cut {
		return io.ErrUnexpectedEOF
	}
	p.patches()
	return nil
}

// field returns the text up to the next zero byte.
func (p *diffReader) field() (string, bool) {
	text, rest, ok := bytes.Cut(p.rest, []byte{0})
	if ok {
		p.rest = rest
	}
	return string(text), ok
}

// file reads an entry of the list.
func (p *diffReader) file() error {
	head, _ := p.field()
	fields := strings.Fields(head[1:]) // old mode, new mode, old id, new id, status
	path, ok := p.field()
	if !ok || len(fields) != 5 {
		return fmt.Errorf("%.100q", head)
	}
	from, err := strconv.ParseUint(fields[0], 8, 32)
	if err != nil {
		return err
	}
	to, err := strconv.ParseUint(fields[1], 8, 32)
	if err != nil {
		return err
	}
	f := FileDiff{Path: path, Status: fields[4][0], OldMode: uint32(from), NewMode: uint32(to), OldID: fields[2], NewID: fields[3]}
	if f.Status == 'R' || f.Status == 'C' {
		f.OldPath = path
		if f.Path, ok = p.field(); !ok {
			return fmt.Errorf("%.100q", head)
		}
	}
	p.files = append(p.files, f)
	return nil
}

// count reads the line counts of a file.
func (p *diffReader) count(f *FileDiff) error {
	text, ok := p.field()
	fields := strings.SplitN(text, "\t", 3)
	if !ok || len(fields) != 3 {
		return fmt.Errorf("%.100q", text)
	}
	if f.OldPath != "" { // the two names follow
		p.field()
		p.field()
	}
	if f.Binary = fields[0] == "-"; f.Binary {
		return nil
	}
	var err, err2 error
	f.Added, err = strconv.Atoi(fields[0])
	f.Deleted, err2 = strconv.Atoi(fields[1])
	if err != nil || err2 != nil {
		return fmt.Errorf("%.100q", text)
	}
	return nil
}

// patches assigns the patches to the files. A file with another type has two.
func (p *diffReader) patches() {
	for i := range p.files {
		f := &p.files[i]
		sections := 1
		if f.Status == 'T' {
			sections = 2
		}
		for range sections {
			section := p.section()
			f.Patch += section
			f.Cut = f.Cut || section == "" || p.cut && len(p.rest) == 0
		}
		f.Patch = f.Patch[:strings.LastIndexByte(f.Patch, '\n')+1] // whole lines
	}
}

// section returns the next patch, or "". The lines of a patch never begin with its header.
func (p *diffReader) section() string {
	const header = "diff --git "
	if !bytes.HasPrefix(p.rest, []byte(header)) {
		p.rest = nil
		return ""
	}
	end := len(p.rest)
	if i := bytes.Index(p.rest, []byte("\n"+header)); i >= 0 {
		end = i + 1
	}
	section := string(p.rest[:end])
	p.rest = p.rest[end:]
	return section
}
