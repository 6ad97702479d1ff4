package tree_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/workspace/tree"
)

var randomPaths = []string{"a", "b", "c", "d/a", "d/b", "d/e/a", "g/a", "g/b"}

// userWriter writes unique words to a file while a transaction runs.
type userWriter struct {
	path  string
	words []string // since the user last replaced the content
	used  bool
}

// write does one random write, as a shell (append), a program (truncate) or an editor (rename) does.
func (u *userWriter) write(root, how, word string) error {
	name := filepath.Join(root, u.path)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	u.used = true
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	switch how {
	case "truncate":
		flags = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
		u.words = nil
	case "rename":
		if err := os.WriteFile(name+".tmp"+word, []byte(word+"\n"), 0o644); err != nil {
			return err
		}
		u.words = []string{word}
		return os.Rename(name+".tmp"+word, name)
	}
	f, err := os.OpenFile(name, flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(word + "\n")
	u.words = append(u.words, word)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// fakeUpper makes the upper that a command would leave.
func fakeUpper(t *rapid.T, root, upper string) {
	for _, path := range randomPaths {
		name := filepath.Join(upper, path)
		_, err := os.Lstat(filepath.Join(root, path))
		exists := err == nil
		switch rapid.SampledFrom([]string{"nothing", "write", "write", "delete", "chmod"}).Draw(t, "command "+path) {
		case "write":
			mustDo(t, os.MkdirAll(filepath.Dir(name), 0o755))
			mustDo(t, os.WriteFile(name, []byte("command\n"), 0o644))
		case "delete":
			if exists {
				mustDo(t, os.MkdirAll(filepath.Dir(name), 0o755))
				mustDo(t, unix.Mknod(name, unix.S_IFCHR, 0))
			}
		case "chmod":
			if data, err := os.ReadFile(filepath.Join(root, path)); err == nil {
				mustDo(t, os.MkdirAll(filepath.Dir(name), 0o755))
				mustDo(t, os.WriteFile(name, data, 0o600))
			}
		}
	}
}

func mustDo(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What the user writes while commands run is never lost, and a change of a file that the user leaves alone is applied.
func TestConcurrentWrites(t *testing.T) {
	t.Parallel()
	for name, parent := range map[string]string{"tmpfs": "/dev/shm", "disk": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := tempDir(t, parent)
			var count, conflicts, writes atomic.Int64
			rapid.Check(t, func(r *rapid.T) {
				base := filepath.Join(dir, fmt.Sprint(count.Add(1)))
				root := filepath.Join(base, "root")
				mustDo(r, os.MkdirAll(filepath.Join(root, "d/e"), 0o755))
				mustDo(r, os.MkdirAll(filepath.Join(root, "g"), 0o755))
				for _, path := range randomPaths[:5] {
					mustDo(r, os.WriteFile(filepath.Join(root, path), []byte("old\n"), 0o644))
				}
				var own []tree.Identity
				for n := range rapid.IntRange(1, 4).Draw(r, "transactions") {
					settle(r, root)
					own = concurrentTransaction(r, base, n, own, &conflicts, &writes)
				}
			})
			t.Logf("%d projects, %d writes, %d conflicts", count.Load(), writes.Load(), conflicts.Load())
			if writes.Load() == 0 || conflicts.Load() == 0 {
				t.Error("the user met no command")
			}
		})
	}
}

func concurrentTransaction(r *rapid.T, base string, n int, own []tree.Identity, conflicts, writes *atomic.Int64) []tree.Identity {
	root, upper := filepath.Join(base, "root"), filepath.Join(base, fmt.Sprint("upper", n))
	mustDo(r, os.Mkdir(upper, 0o755))
	since, err := tree.Now(root)
	mustDo(r, err)
	fakeUpper(r, root, upper)
	tx := &tree.Transaction{
		Dir: filepath.Join(base, fmt.Sprint("tx", n)), Root: root, Since: since, Own: own,
		Copy: rapid.Bool().Draw(r, "copy"), View: tree.View{Upper: upper, Lower: root},
	}
	var users []*userWriter
	var group sync.WaitGroup
	start := make(chan struct{})
	for _, path := range randomPaths {
		u := &userWriter{path: path}
		users = append(users, u)
		how := rapid.SliceOfN(rapid.SampledFrom([]string{"append", "append", "truncate", "rename"}), 0, 6).Draw(r, "user "+path)
		if rapid.IntRange(0, 2).Draw(r, "quiet "+path) == 0 {
			how = nil
		}
		writes.Add(int64(len(how)))
		group.Go(func() {
			<-start
			for i, h := range how {
				if err := u.write(root, h, fmt.Sprintf("user-%d-%d", n, i)); err != nil {
					r.Errorf("write %s: %v", u.path, err)
				}
			}
		})
	}
	close(start)
	changes, _, err := tree.Scan(r.Context(), tx.View)
	mustDo(r, err)
	res, err := tx.Apply(r.Context(), changes)
	group.Wait()
	mustDo(r, err)
	conflicts.Add(int64(len(res.Conflicts)))
	for _, u := range users {
		checkUser(r, root, u, changes, res)
	}
	return res.Own
}

func checkUser(r *rapid.T, root string, u *userWriter, changes []tree.Change, res tree.Result) {
	data, err := os.ReadFile(filepath.Join(root, u.path))
	if err != nil && !os.IsNotExist(err) {
		r.Fatal(err)
	}
	for _, word := range u.words {
		if !bytes.Contains(data, []byte(word+"\n")) && !inKept(r, u.path, data, word, res) {
			r.Fatalf("%s lost %q: it contains %q; %+v", u.path, word, data, res.Conflicts)
		}
	}
	if u.used {
		return
	}
	for _, c := range res.Conflicts {
		if c.Path == u.path {
			r.Fatalf("%s has a conflict with nobody: %s", u.path, c.Reason)
		}
	}
	for _, c := range changes {
		if c.Path == u.path && c.New.Type == tree.File && !c.SameContent && !strings.HasPrefix(string(data), "command") {
			r.Fatalf("%s contains %q", u.path, data)
		}
	}
}

// inKept reports whether the user appended a word to the file of the command, in the moment before the file of the user
// returned to its place: the word is then in the file that the conflict names.
func inKept(r *rapid.T, path string, data []byte, word string, res tree.Result) bool {
	for _, c := range res.Conflicts {
		if c.Path != path || c.Kept == "" || bytes.HasPrefix(data, []byte("command")) {
			continue
		}
		kept, err := os.ReadFile(c.Kept)
		mustDo(r, err)
		return bytes.HasPrefix(kept, []byte("command")) && bytes.Contains(kept, []byte(word+"\n"))
	}
	return false
}

// settle waits until the clock of the file system has moved on.
func settle(t interface {
	Helper()
	Fatal(...any)
}, dir string) {
	t.Helper()
	first, err := tree.Now(dir)
	for now := first; now == first && err == nil; {
		now, err = tree.Now(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
}
