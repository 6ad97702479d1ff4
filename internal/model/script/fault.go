package script

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// Kind is a kind of fault.
type Kind string

// The kinds. A script can request all but the last; only error, overloaded and misfit are returned as a
// [Fault], the others are broken streams.
const (
	KindError      Kind = "error"      // the provider rejects the request or fails
	KindOverloaded Kind = "overloaded" // the provider asks to retry later
	KindDrop       Kind = "drop"       // the stream ends in mid-text
	KindHang       Kind = "hang"       // the stream stops in mid-text and stays open
	KindGarbage    Kind = "garbage"    // the input of a call is not JSON
	KindMisfit     Kind = "misfit"     // the request does not match the script; a retry cannot help
)

// Fault is the error of a failed reply, because the script requests it or the request does not match the
// script.
type Fault struct {
	Kind    Kind
	Message string // for a misfit: file, line, expected and actual text
}

func (f *Fault) Error() string { return fmt.Sprintf("script: %s: %s", f.Kind, f.Message) }

// fault returns the error that the line requests, with its text as the message.
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

// lastText returns the text that Expect is matched against: texts, text files and tool results of the last message.
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
		case pawl.File:
			if protocol.IsText(p) {
				texts = append(texts, protocol.Quote(p))
			}
		case pawl.Reasoning, pawl.ToolCall, pawl.Patch:
		}
	}
	return strings.Join(texts, "\n")
}

// maxQuote bounds how much of a message an error quotes, in bytes.
const maxQuote = 500

func quote(s string) string {
	if len(s) <= maxQuote {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%s… (%d bytes)", strconv.Quote(strings.ToValidUTF8(s[:maxQuote], "")), len(s))
}
