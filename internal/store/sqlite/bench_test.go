package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

// sample is an event of the size that most have.
var sample = pawl.Event{Turn: 1, At: time.Unix(1_700_000_000, 0), Body: pawl.CallStarted{
	Call: "call_0123456789", Tool: "bash", Access: []pawl.Access{{Kind: pawl.AccessExec, Target: "go test ./..."}},
}}

func BenchmarkAppend(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "pawl.db"))
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
// the same table over the same connection, one commit each, and nothing else.
func BenchmarkBareInsert(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "pawl.db"))
	id := string(storetest.NewID())
	kind, version, body, err := pawl.EncodeBody(sample.Body)
	if err != nil {
		b.Fatal(err)
	}
	insert, err := s.Conn().PrepareContext(b.Context(), sqlite.InsertEvent)
	if err != nil {
		b.Fatal(err)
	}
	defer insert.Close()
	seq := 0
	for b.Loop() {
		seq++
		if _, err := insert.Exec(id, seq, 1, sample.At.UnixMicro(), string(kind), version, string(body)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens and closes a store that is up to date.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "pawl.db")
	open(b, path) // stays open, so that closing is not a checkpoint
	for b.Loop() {
		s, err := sqlite.Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
