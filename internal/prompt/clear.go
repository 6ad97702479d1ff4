package prompt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
)

// Limits of Clear.
const (
	clearProtect = 40_000 // tokens of the newest results that stay
	clearTurns   = 2      // the newest turns whose results stay
	clearStrides = 2      // the cleared part grows by at least the protected tokens over this
	clearLeast   = 1000   // bytes of a result below which it is not worth it
	markTokens   = 110    // what stands in a cleared result's place
)

// Clear returns the conversation with a word on what it was in place of each
// older result. The newest protect tokens of results stay, and so do all of the
// last two turns; protect 0 means 40,000. The conversation itself, which must be
// whole, as the log has it, is not changed.
//
// A provider's cache holds as far as two requests begin alike. So what is
// cleared is everything before one place, and the place moves seldom: only when
// at least half of protect can be cleared at once. As it is a function of the
// conversation, each request of a session and each resumed one finds the same
// place; between two moves a longer conversation only appends.
func Clear(messages []pawl.Message, protect int) []pawl.Message {
	if protect <= 0 {
		protect = clearProtect
	}
	c := clearing{protect: protect, stride: max(protect/clearStrides, 1), turns: clearTurns}
	return clearBefore(messages, c.place(messages))
}

// clearing says how much is cleared, and how often.
type clearing struct {
	protect int // tokens
	stride  int // tokens
	turns   int
}

// place returns the index of the first message that is not cleared. It goes
// through the conversation as it grew, so that at each message the place is
// where it was before or, if that pays, further on.
func (c clearing) place(messages []pawl.Message) int {
	sizes := make([]int, len(messages)) // of results, in tokens
	gains := make([]int, len(messages)) // how many of them clearing would save
	var place int
	var beyond, newest int // messages before beyond are not protected by their age; the others hold newest tokens
	var open, gain int     // messages from place to open could be cleared, for so many tokens
	var turns []int
	for i, m := range messages {
		if beginsTurn(messages, i) {
			turns = append(turns, i)
		}
		if m.Role == pawl.RoleTool {
			sizes[i], gains[i] = measure(m.Parts)
			newest += sizes[i]
		}
		for newest-sizes[beyond] >= c.protect {
			newest -= sizes[beyond]
			beyond++
		}
		limit := min(beyond, c.turnLimit(turns, i))
		for ; open < limit; open++ {
			gain += gains[open]
		}
		if gain >= c.stride {
			place, gain = open, 0
		}
	}
	return place
}

// turnLimit is where the turns that stay begin.
func (c clearing) turnLimit(turns []int, newest int) int {
	switch {
	case c.turns == 0:
		return newest
	case len(turns) < c.turns:
		return 0
	default:
		return turns[len(turns)-c.turns]
	}
}

// beginsTurn reports whether a turn begins with the message. The conversation
// does not say so; what a person says in mid-turn mostly comes after results. A
// turn that was canceled counts as part of the next one.
func beginsTurn(messages []pawl.Message, i int) bool {
	return messages[i].Role == pawl.RoleUser && (i == 0 || messages[i-1].Role == pawl.RoleAssistant)
}

// measure returns how many tokens the results take, and how many less when they
// are cleared.
func measure(parts pawl.Parts) (size, gain int) {
	for _, p := range parts {
		n := estimatePart(p)
		size += n
		if r, ok := p.(pawl.ToolResult); ok && clearable(r) {
			gain += n - markTokens
		}
	}
	return size, gain
}

func clearable(r pawl.ToolResult) bool { return len(r.Content) >= clearLeast || len(r.Files) > 0 }

// clearBefore clears the results of the messages before a place.
func clearBefore(messages []pawl.Message, place int) []pawl.Message {
	if place == 0 {
		return messages
	}
	cleared := slices.Clone(messages)
	for i := range cleared[:place] {
		if cleared[i].Role != pawl.RoleTool {
			continue
		}
		var calls []pawl.ToolCall
		if i > 0 {
			calls = cleared[i-1].Parts.Calls()
		}
		cleared[i].Parts = slices.Clone(cleared[i].Parts)
		for j, p := range cleared[i].Parts {
			if r, ok := p.(pawl.ToolResult); ok && clearable(r) {
				cleared[i].Parts[j] = pawl.ToolResult{Call: r.Call, Content: mark(toolOf(calls, r.Call), r), IsError: r.IsError}
			}
		}
	}
	return cleared
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
