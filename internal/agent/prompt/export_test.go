package prompt

import "github.com/pawl-dev/pawl"

// Exported for tests.
var (
	CutText    = cutText
	BeginsTurn = beginsTurn
	DigestHead = digestHead
)

// Boundary is the first message that clearing leaves.
func Boundary(messages []pawl.Message, protect, stride, from int) int {
	var s Sizes
	return clearing{protect, stride, from}.boundary(s.of(messages))
}

// ClearBefore clears the results before a boundary.
func ClearBefore(messages []pawl.Message, boundary int) []pawl.Message {
	var s Sizes
	s.of(messages)
	return s.clearBefore(messages, boundary)
}

// Clear clears what such limits permit.
func Clear(messages []pawl.Message, protect int) []pawl.Message {
	return ClearBefore(messages, Boundary(messages, protect, protect/2, 0))
}
