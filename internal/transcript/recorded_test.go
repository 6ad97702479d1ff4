package transcript

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/transcript/transcripttest"
)

// TestRecorded checks for each recorded session, at each event: a transcript that was followed, one that was
// read at once and a client that applied the changes have the same items.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for name, events := range transcripttest.Recorded(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			followed, v := New(), client{}
			for i, e := range events {
				v.apply(t, followed.Apply(e))
				read := New()
				read.Load(events[:i+1])
				if diff := cmp.Diff(read.Items(), followed.Items(), cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("after event %d: read -, followed +\n%s", e.Seq, diff)
				}
				if diff := cmp.Diff(followed.Items(), v.items(), cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("after event %d: transcript -, client +\n%s", e.Seq, diff)
				}
			}
		})
	}
}
