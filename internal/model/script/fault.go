package script

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
)

// Kind says what went wrong.
type Kind string

// The kinds. A line can ask for all but the last; only error, overloaded and
// misfit come as a [Fault], the others are streams that go wrong.
const (
	KindError      Kind = "error"      // the provider refuses or breaks
	KindOverloaded Kind = "overloaded" // the provider asks to come back later
	KindDrop       Kind = "drop"       // the stream ends in mid-text
	KindHang       Kind = "hang"       // the stream stops in mid-text and stays open
	KindGarbage    Kind = "garbage"    // the input of a call is not JSON
	KindMisfit     Kind = "misfit"     // the script does not fit what was asked; trying again is no use
)

// Fault is the error of a reply that fails, because the script says so or
// because it does not fit the request.
type Fault struct {
	Kind    Kind
	Message string // for a misfit: file, line, what was expected and what came
}

func (f *Fault) Error() string { return fmt.Sprintf("script: %s: %s", f.Kind, f.Message) }

// fault is the failure that the line asks for. Its text is the message.
func (r reply) fault() *Fault {
	message := r.Text
	switch {
	case message != "":
	case r.Fault == KindOverloaded:
		message = "the provider is overloaded, try again later"
	default:
		message = "the provider could not answer"
	}
	return &Fault{Kind: r.Fault, Message: message}
}

func misfit(format string, args ...any) *Fault {
	return &Fault{Kind: KindMisfit, Message: fmt.Sprintf(format, args...)}
}

// lastText is what an expectation is held against: the texts and tool results of the last message.
func lastText(messages []pawl.Message) string {
	if len(messages) == 0 {
		return ""
	}
	var texts []string
	for _, part := range messages[len(messages)-1].Parts {
		switch p := part.(type) {
		case pawl.Text:
			texts = append(texts, p.Text)
		case pawl.ToolResult:
			texts = append(texts, p.Content)
		case pawl.Reasoning, pawl.ToolCall, pawl.File, pawl.Patch:
		}
	}
	return strings.Join(texts, "\n")
}

// maxQuote bounds what a fault repeats of a message, in bytes.
const maxQuote = 500

func quote(s string) string {
	if len(s) <= maxQuote {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%s… (%d bytes)", strconv.Quote(strings.ToValidUTF8(s[:maxQuote], "")), len(s))
}
