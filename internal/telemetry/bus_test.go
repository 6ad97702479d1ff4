package telemetry_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/bus/bustest"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/telemetry"
)

// A bus that is watched keeps the bus's contract.
func TestContract(t *testing.T) {
	bustest.Run(t, func(t *testing.T) bustest.Harness {
		st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "pawl.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := st.Close(); err != nil {
				t.Error(err)
			}
		})
		cfg := bus.Config{Queue: 64, Poll: 5 * time.Millisecond}
		tells := telemetry.New(telemetry.Config{})
		return bustest.Harness{Bus: tells.Watch(bus.New(st, cfg)), Other: bus.New(st, cfg), Store: st}
	})
}
