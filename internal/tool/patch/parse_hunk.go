package patch

import "strings"

// hunks parses what follows *** Update File.
func (p *parser) hunks(f *File) error {
	if p.more() {
		if path, ok := strings.CutPrefix(p.mark(), moveMark); ok {
			if f.MoveTo = strings.TrimSpace(path); f.MoveTo == "" {
				return p.wrong("a path must follow %q", moveMark)
			}
			p.next++
		}
	}
	if p.next+1 < len(p.lines) && strings.HasPrefix(p.lines[p.next], "--- ") && strings.HasPrefix(p.lines[p.next+1], "+++ ") {
		return p.wrong("leave out the lines --- and +++ of a unified diff: the hunks begin with @@")
	}
	for p.more() {
		switch {
		case p.mark() == "":
			p.next++
			continue
		case p.mark() != eofMark && strings.HasPrefix(p.lines[p.next], "***"):
			return p.someHunk(f)
		}
		h, err := p.hunk(len(f.Hunks) == 0)
		if err != nil {
			return err
		}
		f.Hunks = append(f.Hunks, h)
	}
	return p.someHunk(f)
}

func (p *parser) someHunk(f *File) error {
	if len(f.Hunks) == 0 && f.MoveTo == "" {
		return p.wrong("the section of %s has no hunk: write @@ and then lines that begin with a space, - or +", f.Path)
	}
	return nil
}

// hunk parses the headers and lines of one hunk.
func (p *parser) hunk(first bool) (Hunk, error) {
	h := Hunk{Line: p.next + 1}
	for ; p.more() && strings.HasPrefix(p.lines[p.next], "@@"); p.next++ {
		if unifiedRange.MatchString(p.mark()) {
			return h, p.wrong("line numbers are not used: write @@ alone, or @@ and a line of the file that stands before the change, such as its function")
		}
		if header := header(p.mark()); header != "" {
			h.Headers = append(h.Headers, header)
		}
	}
	if p.next == h.Line-1 && !first {
		return h, p.wrong("a hunk begins with @@")
	}
	if err := p.hunkLines(&h); err != nil {
		return h, err
	}
	for _, l := range h.Lines {
		if l.Kind != Kept {
			return h, nil
		}
	}
	p.next = h.Line - 1
	return h, p.wrong("the hunk changes nothing: lines to add begin with +, lines to remove with -")
}

// header returns the text after @@.
func header(mark string) string {
	text := strings.TrimPrefix(mark, "@@")
	text = strings.TrimSuffix(text, "@@") // some models close it as a unified diff does
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return strings.TrimRight(strings.TrimPrefix(text, " "), " \t")
}

func (p *parser) hunkLines(h *Hunk) error {
	blank := 0 // empty lines at the end: more likely a gap between hunks than lines of the file
	defer func() { h.Lines = h.Lines[:len(h.Lines)-blank] }()
	for ; p.more(); p.next++ {
		line := p.lines[p.next]
		switch {
		case p.mark() == eofMark:
			h.AtEnd = true
			p.next++
			return nil
		case strings.HasPrefix(line, "***"), strings.HasPrefix(line, "@@"):
			return nil
		case strings.HasPrefix(line, "+"):
			h.Lines = append(h.Lines, Line{Added, line[1:]})
			blank = 0
		case strings.HasPrefix(line, "-"), strings.HasPrefix(line, " "):
			h.Lines = append(h.Lines, Line{Kind(line[0]), strings.TrimSuffix(line[1:], "\r")})
			blank = 0
		case strings.TrimSpace(line) == "":
			h.Lines = append(h.Lines, Line{Kept, ""})
			blank++
		default:
			return p.wrong("%s: each line of a hunk begins with a space (it stays), - (it goes) or + (it comes)", quote(line))
		}
	}
	return nil
}
