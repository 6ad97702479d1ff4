package sandbox

import (
	"context"
	"sync"
)

// Report tells which sandbox was detected, and what was found.
type Report struct {
	Backend  string    `json:"sandbox"` // its name; see [Backend]
	Findings []Finding `json:"findings"`
}

// Finding is the check of one requirement of a sandbox.
type Finding struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // the command that fixes it
}

var detected struct {
	mu      sync.Mutex
	backend Backend
	report  Report
}

// Detect returns the sandbox that works on this machine, or None. It tests it by running
// a command, once in the life of this process.
func Detect(ctx context.Context) (Backend, Report) {
	detected.mu.Lock()
	defer detected.mu.Unlock()
	if detected.backend != nil {
		return detected.backend, detected.report
	}
	backend, report := detect(ctx)
	report.Backend = backend.Name()
	if ctx.Err() == nil { // a canceled test proves nothing
		detected.backend, detected.report = backend, report
	}
	return backend, report
}
