// Package wait polls in tests for what happens in another process, where no channel can tell.
package wait

import (
	"testing"
	"time"
)

const (
	limit = time.Minute // far more than anything takes: a loaded machine must not fail a test
	poll  = 2 * time.Millisecond
)

// Until waits until done returns true. It fails the test after a minute.
func Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !done(); time.Sleep(poll) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}
