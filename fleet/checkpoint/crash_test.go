package checkpoint

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/fleet/blob"
)

const childVar = "PAWL_TEST_CHECKPOINT"

// TestMain also runs the child process that the tests kill.
func TestMain(m *testing.M) {
	if os.Getenv(childVar) != "" {
		child(strings.Split(os.Getenv(childVar), " "))
		return
	}
	os.Exit(m.Run())
}

// step is a store that pauses before and during each operation until the parent process lets it continue.
type step struct{ blob.Store }

var answers = bufio.NewReader(os.Stdin)

func pause() {
	fmt.Println("step")
	_, _ = answers.ReadString('\n') // the end of the input is an answer too
}

func (s step) Put(ctx context.Context, key string, r io.Reader) error {
	pause()
	defer pause()
	return s.Store.Put(ctx, key, &slow{r})
}

func (s step) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	pause()
	r, err := s.Store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	return &slowCloser{slow{r}, r}, nil
}

// slow reads few bytes at a time, and pauses before each read.
type slow struct{ r io.Reader }

func (s *slow) Read(p []byte) (int, error) {
	pause()
	return s.r.Read(p[:min(len(p), 20_000)])
}

type slowCloser struct {
	slow
	io.Closer
}

// child is the child process. It saves or restores, step by step.
func child(args []string) {
	ctx := context.Background()
	blobs, err := blob.Open(ctx, "file://"+args[1]+"/blobs")
	if err != nil {
		panic(err)
	}
	dir := args[1] + "/a"
	k := &Store{Blobs: step{blobs}, Dir: dir + "/index"}
	roots := []Root{{"work", dir + "/work"}, {"undo", dir + "/undo"}}
	if args[0] == "save" {
		_, _, err = k.Save(ctx, key, roots, args[2])
	} else {
		err = k.Restore(ctx, key, args[2], roots)
	}
	if err != nil {
		panic(err)
	}
	fmt.Println("done")
}

// killAt runs a child process and kills it after the given number of steps. It reports whether the child process
// completed before that.
func killAt(t *testing.T, steps int, args ...string) (done bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+strings.Join(args, " "))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan() && lines.Text() == "step"; n++ {
		if n == steps {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
			return false
		}
		fmt.Fprintln(in)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return true
}

// TestKilled checks that checkpoints are complete and can be restored, at whatever step a host dies.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	blobs := openBlobs(t, dir)
	a, b := newHost(t.Context(), t, dir+"/a", blobs), newHost(t.Context(), t, dir+"/b", blobs)
	for i := range 10 {
		a.write(fmt.Sprintf("d/%d", i), strings.Repeat(fmt.Sprint(i), 5_000))
		a.write(fmt.Sprintf("e/%d", i), fmt.Sprint(i))
	}
	first, _ := a.save("")
	one := a.tree()
	a.must(os.RemoveAll(a.path("e")))
	for i := range 3 {
		data := make([]byte, 30_000)
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(data) // never fails
		a.write(fmt.Sprintf("new/%d", i), string(data))
	}
	two := a.tree()
	for n := 0; !killAt(t, n, "save", dir, first); n++ {
		if n > 200 {
			t.Fatal("it is never done")
		}
		b.restore(first)
		b.equals(one)
		second, _ := a.save(first)
		b.restore(second)
		b.equals(two)
		a.must(os.RemoveAll(a.k.Dir)) // so that the next child process starts from scratch
	}
	second, _ := a.save(first)
	ids, trees := []string{first, second}, []map[string]string{one, two}
	for n := 0; !killAt(t, n, "restore", dir, ids[n%2]); n++ {
		if n > 200 {
			t.Fatal("it is never done")
		}
		if _, err := os.Lstat(a.k.indexPath(key, a.roots) + ".partial"); err == nil {
			if _, _, err := a.k.Save(t.Context(), key, a.roots, ids[n%2]); !errors.Is(err, pawl.ErrConflict) {
				t.Errorf("a half-restored workspace was saved: %v", err)
			}
		}
		a.restore(ids[n%2])
		a.equals(trees[n%2])
		a.restore(ids[n%2])
	}
}

// TestStoreDown checks that a failure of the store, at whatever point, is an error without a checkpoint, and that a
// later attempt succeeds.
func TestStoreDown(t *testing.T) {
	t.Parallel()
	a, b := twoHosts(t)
	store := a.k.Blobs
	a.write("f", "one")
	first, _ := a.save("")
	a.write("f", strings.Repeat("two", 10))
	a.write("g", "three")
	manifests := func() int { return len(keys(t, store.List(t.Context(), key+"/manifests/"))) }
	failed := 0
	for puts := int64(0); ; puts += 20 {
		a.k.Blobs = &flaky{Store: store, puts: puts}
		id, _, err := a.k.Save(t.Context(), key, a.roots, first)
		if err == nil {
			first = id
			break
		}
		if failed++; !errors.Is(err, errDown) || id != "" || manifests() != 1 {
			t.Fatalf("%q, %v", id, err)
		}
	}
	b.k.Blobs = &flaky{Store: store}
	for gets := 0; ; gets++ {
		b.k.Blobs = &flaky{Store: store, gets: gets}
		err := b.k.Restore(t.Context(), key, first, b.roots)
		if err == nil {
			break
		}
		if failed++; !errors.Is(err, errDown) {
			t.Fatal(err)
		}
	}
	b.equals(a.tree())
	if failed < 6 {
		t.Errorf("it failed only %d times", failed)
	}
}

// TestDiskFull checks that a full disk, of the store or of the host, is an error, and that a later attempt with enough
// space succeeds.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Fatal("only root can mount a small disk: run it as root")
	}
	small := t.TempDir()
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=256k"); err != nil {
		t.Fatalf("a small disk cannot be mounted: %v", err)
	}
	defer unix.Unmount(small, unix.MNT_DETACH) //nolint:errcheck // the test's own
	dir := t.TempDir()
	data := make([]byte, 300_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails
	a := newHost(t.Context(), t, dir+"/a", openBlobs(t, small))
	a.write("f", string(data)+string(data))
	a.write("g", "x")
	if _, _, err := a.k.Save(t.Context(), key, a.roots, ""); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	if got := keys(t, a.k.Blobs.List(t.Context(), "")); got != nil {
		t.Error(got)
	}
	a.k.Blobs = openBlobs(t, dir)
	id, _ := a.save("")
	b := newHost(t.Context(), t, small+"/b", a.k.Blobs)
	if err := b.k.Restore(t.Context(), key, id, b.roots); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	if err := unix.Mount("", small, "", unix.MS_REMOUNT, "size=8m"); err != nil {
		t.Fatal(err)
	}
	b.restore(id)
	b.equals(a.tree())
}
