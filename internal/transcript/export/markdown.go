package export

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
)

// Markdown writes a session as Markdown. Headings, notes and folds are pawl's own;
// every text of the session is in a code fence that it cannot close, every name in a
// code span.
func Markdown(w io.Writer, d Document) error {
	m := &markdown{bufio.NewWriter(w)}
	if err := write(m, d); err != nil {
		return err
	}
	return m.Flush()
}

// markdown writes blocks. Its buffer keeps the first error.
type markdown struct{ *bufio.Writer }

func (m *markdown) begin(h header) error {
	fmt.Fprintf(m, "# %s\n\n", span(h.Title))
	for _, f := range h.Facts {
		fmt.Fprintf(m, "- %s: %s\n", f.Label, span(f.Value))
	}
	if h.Summary != "" {
		fmt.Fprintf(m, "- Summary: %s\n", span(h.Summary))
	}
	for _, c := range h.Subagents {
		fmt.Fprintf(m, "- Subagent: %s\n", span(c))
	}
	return nil
}

func (m *markdown) block(b block) error {
	switch b.Kind {
	case turnBlock:
		fmt.Fprintf(m, "\n## %s\n\n%s\n", b.Label, b.Mark)
	case noteBlock:
		fmt.Fprintf(m, "\n*%s*", b.Label)
		if b.Name != "" {
			fmt.Fprintf(m, " %s", span(b.Name))
		}
		fmt.Fprintln(m)
	case sayBlock:
		fmt.Fprintf(m, "\n### %s\n", b.Label)
		m.fence("", b.Text)
	case foldBlock:
		m.fold(b)
	}
	for _, f := range b.Files {
		fmt.Fprintf(m, "\n- File: %s, %d bytes\n", span(f.Name), f.Size)
	}
	_, err := m.Write(nil) // the first error so far
	return err
}

// fold writes a collapsible block. Its first line is HTML, up to the empty line after
// it.
func (m *markdown) fold(b block) {
	fmt.Fprintf(m, "\n<details><summary>%s</summary>\n", html.EscapeString(b.summary()))
	for _, p := range b.Parts {
		if p.Label != "" {
			fmt.Fprintf(m, "\n%s", p.Label)
			if p.Name != "" {
				fmt.Fprintf(m, " %s", span(p.Name))
			}
			fmt.Fprintln(m)
		}
		m.fence(p.Lang, p.Text)
	}
	fmt.Fprint(m, "\n</details>\n")
}

// summary returns the summary line of a fold.
func (b block) summary() string {
	s := strings.TrimSpace(b.Label + " " + b.Name)
	if b.Mark != "" {
		s += " [" + b.Mark + "]"
	}
	return s
}

func (m *markdown) fence(lang string, e excerpt) {
	ticks := strings.Repeat("`", max(3, longestRun(e.Text)+1))
	fmt.Fprintf(m, "\n%s%s\n%s\n%s\n", ticks, lang, e.Text, ticks)
	if left := e.leftOut(); left != "" {
		fmt.Fprintf(m, "\n*%s*\n", left)
	}
}

func (m *markdown) end() error { return nil }

// span returns a code span: nothing in it is Markdown, or ends it. The text is one
// line.
func span(s string) string {
	if s == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestRun(s)+1)
	if ticks != "`" || strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") {
		s = " " + s + " " // a space on each side is not part of the text
	}
	return ticks + s + ticks
}

// longestRun returns the length of the longest run of backticks.
func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}
