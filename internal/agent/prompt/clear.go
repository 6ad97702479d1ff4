package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// Limits of clearing.
const (
	clearProtect = 40_000 // tokens of the newest results that stay, at most
	clearStrides = 2      // the cleared part grows by at least the protected tokens over this
	clearLeast   = 1000   // bytes of a result below which it is not worth it
	markTokens   = 110    // what stands in a cleared result's place
)

// clearing says how much is cleared, how often and from when on, in tokens. What
// is cleared is everything before one place: a word stands there in place of each
// result.
//
// A provider's cache holds as far as two requests begin alike. So the place moves
// seldom: only when at least a stride can be cleared at once. As it is a function
// of the conversation, each request of a session and each resumed one finds the
// same place; between two moves a longer conversation only appends.
type clearing struct {
	protect int // of the newest results stay
	stride  int
	from    int // a conversation below this is left as it is
}

// place returns the index of the first message that is not cleared. It goes
// through the conversation as it grew, so that at each message the place is
// where it was before or, if that pays, further on.
func (c clearing) place(messages []weighed) int {
	var place int
	var beyond, newest int // messages before beyond are not protected by their age; the others hold newest tokens
	var open, gain int     // messages from place to open could be cleared, for so many tokens
	total := 0
	for i, m := range messages {
		total += m.tokens
		newest += m.results
		for beyond < i && newest-messages[beyond].results >= c.protect {
			newest -= messages[beyond].results
			beyond++
		}
		for ; open < beyond; open++ {
			gain += messages[open].gain
		}
		if total >= c.from && gain >= c.stride {
			place, gain = open, 0
		}
	}
	return place
}

// beginsTurn reports whether a turn begins with the message. The conversation
// does not say so; what a person says in mid-turn mostly comes after results. A
// turn that was canceled counts as part of the next one.
func beginsTurn(messages []pawl.Message, i int) bool {
	return messages[i].Role == pawl.RoleUser && (i == 0 || messages[i-1].Role == pawl.RoleAssistant)
}

// saves returns how many of a part's tokens clearing would save; 0 means that it
// is not worth it.
func saves(part pawl.Part, tokens int) int {
	if r, ok := part.(pawl.ToolResult); ok && (len(r.Content) >= clearLeast || len(r.Files) > 0) {
		return max(tokens-markTokens, 0)
	}
	return 0
}

// clearBefore returns the conversation with the results of the messages before a
// place cleared. The conversation itself is not changed.
func (s *Sizes) clearBefore(messages []pawl.Message, place int) []pawl.Message {
	if place == 0 {
		return messages
	}
	cleared := slices.Clone(messages)
	for i := range cleared[:place] {
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

// clearParts returns the results of a message with a word in place of each that is worth it.
func clearParts(messages []pawl.Message, i int) pawl.Parts {
	var calls []pawl.ToolCall
	if i > 0 {
		calls = messages[i-1].Parts.Calls()
	}
	parts := slices.Clone(messages[i].Parts)
	for j, p := range parts {
		if r, ok := p.(pawl.ToolResult); ok && saves(p, estimatePart(p)) > 0 {
			parts[j] = pawl.ToolResult{Call: r.Call, Content: mark(toolOf(calls, r.Call), r), IsError: r.IsError}
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

// mark is the word in a cleared result's place. It does not ask to run the call
// again without more ado: one that wrote something would write it twice.
func mark(tool string, r pawl.ToolResult) string {
	files := ""
	if n := len(r.Files); n > 0 {
		files = fmt.Sprintf(" and %d files", n)
	}
	again := "by the same call if it only reads"
	if id := blobIn(r.Content); id != "" {
		again = "read blob:" + id + ", or " + again
	}
	return fmt.Sprintf("[What %.60s returned is cleared to save room: %d bytes in %d lines%s. What it did stands. Get the text again if you need it: %s.]",
		tool, len(r.Content), lines(r.Content), files, again)
}

func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// How a result that was too large for the log names the blob that holds it all.
const (
	blobWord = "read blob:"
	blobHex  = 64 // a SHA-256
)

// blobIn returns the id of the blob that a text was cut from, or "".
func blobIn(text string) string {
	at := strings.LastIndex(text, blobWord)
	if at < 0 || len(text) < at+len(blobWord)+blobHex {
		return ""
	}
	id := text[at+len(blobWord):][:blobHex]
	if strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	return id
}
