package local

import (
	"context"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// A command of the person that waits is not run after a cancel. A cancel that
// failed, as another process has the session, cancels nothing later on.
func TestCancelOfACommandThatWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		busy bool
		want pawl.CallStatus
	}{
		{"canceled", false, pawl.CallCanceled},
		{"busy", true, pawl.CallRefused}, // there is no tool for it in this world
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newEnv(t, `{"text":"Never."}`)
			w.create(session)
			asked := w.append(session, pawl.ShellAsked{Command: "true"})
			r := w.runner(here, ttl)
			if c.busy {
				w.hold(there, ttl)
			}
			err := r.Cancel(t.Context(), session, asked)
			if c.busy {
				checkBusy(t, err, there.Host)
				if err := w.store.Release(context.Background(), session, store.Owner(there.String())); err != nil {
					t.Fatal(err)
				}
				mustStart(t, r, session)
			} else if err != nil {
				t.Fatal(err)
			}
			w.idle(session)
			check(t, []pawl.CallStatus{c.want}, []pawl.CallStatus{of[pawl.ShellRan](w)[0].Status})
		})
	}
}
