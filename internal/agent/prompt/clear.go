package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// Limits of clearing.
const (
	clearProtect      = 40_000 // tokens of the newest results that are not cleared, at most
	clearStrides      = 2      // the cleared part grows by at least the protected tokens divided by this
	clearLeast        = 1000   // bytes: a smaller result is not worth it
	clearedNoteTokens = 110    // tokens of the note that replaces a cleared result
)

// clearing says how much is cleared, in tokens. All results before one message, the boundary,
// are replaced by a note.
//
// A provider caches the common beginning of two requests. So the boundary moves rarely: only
// when at least a stride can be cleared at once. As it depends on the conversation only, every
// request of a session, also after a resume, finds the same boundary; between two moves a
// growing conversation is only appended to.
type clearing struct {
	protect int // tokens of the newest results that stay
	stride  int // the least to clear at once
	from    int // a smaller conversation is left as it is
}

// boundary returns the index of the first message that is not cleared. It replays the growth of
// the conversation: with each message the boundary stays or, if that pays, moves on.
func (c clearing) boundary(messages []measured) int {
	var boundary int
	var old, newest int // messages before old are not protected; the results of the others have newest tokens
	var open, gain int  // messages from boundary to open could be cleared, for so many tokens
	total := 0
	for i, m := range messages {
		total += m.tokens
		newest += m.results
		for old < i && newest-messages[old].results >= c.protect {
			newest -= messages[old].results
			old++
		}
		for ; open < old; open++ {
			gain += messages[open].gain
		}
		if total >= c.from && gain >= c.stride {
			boundary, gain = open, 0
		}
	}
	return boundary
}

// beginsTurn reports whether a turn begins with the message. The conversation does not record
// that; a prompt that steers mostly comes after results. A canceled turn counts as part of the
// next one.
func beginsTurn(messages []pawl.Message, i int) bool {
	return messages[i].Role == pawl.RoleUser && (i == 0 || messages[i-1].Role == pawl.RoleAssistant)
}

// saves returns how many tokens of a part clearing would save; 0 means that it is not worth it.
func saves(part pawl.Part, tokens int) int {
	if r, ok := part.(pawl.ToolResult); ok && (len(r.Content) >= clearLeast || len(r.Files) > 0) {
		return max(tokens-clearedNoteTokens, 0)
	}
	return 0
}

// clearBefore returns the conversation with the results before the boundary cleared. It does not
// change messages.
func (s *Sizes) clearBefore(messages []pawl.Message, boundary int) []pawl.Message {
	if boundary == 0 {
		return messages
	}
	cleared := slices.Clone(messages)
	for i := range cleared[:boundary] {
		if s.known[i].gain == 0 {
			continue
		}
		if s.known[i].cleared == nil {
			s.known[i].cleared = clearParts(messages, i)
		}
		cleared[i].Parts = s.known[i].cleared
	}
	return cleared
}

// clearParts returns the parts of a message with a note in place of each result that is worth it.
func clearParts(messages []pawl.Message, i int) pawl.Parts {
	var calls []pawl.ToolCall
	if i > 0 {
		calls = messages[i-1].Parts.Calls()
	}
	parts := slices.Clone(messages[i].Parts)
	for j, p := range parts {
		if r, ok := p.(pawl.ToolResult); ok && saves(p, estimatePart(p)) > 0 {
			parts[j] = pawl.ToolResult{Call: r.Call, Content: clearedNote(toolOf(calls, r.Call), r), IsError: r.IsError}
		}
	}
	return parts
}

func toolOf(calls []pawl.ToolCall, id pawl.CallID) string {
	for _, c := range calls {
		if c.ID == id {
			return c.Name
		}
	}
	return "a tool"
}

// clearedNote returns the note that replaces a cleared result. It does not suggest to simply run
// the call again: a call that writes would write twice.
func clearedNote(tool string, r pawl.ToolResult) string {
	files := ""
	if n := len(r.Files); n > 0 {
		files = " and " + humanize.Plural(n, "file")
	}
	how := "by the same call if it only reads"
	if id := blobIn(r.Content); id != "" {
		how = "read blob:" + id + ", or " + how
	}
	return fmt.Sprintf("[The result of %.60s was cleared to save space: %s in %s%s. Its effects remain. To read it again: %s.]",
		tool, humanize.Plural(len(r.Content), "byte"), humanize.Plural(lines(r.Content), "line"), files, how)
}

func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// How a truncated result names the blob with the full text.
const (
	blobPrefix = "read blob:"
	blobHex    = 64 // a SHA-256
)

// blobIn returns the id of the blob that a text was truncated from, or "".
func blobIn(text string) string {
	at := strings.LastIndex(text, blobPrefix)
	if at < 0 || len(text) < at+len(blobPrefix)+blobHex {
		return ""
	}
	id := text[at+len(blobPrefix):][:blobHex]
	if strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	return id
}
