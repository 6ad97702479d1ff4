//go:build bench

package bench

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
	"github.com/pawl-dev/pawl/internal/test/harness"
)

const (
	steps    = 1010
	window   = 15
	maxRatio = 1.5
)

// TestBenchStep: a step costs the same at the end of a long session as at its
// beginning, because the log is not read again.
func TestBenchStep(t *testing.T) { //nolint:paralleltest // it measures time
	for name, newStore := range harness.Stores {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			script, err := writeScript(dir, steps, `{"name":"read","input":{"path":"a.txt","limit":STEP}}`)
			if err != nil {
				t.Fatal(err)
			}
			e, err := newEngine(t.Context(), dir, newStore(t))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = e.close() }()
			for range 3 { // tries: a busy machine may disturb one
				if compareSteps(t, e, script) {
					return
				}
			}
			t.Logf("over the goal: step 1000 costs more than %.1f x step 10", maxRatio)
		})
	}
}

// compareSteps runs five sessions and reports whether the late steps of most
// cost no more than they may, beside the early steps of the same session.
func compareSteps(t *testing.T, e *engine, script string) bool {
	t.Helper()
	var early, late []time.Duration
	var ratios []float64
	for range 5 {
		s, err := e.turn(t.Context(), script)
		if err != nil {
			t.Fatal(err)
		}
		took := stepTimes(t, e.store, s.ID)
		a := middle(took[10-window/2-1 : 10+window/2])
		b := middle(took[1000-window/2-1 : 1000+window/2])
		early, late, ratios = append(early, a), append(late, b), append(ratios, float64(b)/float64(a))
	}
	ratio := middle(ratios)
	t.Logf("a step around step 10 takes %s, around step 1000 %s: %.2f x   (at most %.1f x)", ms(middle(early)), ms(middle(late)), ratio, maxRatio)
	return ratio <= maxRatio
}

func middle[T cmp.Ordered](list []T) T {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// stepTimes returns how long each step took, from the log.
func stepTimes(t *testing.T, st store.Store, id pawl.SessionID) []time.Duration {
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
