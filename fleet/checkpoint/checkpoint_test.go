package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/blob"
	"github.com/pawl-dev/pawl/fleet/blob/blobtest"
)

// names are file names, usual and unusual.
var names = []string{"a", "b.go", ".git", ".env", "node_modules", "Ü", "u\u0308", "a b", "new\nline", "%41", "\xff\xfe", "-rf", "*", strings.Repeat("n", 255), "\\", "\u2028"}

// makeAbove creates the directories above a path, one by one. It returns false if one of them is not a directory: the
// test must not follow the links that it creates.
func makeAbove(path string) bool {
	above := filepath.Dir(path)
	if above == "/" {
		return true
	}
	if !makeAbove(above) {
		return false
	}
	info, err := os.Lstat(above)
	if err != nil {
		return os.Mkdir(above, 0o755) == nil
	}
	return info.IsDir()
}

// change makes a random change to a tree.
func change(t *rapid.T, h *host) {
	var at []string
	for i := range rapid.IntRange(1, 3).Draw(t, "depth") {
		at = append(at, rapid.SampledFrom(names).Draw(t, fmt.Sprint("name", i)))
	}
	path := filepath.Join(h.roots[rapid.IntRange(0, 1).Draw(t, "root")].Path, filepath.Join(at...))
	mode := rapid.SampledFrom([]os.FileMode{0o644, 0o755, 0o400, 0o000, 0o666}).Draw(t, "mode")
	what := rapid.SampledFrom([]string{"write", "write", "write", "dir", "link", "hardlink", "remove", "chmod", "touch", "fifo", "big"}).Draw(t, "what")
	if !makeAbove(path) {
		return
	}
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() && what != "remove" {
		return // do not write, or set a time, through a link or a pipe
	}
	switch what {
	case "write", "big":
		text := rapid.SampledFrom([]string{"", "x", "y", "long\n"}).Draw(t, "text")
		if what == "big" {
			text = strings.Repeat(text+"0123456789", maxBuffered/10+1)
		}
		_ = os.WriteFile(path, []byte(text), mode)
	case "dir":
		_ = os.Mkdir(path, mode|0o700)
	case "link":
		_ = os.Symlink(rapid.SampledFrom([]string{"a", "/etc/passwd", "../..", "\xff"}).Draw(t, "target"), path)
	case "hardlink":
		_ = os.Link(h.path("a"), path)
	case "remove":
		_ = os.RemoveAll(path)
	case "chmod":
		_ = os.Chmod(path, mode)
	case "touch":
		_ = os.Chtimes(path, time.Time{}, time.Unix(rapid.Int64Range(0, 2e9).Draw(t, "time"), 5))
	case "fifo":
		_ = unix.Mkfifo(path, 0o644)
	}
}

// TestRoundTrip checks that a workspace that was changed on one of two hosts is restored exactly on the other, and that
// older checkpoints stay the same.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		top := fmt.Sprintf("%s/%d", dir, run)
		defer os.RemoveAll(top) //nolint:errcheck // the test's own directory
		blobs := openBlobs(rt, top)
		hosts := []*host{newHost(t.Context(), rt, top+"/a", blobs), newHost(t.Context(), rt, top+"/b", blobs)}
		from, trees := "", map[string]map[string]string{}
		for range rapid.IntRange(1, 5).Draw(rt, "saves") {
			for range rapid.IntRange(0, 8).Draw(rt, "changes") {
				change(rt, hosts[0])
			}
			id, _ := hosts[0].save(from)
			if again, stats := hosts[0].save(id); again != id || stats.Sent != 0 {
				rt.Fatalf("nothing has changed, and it is %s after %s, with %+v", again, id, stats)
			}
			trees[id], from = hosts[0].tree(), id
			if rapid.Bool().Draw(rt, "move") {
				hosts[0], hosts[1] = hosts[1], hosts[0]
				hosts[0].restore(id)
				hosts[0].equals(trees[id])
			}
		}
		for id, tree := range trees {
			hosts[1].restore(id)
			hosts[1].equals(tree)
		}
	})
}

// TestGit checks that a repository is restored with its index, its hooks and its ignored files.
func TestGit(t *testing.T) {
	t.Parallel()
	a, b := twoHosts(t)
	sh := func(h *host, script string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "-euc", script)
		cmd.Dir = h.path("")
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		return string(out)
	}
	sh(a, "git init -q; echo .env >.gitignore; echo secret >.env; echo 1 >f; git add .; git commit -qm one; echo 2 >f; git add f; echo 3 >f")
	id, _ := a.save("")
	b.restore(id)
	b.equals(a.tree())
	const look = "git fsck; git status --porcelain; git diff --cached; git diff; git log -p; cat .env"
	if want, got := sh(a, look), sh(b, look); got != want {
		t.Errorf("%s\nafter\n%s", got, want)
	}
	sh(b, "git commit -qm two")
	id, _ = b.save(id)
	a.restore(id)
	if got := sh(a, "git log --format=%s"); got != "two\none\n" {
		t.Error(got)
	}
}

// TestS3 checks checkpoints in S3, also with a pack of several parts.
func TestS3(t *testing.T) { //nolint:paralleltest // it sets environment variables
	blobs, err := blob.Open(t.Context(), blobtest.NewS3(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a, b := newHost(t.Context(), t, dir+"/a", blobs), newHost(t.Context(), t, dir+"/b", blobs)
	data := make([]byte, 20<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails
	a.write("large", string(data))
	a.write("small", "x")
	id, _ := a.save("")
	a.write("small", "y")
	id, stats := a.save(id)
	if stats.Sent > 2_000 {
		t.Errorf("%+v", stats)
	}
	b.restore(id)
	b.equals(a.tree())
	if err := a.k.Drop(t.Context(), key); err != nil || len(keys(t, blobs.List(t.Context(), ""))) > 0 {
		t.Error(err)
	}
}

// TestUnchangedFilesAreNotRead checks that only files that may have changed are read.
func TestUnchangedFilesAreNotRead(t *testing.T) {
	t.Parallel()
	a, b := twoHosts(t)
	for i := range 20 {
		a.write(fmt.Sprintf("d/%d", i), fmt.Sprint("text", i))
	}
	first, _ := a.save("")
	a.age()
	if id, _ := a.save(first); id != first { // reads the files that were too recent
		t.Errorf("%s is not %s", id, first)
	}
	if id, stats := a.save(first); id != first || stats.Read != 0 {
		t.Errorf("%+v", stats)
	}
	a.write("d/3", "TEXT3") // the same size
	second, stats := a.save(first)
	if second == first || stats.Read != 1 || stats.Files != 22 {
		t.Errorf("%+v", stats)
	}
	b.k.now = func() time.Time { return time.Now().Add(time.Second) }
	b.restore(second)
	if id, stats := b.save(second); id != second || stats.Read != 0 {
		t.Errorf("after a restore: %+v", stats)
	}
}

// age waits until the kernel's file clock has ticked often enough that all files are stable. It watches that clock,
// however slow the host is.
func (h *host) age() {
	h.Helper()
	start := time.Now()
	for time.Since(start) <= settleTime {
		h.must(os.WriteFile(filepath.Dir(h.path(""))+"/tick", nil, 0o600))
	}
}

// TestSettled checks that a file that was changed just before it was read is not stable: it can change again within the
// same clock tick.
func TestSettled(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_700_000_000, 7)
	for _, test := range []struct {
		age  time.Duration
		want bool
	}{
		{-time.Second, false}, {0, false}, {settleTime, false}, {settleTime + 1, true},
		{7, false}, {time.Second + 7, false}, {2*time.Second + 7, true}, // times in whole seconds
	} {
		if got := (stamp{CTime: at.Add(-test.age).UnixNano()}).stable(at); got != test.want {
			t.Errorf("%s: %v", test.age, got)
		}
	}
}

// TestLimits checks that a workspace over a limit is an error, and that nothing is stored.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		limits Limits
		says   string
	}{
		{Limits{MaxFiles: 3}, "more than 3 files"},
		{Limits{MaxBytes: 9}, "more than 9 bytes"},
		{Limits{MaxFiles: 4, MaxBytes: 10}, ""},
	} {
		a, _ := twoHosts(t)
		a.k.Limits = test.limits
		a.write("d/a", "12345")
		a.write("d/b", "54321")
		id, _, err := a.k.Save(t.Context(), key, a.roots, "")
		if test.says == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		var limit *LimitError
		if id != "" || !errors.As(err, &limit) || !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "delete build output") {
			t.Errorf("%q, %v", id, err)
		}
		if got := keys(t, a.k.Blobs.List(t.Context(), "")); got != nil {
			t.Error(got)
		}
	}
	a, _ := twoHosts(t)
	a.write(strings.Repeat("d/", maxDepth+1)+"f", "x")
	if _, _, err := a.k.Save(t.Context(), key, a.roots, ""); !errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), "nested directories") {
		t.Error(err)
	}
}

// TestArguments checks that invalid keys and roots are rejected.
func TestArguments(t *testing.T) {
	t.Parallel()
	a, _ := twoHosts(t)
	work := a.roots[0].Path
	for _, key := range []string{"", "..", "a/../b", "/a", "a/", "a b", "a/.b", "a/packs", "a/manifests/b", "a/b/c/d/e"} {
		_, _, err := a.k.Save(t.Context(), key, a.roots, "")
		for _, err := range []error{err, a.k.Prune(t.Context(), key), a.k.Drop(t.Context(), key)} {
			if !errors.Is(err, pawl.ErrInvalid) {
				t.Errorf("%q: %v", key, err)
			}
		}
	}
	for _, roots := range [][]Root{nil, {{"a/b", work}}, {{"", work}}, {{"a", "rel"}}, {{"a", "/"}}, {{"a", work}, {"a", work + "2"}}, {{"a", work}, {"b", work + "/sub"}}, {{"a", a.k.Dir}}, {{"a", work + "/../work"}}} {
		if _, _, err := a.k.Save(t.Context(), key, roots, ""); !errors.Is(err, pawl.ErrInvalid) {
			t.Errorf("%v: %v", roots, err)
		}
	}
	if _, _, err := a.k.Save(t.Context(), key, []Root{{"a", work + "-gone"}}, ""); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := a.k.Restore(t.Context(), key, "../x", a.roots); !errors.Is(err, pawl.ErrInvalid) {
		t.Error(err)
	}
	if err := a.k.Restore(t.Context(), key, strings.Repeat("0", 64), a.roots); !errors.Is(err, pawl.ErrNotFound) {
		t.Error(err)
	}
	id, _ := a.save("")
	if err := a.k.Restore(t.Context(), key, id, a.roots[1:]); !errors.Is(err, pawl.ErrInvalid) {
		t.Error(err)
	}
}

// TestLeftOut checks that sockets and pipes are counted but never read.
func TestLeftOut(t *testing.T) { //nolint:paralleltest // it changes the working directory
	a, b := twoHosts(t)
	a.write("f", "x")
	a.must(unix.Mkfifo(a.path("pipe"), 0o644))
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	a.must(err)
	defer unix.Close(fd) //nolint:errcheck // a socket of the test
	t.Chdir(a.path(""))
	a.must(unix.Bind(fd, &unix.SockaddrUnix{Name: "socket"}))
	a.must(os.Chmod(a.path("f"), 0o755|os.ModeSetuid|os.ModeSetgid))
	id, stats := a.save("")
	if stats.LeftOut != 2 || stats.Files != 2 {
		t.Errorf("%+v", stats)
	}
	b.restore(id)
	if info, err := os.Lstat(b.path("f")); err != nil || info.Mode() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestIgnoreEmptyDir checks that ignored directories are left out while they are empty, and that removing them is no
// change.
func TestIgnoreEmptyDir(t *testing.T) {
	t.Parallel()
	a, b := twoHosts(t)
	a.k.IgnoreEmptyDir = func(mode fs.FileMode) bool { return mode == fs.ModeDir|fs.ModeSticky|0o500 }
	a.write("own/x", "x")
	first, _ := a.save("")
	for _, name := range []string{".git", "own/.bashrc", "full"} {
		a.must(errors.Join(os.Mkdir(a.path(name), 0o700), os.Chmod(a.path(name), fs.ModeSticky|0o500)))
	}
	a.must(os.Mkdir(a.path("empty"), 0o500))
	a.write("full/x", "x")
	second, _ := a.save(first)
	b.restore(second)
	for name, want := range map[string]bool{".git": false, "own/.bashrc": false, "own/x": true, "full/x": true, "empty": true} {
		if _, err := os.Lstat(b.path(name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	a.must(os.Remove(a.path(".git")))
	if third, _ := a.save(second); third != second {
		t.Error("that a folder went which is not kept is a change")
	}
}

// TestTwoSaveAtOnce checks that two hosts that save at once get separate checkpoints.
func TestTwoSaveAtOnce(t *testing.T) {
	t.Parallel()
	a, b := twoHosts(t)
	a.write("f", "x")
	first, _ := a.save("")
	b.restore(first)
	a.write("f", "of a")
	b.write("f", "of b")
	reserved, _ := a.save(first)
	theirs, _ := b.save(first)
	want := b.tree()
	if reserved == theirs {
		t.Fatal(reserved)
	}
	b.restore(reserved)
	b.equals(a.tree())
	a.restore(theirs)
	a.equals(want)
}

// TestChain checks that a checkpoint consists of few blobs however often a workspace is saved, and that pruning deletes
// the others.
func TestChain(t *testing.T) {
	t.Parallel()
	a, b := twoHosts(t)
	for i := range 30 {
		a.write(fmt.Sprintf("d/%d", i), strings.Repeat("x", 100*i))
	}
	id, early := "", ""
	for i := range 3 * maxPacks {
		a.write(fmt.Sprintf("new/%d", i), fmt.Sprint("new", i))
		a.write("d/3", fmt.Sprint("changed", i))
		id, _ = a.save(id)
		if i == 10 {
			early = id
			b.restore(early)
		}
		s, chain, err := a.k.load(t.Context(), key, id)
		if err != nil || len(s.Packs) > maxPacks || len(chain) > maxChain {
			t.Fatalf("%d packs, %d manifests, %v", len(s.Packs), len(chain), err)
		}
	}
	want := b.tree()
	before := len(keys(t, a.k.Blobs.List(t.Context(), key+"/")))
	a.must(a.k.Prune(t.Context(), key, id)) // within the grace period
	if got := len(keys(t, a.k.Blobs.List(t.Context(), key+"/"))); got != before {
		t.Errorf("%d of %d blobs are left", got, before)
	}
	a.k.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	a.must(a.k.Prune(t.Context(), key, early, id))
	if got := len(keys(t, a.k.Blobs.List(t.Context(), key+"/"))); got > before/2 {
		t.Errorf("%d of %d blobs are left", got, before)
	}
	b.restore(id)
	b.equals(a.tree())
	b.restore(early)
	b.equals(want)
	a.must(a.k.Prune(t.Context(), key, id))
	if err := b.k.Restore(t.Context(), key, early, b.roots); !errors.Is(err, pawl.ErrNotFound) {
		t.Error(err)
	}
	b.restore(id)
	b.equals(a.tree())
	if err := a.k.Prune(t.Context(), key, early); !errors.Is(err, pawl.ErrNotFound) {
		t.Errorf("one that is to be kept is gone: %v", err)
	}
	b.restore(id)
}

// TestGarbage checks that unused contents do not accumulate.
func TestGarbage(t *testing.T) {
	t.Parallel()
	a, _ := twoHosts(t)
	random := rand.NewChaCha8([32]byte{})
	id := ""
	for i := range 40 { // each pack has some content that stays in use, and much that does not
		data := make([]byte, 10_000)
		_, _ = random.Read(data) // never fails
		a.write("often", string(data))
		a.write(fmt.Sprint("once/", i), fmt.Sprint("text", i))
		id, _ = a.save(id)
	}
	s, _, err := a.k.load(t.Context(), key, id)
	a.must(err)
	total := int64(0)
	for _, size := range s.Packs {
		total += size
	}
	if total > 25_000 {
		t.Errorf("%d bytes are kept of about 10,250", total)
	}
}

// TestWritten checks that a file that changes while it is read is saved as it was read.
func TestWritten(t *testing.T) {
	t.Parallel()
	a, b := twoHosts(t)
	for _, name := range []string{"small", "large"} {
		size := map[string]int{"small": 1_000, "large": 3 * maxBuffered}[name]
		a.write(name, strings.Repeat("x", size))
	}
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		var err error
		for i := 0; err == nil; i++ {
			for _, name := range []string{"small", "large"} {
				err = errors.Join(err, os.Truncate(a.path(name), int64(i%3000)))
				err = errors.Join(err, os.WriteFile(a.path(name), []byte(strings.Repeat(fmt.Sprint(i%10), 1_000*(i%4000))), 0o644))
			}
			select {
			case <-stop:
				done <- err
				return
			default:
			}
		}
		done <- err
	}()
	id := ""
	for range 20 {
		id, _ = a.save(id)
		b.restore(id) // checks every hash
	}
	close(stop)
	a.must(<-done)
	id, _ = a.save(id)
	b.restore(id)
	b.equals(a.tree())
}

// TestCancel checks that a canceled save stores nothing.
func TestCancel(t *testing.T) {
	t.Parallel()
	a, _ := twoHosts(t)
	a.write("f", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := a.k.Save(ctx, key, a.roots, ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := keys(t, a.k.Blobs.List(t.Context(), "")); got != nil {
		t.Error(got)
	}
}
