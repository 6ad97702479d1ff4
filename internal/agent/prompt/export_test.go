package prompt

import "github.com/pawl-dev/pawl"

// What the tests look into.
var (
	CutText    = cutText
	BeginsTurn = beginsTurn
	DigestHead = digestHead
)

// Place is where clearing would stop.
func Place(messages []pawl.Message, protect, stride, from int) int {
	var s Sizes
	return clearing{protect, stride, from}.place(s.of(messages))
}

// ClearBefore clears the results before a place.
func ClearBefore(messages []pawl.Message, place int) []pawl.Message {
	var s Sizes
	s.of(messages)
	return s.clearBefore(messages, place)
}

// Clear clears what such limits permit.
func Clear(messages []pawl.Message, protect int) []pawl.Message {
	return ClearBefore(messages, Place(messages, protect, protect/2, 0))
}
