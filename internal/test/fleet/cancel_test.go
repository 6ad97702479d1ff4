//go:build fleet

package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
)

// cancelBound is far below what it would take to find out by heartbeats, and far
// above what it takes.
const cancelBound = 8 * time.Second

// A cancel reaches what hangs, wherever it is, and does not wait for its end.
func TestCancel(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t, startServers(t))
	w.coordinator("coordinator1")
	w.executor("host1")
	_, c := w.api("api1")
	pid := filepath.Join(w.dir, "pid")
	for _, hang := range []struct {
		name, script string
		until        pawl.Kind // it hangs when this is in the log
	}{
		{"a model", `{"text":"well","fault":"hang"}`, "reply.started"},
		{"a command", fmt.Sprintf(`{"calls":[{"name":"bash","input":{"command":"echo $$ > %s.new && mv %[1]s.new %[1]s && exec sleep 600","unsandboxed":true}}]}`, pid), "call.started"},
	} {
		id, err := w.begin(t.Context(), c, w.script(hang.script))
		if err != nil {
			t.Fatal(err)
		}
		w.await(hang.name+" that hangs", func(context.Context) error {
			if kinds(w.events(id))[hang.until] == 0 {
				return errors.New("it does not hang yet")
			}
			if hang.until != "call.started" {
				return nil
			}
			_, err := os.Stat(pid)
			return err
		})
		at := time.Now()
		if err := c.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		w.ended([]pawl.SessionID{id}, time.Minute)
		events := w.events(id)
		last := events[len(events)-1]
		took := last.At.Sub(at)
		t.Logf("%s that hangs ended %s after the cancel", hang.name, took.Round(time.Millisecond))
		if end, ok := last.Body.(pawl.TurnFinished); !ok || end.Reason != pawl.ReasonCanceled || took > cancelBound {
			t.Errorf("%s: after %s it ended with %+v", hang.name, took, last.Body)
		}
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join("/proc", strings.TrimSpace(string(text)))); !os.IsNotExist(err) {
		t.Errorf("the command still runs: %v", err)
	}
}
