//go:build bench

package postgres_test

import (
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

// TestBenchAppend: the bare insert goes over the same pool.
func TestBenchAppend(t *testing.T) {
	s := open(t, schema(t))
	id := string(storetest.NewID())
	storetest.CompareRate(t, s, func(seq int, kind pawl.Kind, version int, body []byte) error {
		_, err := s.Pool().Exec(t.Context(), `INSERT INTO events (session_id, seq, turn, at, kind, version, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`, id, seq, 1, storetest.Sample.At, string(kind), version, string(body))
		return err
	})
}
