package api

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// Limits of the comments of a prompt.
const (
	maxComments     = 100
	maxCommentPath  = 4096
	maxCommentQuote = 16 << 10
	maxCommentText  = 16 << 10
)

// Comment is what a user says about lines of a file or a diff, which becomes part of a prompt.
type Comment struct {
	Path  string `json:"path"`            // relative to the working directory
	Line  int    `json:"line"`            // the first line, from 1
	End   int    `json:"end,omitempty"`   // the last line; the first one if omitted
	Side  string `json:"side,omitempty"`  // of a diff: new, the default, or old
	Quote string `json:"quote,omitempty"` // the lines as the user saw them
	Text  string `json:"text"`            // the comment
}

// CommentText returns comments as text for the model: for each the file, the lines that it is about, and
// what the user says.
func CommentText(list []Comment) (pawl.Text, error) {
	if len(list) > maxComments {
		return pawl.Text{}, fault.New(pawl.ErrInvalid, "too many comments: %d is the limit", maxComments)
	}
	var b strings.Builder
	b.WriteString("Comments on lines of files:\n")
	for i, c := range list {
		if why := c.check(); why != "" {
			return pawl.Text{}, fault.New(pawl.ErrInvalid, "comment %d: %s", i+1, why)
		}
		c.write(&b)
	}
	return pawl.Text{Text: b.String()}, nil
}

// check says what is wrong with a comment, or "".
func (c Comment) check() string {
	switch {
	case c.Path == "" || len(c.Path) > maxCommentPath || strings.ContainsAny(c.Path, "\n\r\x00"):
		return "path must be a path on one line"
	case c.Line < 1 || c.End != 0 && c.End < c.Line:
		return "line and end must be numbers of lines, from 1"
	case c.Side != "" && c.Side != "new" && c.Side != "old":
		return "side must be new or old"
	case strings.TrimSpace(c.Text) == "":
		return "text must not be empty"
	case len(c.Text) > maxCommentText || len(c.Quote) > maxCommentQuote:
		return fmt.Sprintf("text and quote must not have more than %d bytes", maxCommentText)
	case !utf8.ValidString(c.Path + c.Text + c.Quote):
		return "it is not valid UTF-8"
	}
	return ""
}

func (c Comment) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s:%d", c.Path, c.Line)
	if c.End > c.Line {
		fmt.Fprintf(b, "-%d", c.End)
	}
	if c.Side == "old" {
		b.WriteString(" (before the change)")
	}
	b.WriteByte('\n')
	if c.Quote != "" {
		for line := range strings.SplitSeq(strings.TrimRight(c.Quote, "\n"), "\n") {
			b.WriteString("> " + line + "\n")
		}
	}
	b.WriteString(strings.TrimSpace(c.Text) + "\n")
}
