package snapshot

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestMoving: a snapshot of a directory succeeds while its files appear, disappear,
// grow and change their type, and the store is correct afterwards.
func TestMoving(t *testing.T) {
	t.Parallel()
	w := newEnvWith(t, Config{MaxFile: 2000})
	w.files(50)
	first := w.take()
	before := w.show()
	stop := make(chan struct{})
	var others sync.WaitGroup
	for i := range 2 {
		others.Go(func() { w.churn(fmt.Sprintf("moving%d", i), stop) })
	}
	var err error
	for n := 0; n < 30 && err == nil; n++ {
		_, err = w.store.Take(t.Context(), w.dir, alice)
	}
	close(stop)
	others.Wait()
	if err != nil {
		t.Fatal(err)
	}
	w.sh("rm -rf d0/e1; echo 2 >d0/e2/f20.txt")
	w.undo(Refuse, Span{Before: first, After: w.take()})
	if diff := cmp.Diff(before, w.show()); diff != "" {
		t.Error(diff)
	}
}

// churn changes a part of the directory until it is stopped. It ignores errors on
// purpose.
func (w *env) churn(name string, stop chan struct{}) {
	at := w.path(name)
	defer os.RemoveAll(at) //nolint:errcheck // the undo would tell
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		_ = os.MkdirAll(at+"/a/b", 0o755)
		_ = os.WriteFile(at+"/a/b/f", bytes.Repeat([]byte("x"), n%4000), 0o600)
		_ = os.WriteFile(at+"/a/g", []byte("g"), 0o600)
		_ = os.Symlink("g", at+"/a/link")
		_ = os.Rename(at+"/a/b", at+"/a/c")
		_ = unix.Mkfifo(at+"/a/b", 0o600)
		_ = os.RemoveAll(at + "/a")
		_ = os.Symlink("/", at+"/a")
		_ = os.Remove(at + "/a")
	}
}

// TestRemovedFolder: a directory that is removed after it was opened counts as empty.
func TestRemovedFolder(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	w.sh("mkdir d")
	fd, err := openAt(unix.AT_FDCWD, w.path("d"), unix.O_DIRECTORY)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd) //nolint:errcheck // it was only read
	w.sh("rmdir d")
	if names, err := readNames(fd); len(names) > 0 || err != nil {
		t.Errorf("%q, %v", names, err)
	}
}
