//go:build sectest

package loops

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// TestWeakened: without the detector a turn may go round for ever.
func TestWeakened(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("agent.loops")()
	var d Detector
	for n := range 100 {
		if v := d.note(n+1, done{tool: "grep", input: `{}`, content: "nothing"}); v != (Verdict{}) {
			t.Fatalf("step %d: %+v", n+1, v)
		}
	}
}
