package prompt

import "github.com/pawl-dev/pawl"

// What the tests look into.
var (
	CutText     = cutText
	ClearBefore = clearBefore
	BeginsTurn  = beginsTurn
)

// Place is where Clear would stop with other limits.
func Place(messages []pawl.Message, protect, stride, turns int) int {
	return clearing{protect, stride, turns}.place(messages)
}
