package transcript

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/transcript/transcripttest"
)

// TestSince checks that a client that lost its connection anywhere, also between unsaved events, has the
// same items after it has applied what it lacks. The server has read the log again, so that it knows no
// unsaved events.
func TestSince(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := transcripttest.Log(t)
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		back := rapid.IntRange(cut, len(events)).Draw(t, "back")
		before, v := New(), client{}
		for _, e := range events[:cut] {
			v.apply(t, before.Apply(e))
		}
		after := Track()
		for _, e := range events[:back] {
			if e.Seq > 0 {
				after.Apply(e)
			}
		}
		maps.DeleteFunc(v, func(_ string, it Item) bool { return it.Unsaved })
		v.apply(t, after.Since(before.Last()))
		same(t, after.Transcript, v)
		for _, e := range events[back:] {
			v.apply(t, after.Apply(e))
			same(t, after.Transcript, v)
		}
	})
}

// same checks that a client has the items of the transcript, except for durations that only unsaved
// events tell.
func same(t *rapid.T, tr *Transcript, v client) {
	t.Helper()
	if diff := cmp.Diff(tr.Items(), v.items(), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Item{}, "Took", "Until")); diff != "" {
		t.Fatalf("transcript -, client +\n%s", diff)
	}
}
