package sandbox

import (
	"context"
	"sync"
)

// Report says which sandbox there is, and what was found on the way to it.
type Report struct {
	Box      string    `json:"box"` // its name; see Sandbox
	Findings []Finding `json:"findings"`
}

// Finding is one thing that a sandbox needs.
type Finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do if it is not, to the letter
}

var detected struct {
	mu     sync.Mutex
	box    Box
	report Report
}

// Detect finds the sandbox that works on this machine: it has run a command in it,
// once in the life of this process. There always is one, which may be None.
func Detect(ctx context.Context) (Box, Report) {
	detected.mu.Lock()
	defer detected.mu.Unlock()
	if detected.box != nil {
		return detected.box, detected.report
	}
	box, report := detect(ctx)
	report.Box = box.Name()
	if ctx.Err() == nil { // what was cut short has proven nothing
		detected.box, detected.report = box, report
	}
	return box, report
}
