package pawl

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

// average returns the most common event of logs, with the output of a command.
func average() Event {
	return Event{
		Session: "01JD0000000000000000000000",
		Seq:     8,
		Turn:    1,
		At:      time.Date(2026, 11, 15, 2, 3, 4, 567_890_000, time.UTC),
		Body: CallFinished{
			Call:   "call_1_1",
			Status: CallDone,
			Result: Result{
				Content: strings.Repeat("ok  \t./internal/store\t0.21s\n", 36), // 1 KB
				Meta:    map[string]string{"exit_code": "0"},
			},
		},
	}
}

// BenchmarkDecodeBody measures what a store does for each event that it reads.
func BenchmarkDecodeBody(b *testing.B) {
	kind, version, data, err := average().EncodeBody()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := kind.Decode(version, data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecodeEvent measures what a client of the stream does.
func BenchmarkDecodeEvent(b *testing.B) {
	data, err := strictjson.Encode(average())
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var e Event
		if err := json.Unmarshal(data, &e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeEvent(b *testing.B) {
	e := average()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := strictjson.Encode(e); err != nil {
			b.Fatal(err)
		}
	}
}
