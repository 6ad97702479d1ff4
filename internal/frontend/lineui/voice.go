package lineui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/weak"
)

const (
	indent         = "  " // stands before what a stranger wrote
	goesOn         = `\ ` // stands at the margin, before the rest of a line that is too long
	defaultColumns = 80   // of a terminal that does not tell
	minColumns     = 20   // fewer are not believed
	tabStop        = 8
	maxBlock       = 2_000 // lines that are said at once
)

// voice writes what is said, line by line.
type voice struct {
	w       io.Writer
	columns func() int
	open    bool    // a line is begun and not ended
	margin  *margin // that it belongs to; nil means the prompt
	spoke   time.Time
}

// write begins at the margin.
func (v *voice) write(text string) {
	if v.open {
		text = "\n" + text
	}
	v.open, v.margin, v.spoke = false, nil, time.Now()
	_, _ = io.WriteString(v.w, text) // there is nobody left to tell
}

// say says a line of pawl's own. What of it a stranger wrote was made safe before.
func (v *voice) say(format string, arguments ...any) {
	v.write(fmt.Sprintf(format, arguments...) + "\n")
}

// prompt begins a line that the person ends.
func (v *voice) prompt(text string) {
	v.write(text)
	v.open = true
}

// typed says that the person has ended a line.
func (v *voice) typed() { v.open, v.margin = false, nil }

// end ends the line that is begun.
func (v *voice) end() {
	if v.open {
		v.write("")
	}
}

// prompted reports whether a line is begun that the person ends.
func (v *voice) prompted() bool { return v.open && v.margin == nil }

// block says lines that a stranger wrote. Of very many it leaves out the end, and
// says so.
func (v *voice) block(text string) {
	lines := strings.Split(strings.TrimRight(shown(text), "\n"), "\n")
	left := len(lines) - maxBlock
	if left > 0 {
		lines = lines[:maxBlock]
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(indent+line, " \t") + "\n")
	}
	v.write(b.String())
	if left > 0 {
		v.say("note: %s more", humanize.Plural(left, "line"))
	}
}

// whole says all of what a person is asked about: nothing is left out or hidden.
// A line that the screen would break is broken here, with a mark at the margin: what
// the terminal breaks would stand there like pawl's own words.
func (v *voice) whole(text string) {
	columns := defaultColumns
	if v.columns != nil {
		columns = max(v.columns(), minColumns)
	}
	if !weak.On("show.codes") {
		text = sanitize.Marked(text)
	}
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		broken(&b, line, columns-1)
	}
	v.write(b.String())
}

// broken writes a line of at most so many columns, and more below it if it is
// longer. It is broken behind a blank, if there is one.
func broken(b *strings.Builder, line string, columns int) {
	mark := indent
	for {
		n := fitting(line, columns-len(mark))
		b.WriteString(mark + line[:n] + "\n")
		if line = line[n:]; line == "" {
			return
		}
		mark = goesOn
	}
}

// fitting is how much of a line, at least a character, is said in so many columns.
func fitting(line string, columns int) int {
	at, blank := 0, 0
	for i, r := range line {
		wide := ansi.StringWidth(string(r))
		if r == '\t' {
			wide = tabStop // it is that at most
		}
		if at += wide; at > columns && i > 0 {
			if blank > 0 {
				return blank
			}
			return i
		}
		if r == ' ' {
			blank = i + 1
		}
	}
	return len(line)
}

// shown is a text of many lines as it is shown.
func shown(text string) string {
	if weak.On("plain") {
		return text
	}
	return sanitize.Text(text)
}

// maxName is how many characters of a text are said where one line has to do.
const maxName = 200

// name is a text on one line, cut if it is long. What does not show is written as
// its code.
func name(text string) string {
	text = strings.TrimSpace(text)
	if weak.On("plain") {
		return text
	}
	runes := []rune(sanitize.Line(text))
	if len(runes) > maxName {
		return string(runes[:maxName]) + " ..."
	}
	return string(runes)
}
