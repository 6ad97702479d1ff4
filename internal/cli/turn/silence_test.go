package turn

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

// TestWaiting checks that silence is reported while a reply is expected, and only then.
func TestWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := &silenceNotice{out: &out}
		w.event(pawl.ReplyStarted{})
		for range 10 {
			time.Sleep(10 * time.Second)
			w.event(pawl.Delta{})
		}
		time.Sleep(45 * time.Second)
		w.event(pawl.Replied{})
		time.Sleep(time.Hour) // a tool is running
		w.event(pawl.ReplyStarted{})
		time.Sleep(25 * time.Second)
		w.event(pawl.TurnFinished{})
		time.Sleep(time.Hour)
		want := "pawl: no output from the model for 20 s\npawl: no output from the model for 40 s\npawl: no output from the model for 20 s\n"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Error(diff)
		}
	})
}
