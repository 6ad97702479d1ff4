package prompt

import "github.com/pawl-dev/pawl"

// Sizes remembers how large the messages of a session are, so that each is
// weighed once and not again at each step. What it is asked about must be whole:
// each call has its result. The zero value is ready.
type Sizes struct{ known []weighed }

// weighed is what is known of a message. Its number, role and length are enough
// to know it again: what the log says never changes.
type weighed struct {
	seq   pawl.Seq
	role  pawl.Role
	parts int

	tokens  int        // of all of it
	results int        // of its results
	gain    int        // how many less when they are cleared
	cleared pawl.Parts // what it has then; nil until somebody asks
}

// of returns what is known of the messages, after those that are new to it were
// weighed.
func (s *Sizes) of(messages []pawl.Message) []weighed {
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

func (w weighed) is(m pawl.Message) bool {
	return w.seq == m.Seq && w.role == m.Role && w.parts == len(m.Parts)
}

func measure(m pawl.Message) weighed {
	w := weighed{seq: m.Seq, role: m.Role, parts: len(m.Parts), tokens: messageTokens}
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

func tokensOf(messages []weighed) int {
	n := 0
	for _, m := range messages {
		n += m.tokens
	}
	return n
}

func gainOf(messages []weighed) int {
	n := 0
	for _, m := range messages {
		n += m.gain
	}
	return n
}

// Keep returns the index of the first message that stays when those before it
// are summed up, and the tokens of those that stay: as many of the newest as take
// no more than most tokens, and all from the index must on. It is never one of
// results, which stay with their calls.
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

// NewestStep returns the index of the newest reply of a turn that has begun with
// the given event, or if there is none, of what was said in it.
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
