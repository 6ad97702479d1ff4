package prompt

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// The first limits of the entries of a transcript, in bytes. They are halved together until it
// fits.
const (
	transcriptResult  = 2000 // a result, and a call's input
	transcriptReply   = 8000
	transcriptPrompt  = 32_000 // a prompt, or an earlier summary
	transcriptHalving = 5      // at most so often
)

// Transcript returns the messages as a text for a model that summarizes them. It has at most most
// tokens, by estimate: results are cut to their heads and tails; if that is not enough, the
// middle is left out.
//
// Messages and results are untrusted text. So each of their lines is indented, and a line that
// is not indented is pawl's own: no tool result can pass for a message of the user, or for the
// end of the transcript.
func Transcript(messages []pawl.Message, most int) string {
	var entries []string
	for halved := range transcriptHalving + 1 {
		entries = transcribe(messages, halved)
		text := strings.Join(entries, "")
		if EstimateText(text) <= most {
			return text
		}
	}
	return dropMiddleEntries(entries, most)
}

// dropMiddleEntries keeps the first entry, which states the task, and the newest ones.
func dropMiddleEntries(entries []string, most int) string {
	const noteTokens = 20
	left := most - noteTokens - EstimateText(entries[0])
	from := len(entries)
	for from > 1 && EstimateText(entries[from-1]) < left {
		from--
		left -= EstimateText(entries[from]) + 1
	}
	note := fmt.Sprintf("(%d entries are left out here)\n", from-1)
	return entries[0] + note + strings.Join(entries[from:], "")
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
				names[p.ID] = fmt.Sprintf("%.60q", p.Name) // quoted: a name is untrusted text
				add("call of "+names[p.ID], string(p.Input), transcriptResult)
			case pawl.ToolResult:
				add(resultLabel(names[p.Call], p), p.Content, transcriptResult)
			case pawl.File:
				add("file", fmt.Sprintf("%.200q, %.100q, %d bytes", p.Name, p.MediaType, len(p.Data)), transcriptResult)
			case pawl.Reasoning, pawl.Patch: // left out
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
		label += " and " + humanize.Plural(n, "file")
	}
	return label
}

// indent indents each line.
func indent(text string) string {
	return "  " + lineEnds.Replace(text)
}

// Everything that a reader could take for the end of a line.
var lineEnds = strings.NewReplacer("\r\n", "\n  ", "\n", "\n  ", "\r", "\n  ", "\v", "\n  ", "\f", "\n  ",
	"\u0085", "\n  ", "\u2028", "\n  ", "\u2029", "\n  ")
