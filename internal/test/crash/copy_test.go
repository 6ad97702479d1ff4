//go:build crashtest

package crash

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/test/harness"
)

// TestCopyInMidRun copies the SQLite files while pawl writes them. Each copy
// opens cleanly, holds a valid log, and goes on from there.
func TestCopyInMidRun(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "pawl.db")
	want, _ := baseline(t, filepath.Join(t.TempDir(), "pawl.db"))
	b, _ := newEnv(t, store)
	cmd := b.Command(runArgs()...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var copies []string
	for running := true; running; {
		copies = append(copies, copyStore(t, store))
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		case <-time.After(8 * time.Millisecond):
		}
	}
	interrupted := 0
	for _, path := range copies {
		c := harness.NewWorkdir(t, b.Bin, path)
		c.Dir = b.Dir // sessions are listed by directory
		for _, s := range c.Sessions(t) {
			events := c.Export(t, string(s.ID))
			if len(events) != int(s.Head) {
				t.Errorf("a copy holds %d events and says %d", len(events), s.Head)
			}
			harness.Conversation(t, events)
			if s.TurnOpen {
				interrupted++
			}
		}
	}
	compare(t, want, observe(t, b), nil)
	if interrupted < 5 {
		t.Errorf("only %d of %d copies were made in mid-turn: too few to say anything", interrupted, len(copies))
	}
	t.Logf("%d copies, %d of them in mid-turn, all open cleanly", len(copies), interrupted)
}

// copyStore copies the database the way cp would: file by file, the log last.
func copyStore(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "pawl.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if os.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}
