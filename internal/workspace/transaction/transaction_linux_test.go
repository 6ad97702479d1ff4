package transaction

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// write creates a file, as a command writes it to the upper directory.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func begin(t *testing.T, s *Store, root string) *Transaction {
	t.Helper()
	tx, err := s.Begin(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// TestFinish: allowed changes are applied, others are refused with a reason, and nothing is left of the view.
func TestFinish(t *testing.T) {
	t.Parallel()
	root, s := t.TempDir(), Open(filepath.Join(t.TempDir(), "transactions"))
	write(t, root, "a", "old")
	tx := begin(t, s, root)
	write(t, tx.Upper(), "a", "new")
	write(t, tx.Upper(), ".vscode/tasks.json", "{}")
	done, err := tx.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, root, "a"); got != "new" || len(done.Applied) != 1 || done.Applied[0].Path != "a" {
		t.Errorf("a is %q, applied %v", got, done.Applied)
	}
	if len(done.Refused) != 1 || done.Refused[0].Path != ".vscode/tasks.json" || done.Refused[0].Reason == "" || read(t, root, ".vscode/tasks.json") != "" {
		t.Errorf("refused %v", done.Refused)
	}
	if entries, _ := os.ReadDir(tx.Upper()); len(entries) > 0 {
		t.Errorf("the view still has %v", entries)
	}
}

// TestClose: a transaction that is not finished changes nothing and leaves nothing.
func TestClose(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), filepath.Join(t.TempDir(), "transactions")
	s := Open(dir)
	tx := begin(t, s, root)
	write(t, tx.Upper(), "a", "new")
	tx.Close()
	tx.Close()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
	if read(t, root, "a") != "" {
		t.Error("it was applied")
	}
}

// TestRecover: the transaction of a process that has ended is discarded, that of a running one is not.
func TestRecover(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), filepath.Join(t.TempDir(), "transactions")
	running, crashed := begin(t, Open(dir), root), begin(t, Open(dir), root)
	write(t, crashed.Upper(), "a", "new")
	_ = crashed.lock.Close() // as at the end of its process
	starting := filepath.Join(dir, "starting")
	old := filepath.Join(dir, "old")
	for _, at := range []string{starting, old} {
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-2 * keepFor)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	if err := Open(dir).Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]bool{running.dir: true, crashed.dir: false, starting: true, old: false} {
		if _, err := os.Lstat(at); (err == nil) != want {
			t.Errorf("%s: %v", at, err)
		}
	}
	if read(t, root, "a") != "" {
		t.Error("it was applied")
	}
	running.Close()
}

// TestShared: a transaction knows whether others could write to the directory while it was open.
func TestShared(t *testing.T) {
	t.Parallel()
	root, s := t.TempDir(), Open(filepath.Join(t.TempDir(), "transactions"))
	alone := begin(t, s, root)
	if alone.live.shared() {
		t.Error("it is alone")
	}
	leave := s.Share(root)
	leave()
	if !alone.live.shared() {
		t.Error("there was a job")
	}
	alone.Close()
	leave = s.Share(root)
	defer leave()
	late := begin(t, s, root)
	defer late.Close()
	if !late.live.shared() {
		t.Error("there is a job")
	}
	other := begin(t, s, t.TempDir())
	defer other.Close()
	if other.live.shared() {
		t.Error("the job is in another directory")
	}
}
