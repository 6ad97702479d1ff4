package telemetry_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/bus"
	"github.com/pawl-dev/pawl/internal/bus/bustest"
	"github.com/pawl-dev/pawl/internal/store/sqlite/sqlitetest"
	"github.com/pawl-dev/pawl/internal/telemetry"
)

// A watched bus fulfills the contract of a bus.
func TestContract(t *testing.T) { //nolint:paralleltest // it counts goroutines
	bustest.Run(t, func(t *testing.T) bustest.Harness {
		st := sqlitetest.Open(t)
		cfg := bus.Config{Queue: 64, Poll: 5 * time.Millisecond}
		reports := telemetry.New(telemetry.Config{})
		return bustest.Harness{Bus: reports.Watch(bus.New(st, cfg)), Other: bus.New(st, cfg), Store: st}
	})
}
