package prompt

import (
	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// How a context window is divided.
const (
	replyShare  = 8  // 1/8 of the window is kept free for the reply if its length is unknown
	marginShare = 8  // 1/8 of the rest is kept free, because tokens are estimated
	fullPercent = 85 // of Budget.Input: from here on the conversation is compacted
	clearShare  = 2  // 1/2 of Budget.Input: from here on old tool results are cleared
	keepShare   = 4  // 1/4 of the window stays as it is in a compaction
	fitPercent  = 80 // of a request that was too large, the next one may have
)

// Budget is the token budget of a model. The zero value means unknown: no limits.
type Budget struct {
	Context int // the context window
	Input   int // its part for a request; 0 means no limit
}

// BudgetOf returns the budget of a context window. A model that may fill the whole window
// with a reply leaves half of it for the request.
func BudgetOf(w model.Window) Budget {
	if w.Context <= 0 {
		return Budget{}
	}
	reply := w.Output
	if reply <= 0 {
		reply = w.Context / replyShare
	}
	left := w.Context - min(reply, w.Context/2)
	return Budget{Context: w.Context, Input: left - left/marginShare}
}

// After returns the budget for the request after one that overflowed the window with this
// many tokens, by estimate.
func (b Budget) After(overflow int) Budget {
	if b.Input == 0 || overflow < b.Input {
		b.Input = overflow
	}
	b.Input = max(b.Input*fitPercent/100, 1)
	return b
}

// Full returns the size of a request from which on the conversation is compacted; 0 means
// never.
func (b Budget) Full() int { return b.Input * fullPercent / 100 }

// Keep returns how many tokens of a conversation of the given size stay as they are in a
// compaction.
func (b Budget) Keep(size int) int {
	if b.Context == 0 {
		return size / keepShare
	}
	return min(b.Context/keepShare, size/2) // to summarize less than half is not worth it
}

func (b Budget) clearing() clearing {
	protect := clearProtect
	switch {
	case b.Context > 0:
		protect = min(protect, b.Context/keepShare)
	case b.Input > 0:
		protect = min(protect, b.Input/keepShare)
	}
	return clearing{protect: protect, stride: max(protect/clearStrides, 1), from: b.Input / clearShare}
}

// Fit returns the conversation shortened so that a request fits the budget, of which fixed
// tokens go to the system prompt and the tools. It first clears old tool results; if that
// is not enough, it leaves out the middle, see [DropMiddle]. Without a limit it returns the
// messages as they are. The result depends on the arguments only.
func (s *Sizes) Fit(messages []pawl.Message, b Budget, fixed int, touched func(pawl.CallID) []string) []pawl.Message {
	if b.Input == 0 {
		return messages
	}
	known := s.of(messages)
	boundary := b.clearing().boundary(known)
	cleared := s.clearBefore(messages, boundary)
	if fixed+tokensOf(known)-gainOf(known[:boundary]) <= b.Input {
		return cleared
	}
	return DropMiddle(cleared, b.Input-fixed, touched)
}

// Size returns the size of a request with nothing left out: by estimate, and as close to
// the provider's own count as c allows.
func (s *Sizes) Size(messages []pawl.Message, b Budget, fixed int, c Counted) (estimated, counted int) {
	known := s.of(messages)
	boundary, before := 0, 0
	first := c.After(messages)
	if b.Input > 0 {
		boundary = b.clearing().boundary(known)
		before = b.clearing().boundary(known[:max(first-1, 0)]) // the counted request had no reply yet
	}
	estimated = fixed + tokensOf(known) - gainOf(known[:boundary])
	if c.Known == 0 {
		return estimated, estimated
	}
	after := tokensOf(known[first:])
	return estimated, max(c.Known+after-gainOf(known[min(before, boundary):boundary]), 0)
}
