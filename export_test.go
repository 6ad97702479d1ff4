package pawl

// For tests of the root that need packages above it.
var (
	DrawLog  = drawLog
	LogOf    = logOf
	PromptOf = prompted
)
