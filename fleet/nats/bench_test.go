package nats

import (
	"fmt"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/bus"
)

// BenchmarkPublish measures the CPU time of publishing a delta, for all goroutines together, at 20,000 deltas per
// second from several sessions.
func BenchmarkPublish(b *testing.B) {
	for _, sessions := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			s := startServer(b)
			link := open(b, Config{URL: s.url()})
			await(b, "there is a connection", link.Connected)
			events := bus.New(openStore(b), bus.Config{Link: link})
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			before := cpu(b)
			i := 0
			for b.Loop() {
				if i%20 == 0 {
					<-tick.C
				}
				at := pawl.SessionID(fmt.Sprintf("01JD%022d", i%sessions))
				events.Publish(pawl.Event{Session: at, Body: pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Offset: i / sessions * 5, Text: "word "}})
				i++
			}
			b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(link.Stats().Sent)/float64(b.N), "messages/op")
			b.ReportMetric(float64(link.Stats().Lost), "lost")
		})
	}
}

// BenchmarkCarry measures how long a delta takes from one link to a listener of another, in one process.
func BenchmarkCarry(b *testing.B) {
	s := startServer(b)
	from, to := open(b, Config{URL: s.url()}), open(b, Config{URL: s.url()})
	arrived := make(chan struct{}, 1)
	b.Cleanup(to.Listen(id, func(events []pawl.Event) {
		wake(arrived)
	}))
	await(b, "there is a connection", from.Connected)
	<-arrived
	delta := pawl.Event{Session: id, Body: pawl.Delta{Reply: 1, Channel: pawl.ChannelText, Text: "word "}}
	for b.Loop() {
		from.Send(id, []pawl.Event{delta})
		<-arrived
	}
}
