//go:build bench

package bench

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/pawltest"
)

// TestBenchStep: a step costs the same at the end of a long session as at its
// beginning, because the log is not read again.
func TestBenchStep(t *testing.T) {
	const steps, window, maxRatio = 1010, 15, 1.5
	for name, newStore := range pawltest.Stores {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			script, err := writeScript(dir, steps, `{"name":"read","input":{"path":"a.txt"}}`)
			if err != nil {
				t.Fatal(err)
			}
			e, err := newEngine(t.Context(), dir, newStore(t))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = e.close() }()
			var early, late []time.Duration
			for range 3 {
				s, err := e.turn(t.Context(), script)
				if err != nil {
					t.Fatal(err)
				}
				took := stepTimes(t, e.store, s.ID)
				early = append(early, took[10-window/2-1:10+window/2]...)
				late = append(late, took[1000-window/2-1:min(1000+window/2, len(took))]...)
			}
			slices.Sort(early)
			slices.Sort(late)
			a, b := early[len(early)/2], late[len(late)/2]
			ratio := float64(b) / float64(a)
			t.Logf("%s: a step around step 10 takes %s, around step 1000 %s: %.2f x   (at most %.1f x)", name, ms(a), ms(b), ratio, maxRatio)
			if ratio > maxRatio {
				t.Errorf("step 1000 costs %.2f x step 10", ratio)
			}
		})
	}
}

// stepTimes returns how long each step took, from the log.
func stepTimes(t *testing.T, st pawl.Store, id pawl.SessionID) []time.Duration {
	t.Helper()
	var took []time.Duration
	var last time.Time
	for e, err := range st.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(pawl.ReplyStarted); ok {
			if !last.IsZero() {
				took = append(took, e.At.Sub(last))
			}
			last = e.At
		}
	}
	return took
}
