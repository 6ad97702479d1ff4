//go:build bench

package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

// TestBenchAppend compares Append with a bare insert over the same connection.
func TestBenchAppend(t *testing.T) { //nolint:paralleltest // it measures time
	s := open(t, filepath.Join(t.TempDir(), "pawl.db"))
	id := string(storetest.NewID())
	insert, err := s.Conn().PrepareContext(t.Context(), sqlite.InsertEvent)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = insert.Close() }()
	storetest.CompareRate(t, s, func(seq int, kind pawl.Kind, version int, body []byte) error {
		_, err := insert.Exec(id, seq, 1, storetest.Sample.At.UnixMicro(), string(kind), version, string(body))
		return err
	})
}

// TestBenchSearch measures searches, and what the index adds to an append.
func TestBenchSearch(t *testing.T) { //nolint:paralleltest // it measures time
	storetest.MeasureSearch(t, open(t, filepath.Join(t.TempDir(), "pawl.db")))
}
