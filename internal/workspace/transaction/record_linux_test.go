package transaction

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

var someCall = Call{Session: "01JD0000000000000000000000", ID: "call_1"}

// recorded begins a transaction of someCall that changes a file, creates one and writes a protected one.
func recorded(t *testing.T, s *Store, root string) *Transaction {
	t.Helper()
	write(t, root, "a", "old")
	tx := begin(t, s, root)
	if err := s.Record(someCall, []string{"example.org"}, tx); err != nil {
		t.Fatal(err)
	}
	write(t, tx.Upper(), "a", "new")
	write(t, tx.Upper(), "d/b", "new")
	write(t, tx.Upper(), ".vscode/tasks.json", "{}")
	return tx
}

// die ends a transaction as the end of its process does.
func die(t *testing.T, tx *Transaction) {
	t.Helper()
	if err := tx.lock.Close(); err != nil {
		t.Fatal(err)
	}
}

// startApply writes the manifest and applies nothing.
func startApply(t *testing.T, tx *Transaction) {
	t.Helper()
	view := tree.View{Upper: tx.Upper(), Lower: tx.root, Mask: tx.Mask()}
	changes, _, err := tree.Scan(t.Context(), view)
	if err != nil {
		t.Fatal(err)
	}
	changes = changes[len(changes)-3:] // without .vscode
	if err := tx.recordRefused([]Refusal{{Path: ".vscode/tasks.json", Reason: "protected"}}); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := tx.apply(stopped, view, changes, Outcome{}); err == nil {
		t.Fatal("it was applied")
	}
}

func interrupted(t *testing.T, dir string) *Record {
	t.Helper()
	rec, err := Open(dir).Interrupted(t.Context(), someCall)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestInterrupted: after the end of a process the outcome of the command of a call is known, unless another process
// still runs it or its record is destroyed.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	applied := &Record{Call: someCall, Parts: 1, Outside: []string{"example.org"}, Closed: true, Ended: true, Files: 2, Changed: []string{"a", "d/b"}, Refused: []Refusal{{Path: ".vscode/tasks.json"}}}
	discarded := &Record{Call: someCall, Parts: 1, Outside: []string{"example.org"}, Closed: true}
	for name, tt := range map[string]struct {
		end  func(t *testing.T, tx *Transaction)
		want *Record
	}{
		"killed while it runs": {die, discarded},
		"killed before it applies": {func(t *testing.T, tx *Transaction) {
			if err := tx.recordRefused([]Refusal{{Path: "a"}}); err != nil {
				t.Fatal(err)
			}
			die(t, tx)
		}, discarded},
		"killed while it applies": {func(t *testing.T, tx *Transaction) {
			startApply(t, tx)
			die(t, tx)
		}, applied},
		"killed after it failed to apply": {func(t *testing.T, tx *Transaction) {
			startApply(t, tx)
			tx.Close()
		}, applied},
		"killed after it applied": {func(t *testing.T, tx *Transaction) {
			if _, err := tx.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
		}, applied},
		"canceled": {func(_ *testing.T, tx *Transaction) { tx.Close() }, discarded},
		"became a job": {func(t *testing.T, tx *Transaction) {
			tx.Follow(Following{Mounted: filepath.Join(tx.dir, "missing"), Hidden: func(string) bool { return false }, Ignored: func() []string { return nil }})
			tx.Close()
		}, nil},
		"still running": {func(*testing.T, *Transaction) {}, nil},
		"the record is destroyed": {func(t *testing.T, tx *Transaction) {
			die(t, tx)
			if err := os.Truncate(recordOf(tx.dir), 10); err != nil {
				t.Fatal(err)
			}
		}, nil},
		"the transaction was removed by a person": {func(t *testing.T, tx *Transaction) {
			die(t, tx)
			if err := os.RemoveAll(tx.dir); err != nil {
				t.Fatal(err)
			}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, dir := t.TempDir(), filepath.Join(t.TempDir(), "transactions")
			tx := recorded(t, Open(dir), root)
			tt.end(t, tx)
			for range 2 { // the process that asked dies, too, and another one asks
				if diff := cmp.Diff(tt.want, interrupted(t, dir), cmpopts.IgnoreFields(Refusal{}, "Reason")); diff != "" {
					t.Error(diff)
				}
			}
			want := "old"
			if tt.want == applied {
				want = "new"
			}
			if got := read(t, root, "a"); got != want {
				t.Errorf("a is %q, want %q", got, want)
			}
			if rec := interruptedOther(t, dir); rec != nil {
				t.Errorf("another call has the record %+v", rec)
			}
		})
	}
}

func interruptedOther(t *testing.T, dir string) *Record {
	t.Helper()
	rec, err := Open(dir).Interrupted(t.Context(), Call{Session: someCall.Session, ID: "call_2"})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestRecordOutlivesTransaction: a record stays when the files of its transaction are removed, until it is forgotten
// or old.
func TestRecordOutlivesTransaction(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), filepath.Join(t.TempDir(), "transactions")
	tx := recorded(t, Open(dir), root)
	startApply(t, tx)
	die(t, tx)
	recoverAt := func(age time.Duration, path string) {
		t.Helper()
		past := time.Now().Add(-age)
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
		if err := Open(dir).Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	recoverAt(0, tx.dir)
	recoverAt(2*keepReplaced, filepath.Join(tx.dir, applyName))
	if _, err := os.Lstat(tx.dir); err == nil {
		t.Error("the transaction is still there")
	}
	if rec := interrupted(t, dir); rec == nil || rec.Files != 2 {
		t.Errorf("got %+v", rec)
	}
	recoverAt(keepRecords/2, recordOf(tx.dir))
	if interrupted(t, dir) == nil {
		t.Error("a record was removed too early")
	}
	recoverAt(2*keepRecords, recordOf(tx.dir))
	if rec := interrupted(t, dir); rec != nil {
		t.Errorf("the old record %+v is still there", rec)
	}
}

// TestForget: a call that has its result leaves no record, whether its command has ended or still runs.
func TestForget(t *testing.T) {
	t.Parallel()
	for name, running := range map[string]bool{"ended": false, "still running": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "transactions")
			s := Open(dir)
			tx := recorded(t, s, t.TempDir())
			if !running {
				tx.Close()
			}
			s.Forget(someCall)
			tx.Close()
			s.Forget(someCall)
			if rec := interrupted(t, dir); rec != nil {
				t.Errorf("got %+v", rec)
			}
			if entries, err := os.ReadDir(filepath.Join(dir, recordsName)); err != nil || len(entries) > 0 {
				t.Errorf("%v, %v", entries, err)
			}
		})
	}
	dir := filepath.Join(t.TempDir(), "transactions")
	tx := recorded(t, Open(dir), t.TempDir())
	die(t, tx)
	resumed := Open(dir)
	if rec, err := resumed.Interrupted(t.Context(), someCall); err != nil || rec == nil {
		t.Fatal(rec, err)
	}
	resumed.Forget(someCall)
	if rec := interrupted(t, dir); rec != nil {
		t.Errorf("got %+v after the resumed session has its result", rec)
	}
}

// TestInterruptedParts: the outcome of a command with several directories is known if all transactions ended in the
// same way.
func TestInterruptedParts(t *testing.T) {
	t.Parallel()
	finish := func(t *testing.T, tx *Transaction) {
		t.Helper()
		if _, err := tx.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		ends  [2]func(*testing.T, *Transaction)
		lost  bool
		files int // -1 if the outcome is not known
	}{
		"applied":        {ends: [2]func(*testing.T, *Transaction){finish, finish}, files: 2},
		"discarded":      {ends: [2]func(*testing.T, *Transaction){die, die}},
		"one applied":    {ends: [2]func(*testing.T, *Transaction){finish, die}, files: -1},
		"a record lost":  {ends: [2]func(*testing.T, *Transaction){finish, finish}, lost: true, files: -1},
		"one is running": {ends: [2]func(*testing.T, *Transaction){die, func(t *testing.T, tx *Transaction) { t.Helper(); t.Cleanup(tx.Close) }}, files: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, roots := filepath.Join(t.TempDir(), "transactions"), []string{t.TempDir(), t.TempDir()}
			s := Open(dir)
			all := []*Transaction{begin(t, s, roots[0]), begin(t, s, roots[1])}
			if err := s.Record(someCall, nil, all...); err != nil {
				t.Fatal(err)
			}
			for i, tx := range all {
				write(t, tx.Upper(), "a", "new")
				tt.ends[i](t, tx)
			}
			if tt.lost {
				if err := os.Remove(recordOf(all[0].dir)); err != nil {
					t.Fatal(err)
				}
			}
			got := interrupted(t, dir)
			if (got != nil) != (tt.files >= 0) || got != nil && got.Files != tt.files {
				t.Fatalf("got %+v", got)
			}
			if want := []string{"a", filepath.Join(roots[1], "a")}; tt.files > 0 && !cmp.Equal(want, got.Changed) {
				t.Errorf("changed %q, want %q", got.Changed, want)
			}
		})
	}
}
