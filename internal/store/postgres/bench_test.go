package postgres_test

import (
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

// sample is an event of the size that most have.
var sample = pawl.Event{Turn: 1, At: time.Unix(1_700_000_000, 0), Body: pawl.CallStarted{
	Call: "call_0123456789", Tool: "bash", Access: []pawl.Access{{Kind: pawl.AccessExec, Target: "go test ./..."}},
}}

func BenchmarkAppend(b *testing.B) {
	s := open(b, schema(b))
	id := storetest.NewID()
	if _, err := s.Append(b.Context(), id, 0, pawl.Event{Body: pawl.SessionCreated{Dir: "/w"}}); err != nil {
		b.Fatal(err)
	}
	var head pawl.Seq = 1
	for b.Loop() {
		if _, err := s.Append(b.Context(), id, head, sample); err != nil {
			b.Fatal(err)
		}
		head++
	}
}

// BenchmarkBareInsert is the most that Append could reach: the same row into
// the same table over the same pool, one commit each, and nothing else.
func BenchmarkBareInsert(b *testing.B) {
	s := open(b, schema(b))
	id := string(storetest.NewID())
	kind, version, body, err := pawl.EncodeBody(sample.Body)
	if err != nil {
		b.Fatal(err)
	}
	seq := 0
	for b.Loop() {
		seq++
		_, err := s.Pool().Exec(b.Context(), `INSERT INTO events (session_id, seq, turn, at, kind, version, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, id, seq, 1, sample.At, string(kind), version, string(body))
		if err != nil {
			b.Fatal(err)
		}
	}
}
