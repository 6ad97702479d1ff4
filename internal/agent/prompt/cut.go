package prompt

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// cutMost is the first limit that results are cut to, in bytes.
const cutMost = 32_000

// cutToFit cuts the results that exceed a limit, and halves the limit until the messages fit the
// budget or the limit is the level's. So the largest results lose the most.
func cutToFit(messages []pawl.Message, budget int, l level) []pawl.Message {
	for limit := cutMost; ; limit = max(limit/2, l.bytes) {
		out := cutResults(messages, limit, l.files && limit == l.bytes)
		if limit == l.bytes || Estimate(out) <= budget {
			return out
		}
	}
}

func cutResults(messages []pawl.Message, limit int, files bool) []pawl.Message {
	out := slices.Clone(messages)
	for i := range out {
		if out[i].Role != pawl.RoleTool {
			continue
		}
		out[i].Parts = slices.Clone(out[i].Parts)
		for j, p := range out[i].Parts {
			r, ok := p.(pawl.ToolResult)
			if !ok {
				continue
			}
			r.Content = cutText(r.Content, limit)
			if n := len(r.Files); n > 0 && files {
				r.Files = nil
				r.Content += fmt.Sprintf("\n[%s omitted to save space]", humanize.Plural(n, "file"))
			}
			out[i].Parts[j] = r
		}
	}
	return out
}

// cutText returns the head and the tail of a text, together limit bytes, with a note on what is
// missing in between. A text that would hardly get shorter is returned as it is.
func cutText(text string, limit int) string {
	head, tail := limit/2, len(text)-limit/2
	if tail <= head {
		return text
	}
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	where := ""
	if id := blobIn(text); id != "" {
		where = ": read blob:" + id + " to see all"
	}
	note := fmt.Sprintf("\n… %d bytes omitted to save space%s …\n", tail-head, where)
	if tail-head <= len(note) {
		return text
	}
	return text[:head] + note + text[tail:]
}
