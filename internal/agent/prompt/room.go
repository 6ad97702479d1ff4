package prompt

import (
	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
)

// Parts of a window.
const (
	replyShare  = 8  // is kept free for a reply where nobody knows how long one gets
	marginShare = 8  // of what is left stays free, as tokens are estimated
	fullPercent = 85 // of what a request may take: then the conversation is summed up
	clearShare  = 2  // of it: then old results are cleared
	keepShare   = 4  // of the window stays word for word when the rest is summed up
	fitPercent  = 80 // of a request that was too large the next one may have
)

// Room is how much a model takes. The zero value is that nobody knows.
type Room struct {
	Context int // the window, in all
	Input   int // of it for a request; 0 means no bound
}

// RoomOf returns the room in a window. A model that may fill all of its window
// with a reply leaves half of it for the request.
func RoomOf(w model.Window) Room {
	if w.Context <= 0 {
		return Room{}
	}
	reply := w.Output
	if reply <= 0 {
		reply = w.Context / replyShare
	}
	left := w.Context - min(reply, w.Context/2)
	return Room{Context: w.Context, Input: left - left/marginShare}
}

// After returns the room that is left for a request after one of so many tokens,
// by estimate, was too large.
func (r Room) After(overflow int) Room {
	if r.Input == 0 || overflow < r.Input {
		r.Input = overflow
	}
	r.Input = max(r.Input*fitPercent/100, 1)
	return r
}

// Full is the size of a request from which on the conversation is to be made
// smaller; 0 means never.
func (r Room) Full() int { return r.Input * fullPercent / 100 }

// Keep is how much of a conversation of a given size stays word for word when
// the rest is summed up.
func (r Room) Keep(size int) int {
	if r.Context == 0 {
		return size / keepShare
	}
	return min(r.Context/keepShare, size/2) // less than half of it would not be worth it
}

func (r Room) clearing() clearing {
	protect := clearProtect
	switch {
	case r.Context > 0:
		protect = min(protect, r.Context/keepShare)
	case r.Input > 0:
		protect = min(protect, r.Input/keepShare)
	}
	return clearing{protect: protect, stride: max(protect/clearStrides, 1), from: r.Input / clearShare}
}

// Fit returns the conversation so that a request fits the room, of which fixed
// tokens go to what is not conversation: first old results are cleared, and if
// that is not enough, the middle is left out; see [Truncate]. Without a bound it
// stays as it is. It is a function of the conversation and the room alone.
func (s *Sizes) Fit(messages []pawl.Message, r Room, fixed int, touched func(pawl.CallID) []string) []pawl.Message {
	if r.Input == 0 {
		return messages
	}
	known := s.of(messages)
	place := r.clearing().place(known)
	cleared := s.clearBefore(messages, place)
	if fixed+tokensOf(known)-gainOf(known[:place]) <= r.Input {
		return cleared
	}
	return Truncate(cleared, r.Input-fixed, touched)
}

// Size returns how large a request is that nothing is left out of: by estimate,
// and as near to the provider's own count as c permits.
func (s *Sizes) Size(messages []pawl.Message, r Room, fixed int, c Counted) (estimated, counted int) {
	known := s.of(messages)
	place, was := 0, 0
	first := c.After(messages)
	if r.Input > 0 {
		place = r.clearing().place(known)
		was = r.clearing().place(known[:max(first-1, 0)]) // when it was counted, the reply was not there yet
	}
	estimated = fixed + tokensOf(known) - gainOf(known[:place])
	if c.Known == 0 {
		return estimated, estimated
	}
	after := tokensOf(known[first:])
	return estimated, max(c.Known+after-gainOf(known[min(was, place):place]), 0)
}
