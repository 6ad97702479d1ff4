package bus_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
)

// BenchmarkPublish is one delta of a growing reply, with so many who watch.
func BenchmarkPublish(b *testing.B) {
	for _, readers := range []int{0, 1, 50} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			events := bus.New(openStore(b), bus.Config{Poll: time.Hour})
			grow(b, events, 0)
			ctx, cancel := context.WithCancel(b.Context())
			var waiting, done sync.WaitGroup
			for range readers {
				waiting.Add(1)
				done.Go(func() {
					for e := range events.Events(ctx, id, 0) {
						if e.Seq == 1 {
							waiting.Done()
						}
					}
				})
			}
			waiting.Wait()
			delta := pawl.Event{Session: id, Body: pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Text: "word "}}
			b.ReportAllocs()
			for b.Loop() {
				events.Publish(delta)
			}
			cancel()
			done.Wait()
		})
	}
}
