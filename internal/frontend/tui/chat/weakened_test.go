//go:build sectest

package chat

import (
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/test/security/weaken/defense"
)

// Without the defense the same attack succeeds, so the test would notice if it
// were missing.
func TestWeakenedCopy(t *testing.T) { //nolint:paralleltest // it turns a defense off
	defer defense.Disable("tui.copy")()
	tl := newEventBuilder()
	tl.add(pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: "ls\x1b[201~\rrm -rf x"}}})
	v := viewOf(t, tl, "plain", 60, 8)
	if steers(copied(v)) == "" || steers(v.Log.LastReply()) == "" {
		t.Error("what acts is left out all the same")
	}
}
