package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store/sqlite"
	"github.com/pawl-dev/pawl/internal/store/storetest"
)

func TestFilesAreForTheUserOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s := open(t, filepath.Join(dir, "pawl.db"))
	id := storetest.NewID()
	if _, err := s.Append(t.Context(), id, 0, pawl.Event{Body: pawl.SessionCreated{}}); err != nil {
		t.Fatal(err)
	}
	blob, err := s.PutBlob(t.Context(), id, strings.NewReader("a"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{
		".":                                   os.ModeDir | 0o700,
		"pawl.db":                             0o600,
		"pawl.db-wal":                         0o600,
		"pawl.db-shm":                         0o600,
		"blobs":                               os.ModeDir | 0o700,
		"blobs/" + string(id):                 os.ModeDir | 0o700,
		"blobs/" + string(id) + "/" + blob.ID: 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %s, want %s", name, info.Mode(), want)
		}
	}
	if err := s.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "blobs")); err != nil || len(left) > 0 {
		t.Errorf("after Delete blobs holds %v, %v", left, err)
	}
}

func TestOddPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b.db", "ques?tion.db", "per%20cent.db", "ha#sh.db", "ünï.db", "plus+amp&.db", "file:x.db", ":memory:"} {
		path := filepath.Join(t.TempDir(), name)
		open(t, path)
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

func TestPathThatCannotBe(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("this is no database, but long enough to be taken for one"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "pawl.db"), t.TempDir()} {
		if s, err := sqlite.Open(t.Context(), path); err == nil {
			t.Errorf("%s was opened; closed with %v", path, s.Close())
		}
	}
	if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), "this is no database") {
		t.Errorf("the file that is no database was changed: %q, %v", text, err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "pawl.db"))
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "10000", "query_only": "0",
	} {
		var got string
		if err := s.Conn().QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("the writer has %s = %s, %v; want %s", pragma, got, err, want)
		}
	}
	_, err := s.Readers().ExecContext(t.Context(), "CREATE TABLE x (y)")
	if err == nil || !strings.Contains(err.Error(), "readonly") {
		t.Errorf("a reader could write: %v", err)
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pawl.db")
	if _, err := open(t, path).Conn().ExecContext(t.Context(), "PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(t.Context(), path)
	if err == nil || !strings.Contains(err.Error(), "upgrade Pawl") {
		t.Errorf("error %v, want one that says to upgrade", err)
	}
}

func TestManyOpenANewFileAtOnce(t *testing.T) {
	t.Parallel()
	for round := range 5 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(round, ".db"))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				s, err := sqlite.Open(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				if _, err := s.Append(t.Context(), storetest.NewID(), 0, pawl.Event{Body: pawl.SessionCreated{}}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if rows, err := open(t, path).Sessions(t.Context(), pawl.Filter{}); err != nil || len(rows.Sessions) != 8 {
			t.Errorf("%d sessions, %v; want 8", len(rows.Sessions), err)
		}
	}
}

// TestCloseFoldsTheLog checks that after Close everything is in the one file, which
// can be copied alone.
func TestCloseFoldsTheLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pawl.db")
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	id := storetest.NewID()
	if _, err := s.Append(t.Context(), id, 0, pawl.Event{Body: pawl.SessionCreated{Dir: "/w"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the write-ahead log is still there: %v", err)
	}
}

// TestSharedCommits checks that concurrent writers share commits, and that each gets
// its own result: a conflict of one does not affect the others.
func TestSharedCommits(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "pawl.db"))
	const sessions, rivals = 40, 3
	var won, lost atomic.Int64
	var wg sync.WaitGroup
	for range sessions {
		id := storetest.NewID()
		if _, err := s.Append(t.Context(), id, 0, pawl.Event{Body: pawl.SessionCreated{Dir: "/w"}}); err != nil {
			t.Fatal(err)
		}
		for range rivals {
			wg.Go(func() {
				_, err := s.Append(t.Context(), id, 1, storetest.Sample)
				switch {
				case err == nil:
					won.Add(1)
				case errors.Is(err, pawl.ErrConflict):
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if won.Load() != sessions || lost.Load() != sessions*(rivals-1) {
		t.Errorf("%d won and %d lost, want %d and %d", won.Load(), lost.Load(), sessions, sessions*(rivals-1))
	}
	rows, err := s.Sessions(t.Context(), pawl.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows.Sessions {
		if row.Head != 2 {
			t.Errorf("session %s ends at %d, want 2", row.ID, row.Head)
		}
	}
}

// TestWhatWaitsForTheDisk checks that only appends that must survive a power failure
// wait for fsync.
func TestWhatWaitsForTheDisk(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "pawl.db"))
	id := storetest.NewID()
	var head pawl.Seq
	for _, test := range []struct {
		body pawl.Body
		want string // value of synchronous: 1 is NORMAL, 2 is FULL
	}{
		{pawl.SessionCreated{Dir: "/w"}, "2"},
		{pawl.Prompted{}, "2"},
		{pawl.TurnStarted{Prompt: 2}, "1"},
		{pawl.ReplyStarted{Step: 1}, "1"},
		{pawl.Replied{Step: 1}, "1"},
		{pawl.CallStarted{Call: "a"}, "2"},
		{pawl.CallStarted{Call: "b", ReadOnly: true}, "1"},
		{pawl.CallFinished{Call: "a"}, "1"},
		{pawl.Spawned{Call: "c"}, "2"},
		{pawl.Answered{}, "2"},
		{pawl.TurnFinished{}, "2"},
	} {
		if _, err := s.Append(t.Context(), id, head, pawl.Event{Body: test.body}); err != nil {
			t.Fatal(err)
		}
		head++
		var got string
		if err := s.Conn().QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&got); err != nil || got != test.want {
			t.Errorf("%s was committed with synchronous = %s, %v; want %s", pawl.KindOf(test.body), got, err, test.want)
		}
	}
}
