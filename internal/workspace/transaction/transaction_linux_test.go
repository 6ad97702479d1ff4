package transaction

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
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
	past := time.Now().Add(-2 * keepReplaced)
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

// TestReview: changes are applied as they were reviewed, whoever writes to the view meanwhile, and other transactions
// do not wait for the review.
func TestReview(t *testing.T) {
	t.Parallel()
	root, s := t.TempDir(), Open(filepath.Join(t.TempDir(), "transactions"))
	tx := begin(t, s, root)
	write(t, tx.Upper(), "a", "reviewed")
	write(t, tx.Upper(), ".vscode/tasks.json", "{}")
	set, err := tx.Check(t.Context())
	if err != nil || len(set.Changes) != 1 || len(set.Refused) != 1 || read(t, set.View.Upper, "a") != "reviewed" {
		t.Fatalf("%+v, %v", set, err)
	}
	at := filepath.Join(tx.Upper(), "a")
	info, err := os.Stat(at)
	if err != nil {
		t.Fatal(err)
	}
	write(t, tx.Upper(), "a", "REVIEWED") // by a descriptor that the command passed on
	if err := os.Chtimes(at, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	other := begin(t, s, root)
	write(t, other.Upper(), "b", "other")
	if _, err := other.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	done, err := tx.Apply(t.Context(), set)
	if err != nil || len(done.Applied) != 1 || len(done.Refused) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	if got := read(t, root, "a") + ", " + read(t, root, "b"); got != "reviewed, other" {
		t.Errorf("the files have %s", got)
	}
}

// TestDiscarded: nothing is left of changes that are reviewed and not applied.
func TestDiscarded(t *testing.T) {
	t.Parallel()
	root, s := t.TempDir(), Open(filepath.Join(t.TempDir(), "transactions"))
	tx := begin(t, s, root)
	write(t, tx.Upper(), "a", "new")
	if set, err := tx.Check(t.Context()); err != nil || len(set.Changes) != 1 {
		t.Fatalf("%+v, %v", set, err)
	}
	tx.Close()
	if entries, err := os.ReadDir(s.dir); err != nil || len(entries) > 0 || read(t, root, "a") != "" {
		t.Errorf("left %v, %v, a is %q", entries, err, read(t, root, "a"))
	}
}

// TestShared: a transaction knows whether others could write to the directory while it was open.
func TestShared(t *testing.T) {
	t.Parallel()
	root, s := t.TempDir(), Open(filepath.Join(t.TempDir(), "transactions"))
	alone := begin(t, s, root)
	if alone.self.shared() {
		t.Error("it is alone")
	}
	leave := s.Share(root)
	leave()
	if !alone.self.shared() {
		t.Error("there was a job")
	}
	alone.Close()
	leave = s.Share(root)
	defer leave()
	late := begin(t, s, root)
	defer late.Close()
	if !late.self.shared() {
		t.Error("there is a job")
	}
	other := begin(t, s, t.TempDir())
	defer other.Close()
	if other.self.shared() {
		t.Error("the job is in another directory")
	}
}

// failing ends when a transaction has written its manifest: it then fails to apply.
type failing struct {
	context.Context //nolint:containedctx // it is one
	manifest        string
}

func (c failing) Err() error {
	if _, err := os.Lstat(c.manifest); err == nil {
		return context.Canceled
	}
	return nil
}

// fail lets a command change a file, and its transaction fail to apply that.
func fail(t *testing.T, s *Store, root, name, text string) *Transaction {
	t.Helper()
	tx := begin(t, s, root)
	write(t, tx.Upper(), name, text)
	_, err := tx.Finish(failing{t.Context(), filepath.Join(tx.dir, applyName, "manifest.json")})
	if !errors.Is(err, context.Canceled) || read(t, root, name) == text {
		t.Fatalf("%v, %s is %q", err, name, read(t, root, name))
	}
	return tx
}

// TestFinishFails: the next command completes what failed to apply.
func TestFinishFails(t *testing.T) {
	t.Parallel()
	root, s := t.TempDir(), Open(filepath.Join(t.TempDir(), "transactions"))
	failed := fail(t, s, root, "a", "new")
	begin(t, s, root).Close()
	if got := read(t, root, "a"); got != "new" {
		t.Errorf("a is %q", got)
	}
	if _, err := os.Lstat(failed.Upper()); err == nil {
		t.Error("the view is still there")
	}
}

// TestRootLost: what cannot be completed because the directory was deleted or moved does not keep other commands from running.
func TestRootLost(t *testing.T) {
	t.Parallel()
	root, s := filepath.Join(t.TempDir(), "root"), Open(filepath.Join(t.TempDir(), "transactions"))
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	failed := fail(t, s, root, "a", "new")
	if err := os.Rename(root, root+".moved"); err != nil {
		t.Fatal(err)
	}
	begin(t, s, t.TempDir()).Close()
	if err := os.Mkdir(root, 0o755); err != nil { // another one of that name
		t.Fatal(err)
	}
	s.recoverAgain()
	begin(t, s, root).Close()
	if _, err := os.Lstat(failed.dir); err != nil || read(t, root, "a") != "" {
		t.Errorf("%v, a is %q", err, read(t, root, "a"))
	}
	if err := errors.Join(os.Remove(root), os.Rename(root+".moved", root)); err != nil {
		t.Fatal(err)
	}
	s.recoverAgain()
	begin(t, s, root).Close()
	if got := read(t, root, "a"); got != "new" {
		t.Errorf("after the directory came back, a is %q", got)
	}
}

// TestKept: replaced files are kept for a while, and what was not applied for longer.
func TestKept(t *testing.T) {
	t.Parallel()
	root, s := t.TempDir(), Open(filepath.Join(t.TempDir(), "transactions"))
	write(t, root, "a", "old")
	tx := begin(t, s, root)
	write(t, tx.Upper(), "a", "new")
	write(t, tx.Upper(), "b", "of the command")
	write(t, root, "b", "of the user")
	done, err := tx.Finish(t.Context())
	if err != nil || len(done.Refused) != 1 || read(t, root, "b") != "of the user" {
		t.Fatalf("%+v, %v", done, err)
	}
	applied := filepath.Join(tx.dir, applyName)
	for _, step := range []struct {
		age         time.Duration
		trash, kept bool
	}{{0, true, true}, {keepReplaced, false, true}, {keepConflicts, false, false}} {
		past := time.Now().Add(-step.age)
		if err := os.Chtimes(applied, past, past); err != nil {
			t.Fatal(err)
		}
		s.recoverAgain()
		if err := s.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(applied, tree.TrashName)); (err == nil) != step.trash {
			t.Errorf("after %s: trash: %v", step.age, err)
		}
		if _, err := os.Lstat(done.Refused[0].Kept); (err == nil) != step.kept {
			t.Errorf("after %s: kept content: %v", step.age, err)
		}
	}
}

// fill begins a transaction on a copy.
func fill(t *testing.T, s *Store, root string) *Transaction {
	t.Helper()
	tx := begin(t, s, root)
	if _, err := tx.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	return tx
}

// TestCopy: what a command changes in a copy is applied like what it changes in a view, with and without a review.
func TestCopy(t *testing.T) {
	t.Parallel()
	for _, review := range []bool{false, true} {
		root, s := t.TempDir(), Open(filepath.Join(t.TempDir(), "transactions"))
		write(t, root, "a", "old")
		write(t, root, "same", "same")
		write(t, root, "deleted", "old")
		tx := fill(t, s, root)
		write(t, tx.Merged(), "a", "new")
		write(t, tx.Merged(), ".vscode/tasks.json", "{}")
		if err := os.Remove(filepath.Join(tx.Merged(), "deleted")); err != nil {
			t.Fatal(err)
		}
		finish := tx.Finish
		if review {
			finish = func(ctx context.Context) (Outcome, error) {
				set, err := tx.Check(ctx)
				if err != nil {
					return Outcome{}, err
				}
				return tx.Apply(ctx, set)
			}
		}
		done, err := finish(t.Context())
		if err != nil || len(done.Applied) != 2 || len(done.Refused) != 1 || done.Refused[0].Path != ".vscode/tasks.json" {
			t.Errorf("%+v, %v", done, err)
		}
		if read(t, root, "a") != "new" || read(t, root, "same") != "same" || read(t, root, "deleted") != "" {
			t.Errorf("a is %q, deleted %q", read(t, root, "a"), read(t, root, "deleted"))
		}
		if _, err := os.Lstat(tx.Merged()); err == nil {
			t.Error("the copy is still there")
		}
	}
}

// TestCopyRecover: after a crash, what was not yet applied of a copy is discarded, and what was begun is completed.
func TestCopyRecover(t *testing.T) {
	t.Parallel()
	root, s := t.TempDir(), Open(filepath.Join(t.TempDir(), "transactions"))
	write(t, root, "a", "old")
	write(t, root, "b", "old")
	crashed := fill(t, s, root)
	write(t, crashed.Merged(), "a", "lost")
	_ = crashed.lock.Close() // as at the end of its process
	failed := fill(t, s, root)
	write(t, failed.Merged(), "b", "new")
	if _, err := failed.Finish(failing{t.Context(), filepath.Join(failed.dir, applyName, "manifest.json")}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := Open(s.dir).Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := read(t, root, "a") + " " + read(t, root, "b"); got != "old new" {
		t.Errorf("the files have %q", got)
	}
	for _, tx := range []*Transaction{crashed, failed} {
		if _, err := os.Lstat(tx.Merged()); err == nil {
			t.Error("a copy is still there")
		}
	}
}
