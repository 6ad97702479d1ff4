package prompt

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
)

// Bytes that a transcript has of each thing at first. They are halved together
// until all of it fits.
const (
	transcriptResult  = 2000 // a result, and a call's input
	transcriptReply   = 8000
	transcriptPrompt  = 32_000 // what a person said, or an earlier summary
	transcriptHalving = 5      // so often
)

// Transcript returns the messages as a text for a model that is to sum them up.
// It takes no more than most tokens, by estimate: results are cut to their heads
// and tails, and if that is not enough, the middle is left out.
//
// What was said or returned may hold anything. So each line of it is indented,
// and a line that is not is pawl's own: nothing that a tool returned can pass for
// the words of a person, or for the transcript's end.
func Transcript(messages []pawl.Message, most int) string {
	var entries []string
	for halved := range transcriptHalving + 1 {
		entries = transcribe(messages, halved)
		text := strings.Join(entries, "")
		if EstimateText(text) <= most {
			return text
		}
	}
	return leaveOut(entries, most)
}

// leaveOut keeps the first entry, which says what it was about, and the newest.
func leaveOut(entries []string, most int) string {
	const wordTokens = 20
	left := most - wordTokens - EstimateText(entries[0])
	from := len(entries)
	for from > 1 && EstimateText(entries[from-1]) < left {
		from--
		left -= EstimateText(entries[from]) + 1
	}
	word := fmt.Sprintf("(%d entries are left out here)\n", from-1)
	return entries[0] + word + strings.Join(entries[from:], "")
}

func transcribe(messages []pawl.Message, halved int) []string {
	var entries []string
	names := map[pawl.CallID]string{}
	add := func(label, text string, limit int) {
		entries = append(entries, label+":\n"+indent(cutText(text, limit>>halved))+"\n")
	}
	for _, m := range messages {
		for _, part := range m.Parts {
			switch p := part.(type) {
			case pawl.Text:
				limit := transcriptPrompt
				if m.Role != pawl.RoleUser {
					limit = transcriptReply
				}
				add(string(m.Role), p.Text, limit)
			case pawl.ToolCall:
				names[p.ID] = fmt.Sprintf("%.60q", p.Name) // a name may hold anything
				add("call of "+names[p.ID], string(p.Input), transcriptResult)
			case pawl.ToolResult:
				add(resultLabel(names[p.Call], p), p.Content, transcriptResult)
			case pawl.File:
				add("file", fmt.Sprintf("%.200q, %.100q, %d bytes", p.Name, p.MediaType, len(p.Data)), transcriptResult)
			case pawl.Reasoning, pawl.Patch: // not for others
			}
		}
	}
	return entries
}

func resultLabel(name string, r pawl.ToolResult) string {
	label := "result"
	if r.IsError {
		label = "error"
	}
	if name != "" {
		label += " of " + name
	}
	if n := len(r.Files); n > 0 {
		label += fmt.Sprintf(" and %d files", n)
	}
	return label
}

// indent indents each line, by whatever it is begun.
func indent(text string) string {
	return "  " + lineEnds.Replace(text)
}

// What some reader could take for a line's end.
var lineEnds = strings.NewReplacer("\r\n", "\n  ", "\n", "\n  ", "\r", "\n  ", "\v", "\n  ", "\f", "\n  ",
	"\u0085", "\n  ", "\u2028", "\n  ", "\u2029", "\n  ")
