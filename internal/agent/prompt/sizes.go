package prompt

import "github.com/pawl-dev/pawl"

// Sizes caches the sizes of a session's messages, so that each is measured only once. In the
// conversations passed to it each call must have its result. The zero value is ready to use.
type Sizes struct{ known []measured }

// measured is the size of one message. Seq, role and number of parts identify the message,
// because the log never changes.
type measured struct {
	seq   pawl.Seq
	role  pawl.Role
	parts int

	tokens  int        // in all
	results int        // in its results
	gain    int        // tokens saved by clearing the results
	cleared pawl.Parts // its parts with cleared results; nil until needed
}

// of returns the sizes of the messages; it measures those that are new.
func (s *Sizes) of(messages []pawl.Message) []measured {
	same := 0
	for same < min(len(s.known), len(messages)) && s.known[same].is(messages[same]) {
		same++
	}
	s.known = s.known[:same]
	for _, m := range messages[same:] {
		s.known = append(s.known, measure(m))
	}
	return s.known
}

func (w measured) is(m pawl.Message) bool {
	return w.seq == m.Seq && w.role == m.Role && w.parts == len(m.Parts)
}

func measure(m pawl.Message) measured {
	w := measured{seq: m.Seq, role: m.Role, parts: len(m.Parts), tokens: messageTokens}
	for _, p := range m.Parts {
		n := estimatePart(p)
		w.tokens += n
		w.gain += saves(p, n)
		if _, ok := p.(pawl.ToolResult); ok {
			w.results += n
		}
	}
	return w
}

func tokensOf(messages []measured) int {
	n := 0
	for _, m := range messages {
		n += m.tokens
	}
	return n
}

func gainOf(messages []measured) int {
	n := 0
	for _, m := range messages {
		n += m.gain
	}
	return n
}

// Keep returns the index of the first message that stays in a compaction, and the tokens of those
// that stay: as many of the newest messages as have at most most tokens, and all from index must
// on. The first is never a tool result, which must stay with its call.
func (s *Sizes) Keep(messages []pawl.Message, most, must int) (from, tokens int) {
	known := s.of(messages)
	from, tokens = must, tokensOf(known[must:])
	n := tokens
	for i := must - 1; i >= 0; i-- {
		if n += known[i].tokens; n > most {
			break
		}
		if known[i].role != pawl.RoleTool {
			from, tokens = i, n
		}
	}
	return from, tokens
}

// NewestStep returns the index of the newest reply in the turn that began with the given event,
// or of the user messages after it if it has no reply yet.
func NewestStep(messages []pawl.Message, began pawl.Seq) int {
	i := len(messages)
	for i > 0 && messages[i-1].Role == pawl.RoleUser {
		i--
	}
	if i > 0 && messages[i-1].Role == pawl.RoleTool && messages[i-1].Seq > began {
		i--
	}
	if i > 0 && messages[i-1].Role == pawl.RoleAssistant && messages[i-1].Seq > began {
		i--
	}
	return i
}
